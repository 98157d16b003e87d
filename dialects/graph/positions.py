"""The operator that finds the indices at which truth values hold, and counts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.algebra.predicate import at_least
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.loop import PARALLEL_WORK, Kind
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor
from tilework.dialects.te.builder_statements import Buffer, allocate, index_of, number_of, when
from tilework.dialects.te.row_blocks import BLOCKS, RowBlocks


@irdl_op_definition
class PositionsOp(GraphOp):
    """The indices of the elements that hold, in order, at the front of the result, zeros behind; how many there are.

    %positions, %count = graph.positions %mask : (tensor<8xi1>) -> (tensor<8xi64>, tensor<i64>)

    `graph.size` makes a size of the second result, with which a section takes what is at the front of the first one.
    """

    name = "graph.positions"
    CATEGORY: ClassVar[Category] = Category.OPAQUE
    mask = operand_def(TensorType)
    positions = result_def(TensorType)
    count = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if len(self.dims(0)) != 1 or self.dtype() != i1:
            raise VerifyException(f"it takes a vector of truth values, not {self.operand_type(0)}")
        return [tensor_type(self.dims(0), i64), tensor_type([], i64)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Sequence[Tensor]:
        """Blocks of the mask are counted, which tells where the indices of each go, and then all write theirs."""
        [mask] = inputs

        def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
            types, size = (i1, i64, i64), here(mask.dims[0])
            source, positions, count = (Buffer(k, b, dtype) for b, dtype in zip(buffers, types, strict=True))
            found = _Found(k, source, positions, RowBlocks(size))
            found.count()
            found.write()
            total = found.total
            end = index_of(k, total)

            def clear(i: Expr) -> None:
                positions.store(end + i, 0)

            k.for_each([size - end], clear, Kind.PARALLEL, [at_least(size - end, PARALLEL_WORK)])
            count.store([], total)

        return k.extern("positions", inputs, self.infer(), write)

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        [mask] = inputs
        found = np.flatnonzero(mask)
        return [np.pad(found, (0, len(mask) - len(found))).astype(np.int64), np.array(len(found), np.int64)]


class _Found:
    """The indices of elements that hold while the statements are written that find them.

    The indices of block b go from `begins[b]` on, up to `begins[b + 1]`.
    """

    def __init__(self, k: KernelBuilder, mask: Buffer, positions: Buffer, blocks: RowBlocks):
        self.k, self.mask, self.positions, self.blocks = k, mask, positions, blocks
        self.begins = allocate(k, i64, BLOCKS + 1)

    @property
    def total(self) -> Scalar:
        """How many elements hold."""
        return self.begins[self.blocks.count]

    def count(self) -> None:
        """Count the elements of each block that hold, and add up the counts."""
        k, begins = self.k, self.begins

        def block(b: Expr, begin: Expr, length: Expr) -> None:
            count = allocate(k, i64)
            count.store(0, 0)

            def each(i: Expr) -> None:
                count.store(0, count[0] + self._holds(begin + i))

            k.for_each([length], each)
            begins.store(b + 1, count[0])

        def add(b: Expr) -> None:
            begins.store(b + 1, begins[b + 1] + begins[b])

        begins.store(0, 0)
        self.blocks.for_each(k, block)
        k.for_each([self.blocks.count], add)

    def write(self) -> None:
        """Write every index where the next one that holds belongs, where it stays if it is that one.

        Behind the last one that holds, that would be where another block begins.
        """
        k = self.k

        def block(b: Expr, begin: Expr, length: Expr) -> None:
            at, end = allocate(k, i64), self.begins[b + 1]
            at.store(0, self.begins[b])

            def enter(i: Expr) -> None:
                with when(k, at[0].compare("lt", end)):
                    self.positions.store(index_of(k, at[0]), number_of(k, begin + i))
                    at.store(0, at[0] + self._holds(begin + i))

            k.for_each([length], enter)

        self.blocks.for_each(k, block)

    def _holds(self, i: Expr) -> Scalar:
        """1 for an element that holds, else 0."""
        return self.k.cast(self.mask[i], i64)
