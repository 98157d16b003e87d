"""Where along an axis the largest or the smallest element is."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph.base import Array, Category, GraphOp, normalize_axis
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor


class ArgumentOp(GraphOp, ABC):
    """The index of an element along `axis`, which disappears or, with `keep_dims`, stays as 1.

    Of several such elements it is that of the first, with `last` that of the last one. NaN wins over every number.
    Of an axis that turns out to be empty when it runs it is no index: -1 with `last`, else the largest i64.

    %y = graph.arg_max %x {axis = 1 : i64, keep_dims = false, last = false} : (tensor<2x9xf32>) -> tensor<2xi64>
    """

    CATEGORY: ClassVar[Category] = Category.OPAQUE
    KIND: ClassVar[str]
    """The reducer that finds the element, as te names it."""
    NUMPY: ClassVar[Callable[..., Any]]
    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    keep_dims = prop_def(BoolAttr)
    last = prop_def(BoolAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_numbers()
        x, axis = self.dims(0), self.axis.value.data
        if axis < 0 or normalize_axis(axis, len(x)) != axis:
            raise VerifyException(f"the axis is counted from the front, it is not {axis}")
        if x[axis] == 0:
            raise VerifyException(f"axis {axis} of {self.operand_type(0)} has no element to find")
        return [tensor_type(self._kept(x), i64)]

    def _kept(self, dims: Sequence[Expr]) -> tuple[Expr, ...]:
        axis = self.axis.value.data
        return (*dims[:axis], *([const(1)] if self.keep_dims.value.data else []), *dims[axis + 1 :])

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        """The extremum of a row first, then the least (or the greatest) index at which it is."""
        [x] = inputs
        axis, keep, last = self.axis.value.data, bool(self.keep_dims.value.data), bool(self.last.value.data)
        dims, extents = self._kept(x.dims), (x.dims[axis],)
        nowhere = -1 if last else np.iinfo(np.int64).max

        def along(i: Sequence[Expr], r: Expr) -> Scalar:
            return x[(*i[:axis], r, *i[axis + keep :])]

        def furthest(*i: Expr) -> Reduction:
            def element(r: Expr) -> Scalar:
                return along(i, r)

            return Reduction(self.KIND, extents, element)

        extremum = k.compute("extremum", dims, furthest)

        def place(*i: Expr) -> Reduction:
            def index(r: Expr) -> Scalar:
                return k.select(is_extremum(along(i, r), extremum[i]), k.index(r, i64), nowhere)

            return Reduction("max" if last else "min", extents, index)

        return k.compute(self.label, dims, place)

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        axis, keep = self.axis.value.data, bool(self.keep_dims.value.data)
        if not self.last.value.data:
            return type(self).NUMPY(x, axis=axis, keepdims=keep)
        return np.asarray(x.shape[axis] - 1 - type(self).NUMPY(np.flip(x, axis), axis=axis, keepdims=keep))


def is_extremum(element: Scalar, extremum: Scalar) -> Scalar:
    """Whether an element is an extremum of those that it is among: where that is NaN, which equals nothing, whether the
    element is NaN too."""
    equal = element.compare("eq", extremum)
    return equal if element.is_integer else equal | element.compare("ne", element)


@irdl_op_definition
class ArgMaxOp(ArgumentOp):
    """The index of the largest element."""

    name = "graph.arg_max"
    KIND: ClassVar = "max"
    NUMPY: ClassVar = np.argmax


@irdl_op_definition
class ArgMinOp(ArgumentOp):
    """The index of the smallest element."""

    name = "graph.arg_min"
    KIND: ClassVar = "min"
    NUMPY: ClassVar = np.argmin
