"""Operators with sizes that no data tell: numbers that are counted, and a section of an axis.

Their last operands, `sizes`, are tensors in whose dimensions the symbols occur; the elements of these are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.dialects.graph.base import Array, Category, GraphOp, normalize_axis
from tilework.dialects.index_attr import DimsAttr
from tilework.dialects.shapes import tensor_type
from tilework.dialects.te_builder import KernelBuilder, Scalar, Tensor


@irdl_op_definition
class RangeOp(GraphOp):
    """`count` numbers: first, first + step, ...

    %y = graph.range %x {first = #graph.dims<[0]>, count = #graph.dims<[N]>, step = 1 : i64}
        : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?xi64, #graph.dims<[N]>>
    """

    name = "graph.range"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    sizes = var_operand_def(TensorType)
    first = prop_def(DimsAttr)
    count = prop_def(DimsAttr)
    step = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        _require_single(self, "first", self.first)
        _require_single(self, "count", self.count)
        self.require_told([*self.first, *self.count])
        return [tensor_type(self.count.data, i64)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [first], step = self.first.data, self.step.value.data

        def number(i: Expr) -> Scalar:
            return k.index(first + step * i, i64)

        return k.compute("range", self.count.data, number)

    def evaluate(self, *inputs: Array) -> Array:
        first, count = self.told([*self.first, *self.count], inputs)
        return first + self.step.value.data * np.arange(count, dtype=np.int64)


@irdl_op_definition
class SectionOp(GraphOp):
    """`size` elements along an axis, from `start` on. They have to lie in the input when the program runs.

    With `whole` they have to be all of them: what is known of the size of the axis, besides how it was computed.

    %y = graph.section %table, %x {axis = 0 : i64, start = #graph.dims<[0]>, size = #graph.dims<[N]>}
        : (tensor<512x8xf32>, tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x8xf32, #graph.dims<[N, 8]>>
    """

    name = "graph.section"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    sizes = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    start = prop_def(DimsAttr)
    size = prop_def(DimsAttr)
    whole = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def left(self) -> Expr:
        """How many elements there are behind the section."""
        return self.dims(0)[self.axis.value.data] - self.start.data[0] - self.size.data[0]

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, axis = self.dims(0), self.axis.value.data
        if axis < 0 or normalize_axis(axis, len(x)) != axis:
            raise VerifyException(f"the axis is counted from the front, it is not {axis}")
        _require_single(self, "start", self.start)
        _require_single(self, "size", self.size)
        self.require_told([*self.start, *self.size])
        [start], [size] = self.start.data, self.size.data
        least = (start, size, self.left, *([] if self.whole is None else [-self.left]))
        if any(e.constant is not None and e.constant < 0 for e in least):
            raise VerifyException(f"{size} elements from {start} on do not lie in axis {axis} of size {x[axis]}")
        return [tensor_type((*x[:axis], size, *x[axis + 1 :]), self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, axis, [start], [size] = inputs[0], self.axis.value.data, self.start.data, self.size.data
        dims = (*x.dims[:axis], size, *x.dims[axis + 1 :])
        return k.compute("section", dims, lambda *i: x[(*i[:axis], i[axis] + start, *i[axis + 1 :])])

    def evaluate(self, *inputs: Array) -> Array:
        start, size = self.told([*self.start, *self.size], inputs)
        return inputs[0].take(np.arange(start, start + size), axis=self.axis.value.data)


def _require_single(op: GraphOp, name: str, dims: DimsAttr) -> None:
    if len(dims.data) != 1:
        raise VerifyException(f"{op.name} has one {name}, not {len(dims.data)}")
