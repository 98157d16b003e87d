"""How a te kernel makes running totals along the last axis: sums or products of all elements up to each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from tilework.algebra.index_expr import Expr, const, product
from tilework.algebra.predicate import at_least
from tilework.dialects.loop import PARALLEL_WORK, Kind
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor
from tilework.dialects.te.builder_statements import Buffer, allocate, when
from tilework.dialects.te.row_blocks import BLOCKS, RowBlocks

NEUTRAL = {"+": 0, "*": 1}
"""What changes nothing, for each operator that joins."""


@dataclass(frozen=True)
class Totals:
    """How running totals are made: what joins elements to `start`, "+" or "*", and in which type.

    They are without the element itself where `exclusive`, and begin at the end of a row where `reverse`.
    """

    join: str
    wide: Attribute
    start: int
    exclusive: bool = False
    reverse: bool = False


def running_totals(k: KernelBuilder, x: Tensor, how: Totals, dtype: Attribute) -> Tensor:
    """The totals of all elements [..., count] up to each along the last axis, as numbers of type `dtype` [..., count].

    Of integers, parts of a row are joined apart from each other, by several threads. Floats are joined one by one, as
    they would be rounded in another way otherwise.
    """
    *around, extent = x.dims

    def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
        source, result = (Buffer(k, buffer, t) for buffer, t in zip(buffers, (x.dtype, dtype), strict=True))

        def row(*index: Expr) -> None:
            made = _Row(k, how, source, result, index, here(extent))
            if isinstance(how.wide, IntegerType):
                made.write_in_blocks()
            else:
                made.write_one_by_one()

        is_worth_it = at_least(here(product(x.dims)), PARALLEL_WORK)
        k.for_each([here(d) for d in around], row, Kind.PARALLEL, [is_worth_it])

    [result] = k.extern("running_totals", [x], [tensor_type(x.dims, dtype)], write)
    return result


@dataclass(frozen=True)
class _Row:
    """A row of running totals while its statements are written."""

    k: KernelBuilder
    how: Totals
    source: Buffer
    result: Buffer
    row: Sequence[Expr]
    extent: Expr

    def write_one_by_one(self) -> None:
        """Join each element to the total of all before."""
        self._write(const(0), self.extent, self.k.constant(self.how.start, self.how.wide))

    def write_in_blocks(self) -> None:
        """Find the total of each block, then that of all blocks before it, and go on from there."""
        k, blocks, totals = self.k, RowBlocks(self.extent), allocate(self.k, self.how.wide, BLOCKS)
        before = allocate(k, self.how.wide)

        def find(b: Expr, begin: Expr, length: Expr) -> None:
            total = allocate(k, self.how.wide)
            total.store(0, NEUTRAL[self.how.join])

            def join(i: Expr) -> None:
                total.store(0, self._joined(total[0], begin + i))

            k.for_each([length], join)
            totals.store(b, total[0])

        def add(b: Expr) -> None:
            own = totals[b]
            totals.store(b, before[0])
            before.store(0, before[0].binary(self.how.join, own))

        before.store(0, self.how.start)
        totals.store(0, NEUTRAL[self.how.join])  # of an only block the total is not asked for
        with when(k, at_least(blocks.count, 2)):
            blocks.for_each(k, find)
        k.for_each([blocks.count], add)
        blocks.for_each(k, lambda b, begin, length: self._write(begin, length, totals[b]))

    def _write(self, begin: Expr, length: Expr, start: Scalar) -> None:
        """Write the totals of so many elements, given that of all before."""
        total = allocate(self.k, self.how.wide)
        total.store(0, start)

        def step(i: Expr) -> None:
            before = total[0]
            behind = self._joined(before, begin + i)
            total.store(0, behind)
            stored = before if self.how.exclusive else behind
            self.result.store(self._at(begin + i), self.k.cast(stored, self.result.dtype))

        self.k.for_each([length], step)

    def _joined(self, total: Scalar, i: Expr) -> Scalar:
        return total.binary(self.how.join, self.k.cast(self.source[self._at(i)], self.how.wide))

    def _at(self, i: Expr) -> Sequence[Expr]:
        return [*self.row, self.extent - 1 - i if self.how.reverse else i]
