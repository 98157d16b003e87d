"""Elements that other data choose: rows of a table by their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, product
from tilework.algebra.predicate import at_least, equal
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import Array, Category, GraphOp, normalize_axis
from tilework.dialects.graph.scan import ScanOp
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor

INDICES = 1
"""The operand that says which elements."""

INDEX_TYPES = (IntegerType(32), IntegerType(64))


@irdl_op_definition
class GatherOp(GraphOp):
    """The elements of the input along `axis` that `indices` name; the axis becomes the axes of `indices`.

    A negative index counts from the end. One that is out of range is taken for the first or the last.

    %y = graph.gather %table, %words {axis = 0 : i64} : (tensor<9x4xf32>, tensor<2x5xi64>) -> tensor<2x5x4xf32>
    """

    name = "graph.gather"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, axis = self.dims(0), self.axis.value.data
        if axis < 0 or normalize_axis(axis, len(x)) != axis:
            raise VerifyException(f"the axis is counted from the front, it is not {axis}")
        if self.dtype(1) not in INDEX_TYPES:
            raise VerifyException(f"indices are of type {' or '.join(map(str, INDEX_TYPES))}, not {self.dtype(1)}")
        if x[axis] == 0:
            raise VerifyException(f"axis {axis} of {self.operand_type(0)} has no element to take")
        return [tensor_type((*x[:axis], *self.dims(1), *x[axis + 1 :]), self.dtype())]

    def category_of(self, operand: int) -> Category:
        """Numbers are read again for each element that they name: to compute them there would be no gain."""
        return Category.OPAQUE if operand == INDICES else self.category

    def requirements(self) -> Iterable[Requirement]:
        size = self.dims(0)[self.axis.value.data]
        text = f"{self.title} has nothing to take elements of: dimension {self.axis.value.data} of its input is {size}"
        yield Requirement((at_least(size, 1), equal(self._taken(), 0)), text)

    def _taken(self) -> Expr:
        """How many elements it takes, in all steps of scans around it."""
        around, count = self.parent_op(), product(self.dims(INDICES))
        while around is not None:
            count = count * around.steps if isinstance(around, ScanOp) else count
            around = around.parent_op()
        return count

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, indices = inputs
        axis, rank = self.axis.value.data, len(indices.dims)

        def element(*i: Expr) -> Scalar:
            taken = self._in_range(k, indices[i[axis : axis + rank]], x.dims[axis])
            return x[(*i[:axis], taken, *i[axis + rank :])]

        return k.compute("gather", (*x.dims[:axis], *indices.dims, *x.dims[axis + 1 :]), element)

    def _in_range(self, k: KernelBuilder, index: Scalar, extent: Expr) -> Scalar:
        size = k.index(extent, index.dtype)
        from_front = k.select(index.compare("lt", 0), index + size, index)
        return k.max(k.min(from_front, size - 1), 0)

    def evaluate(self, *inputs: Array) -> Array:
        x, indices = inputs
        extent = x.shape[self.axis.value.data]
        from_front = np.where(indices < 0, indices + extent, indices)
        return x.take(from_front, axis=self.axis.value.data, mode="clip")
