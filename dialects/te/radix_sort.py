"""How statements put a row in order: digit by digit of keys whose order is that of the elements, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, bf16, f16, f32, f64, i64
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr, const
from tilework.dialects import arith
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.dialects.te.builder_statements import Buffer, allocate, index_of, number_of, when
from tilework.dialects.te.row_blocks import BLOCKS, RowBlocks

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS

INFINITY: Mapping[Attribute, int] = {f16: 0x7C00, bf16: 0x7F80, f32: 0x7F80_0000, f64: 0x7FF0_0000_0000_0000}
"""The bits of infinity. Those of NaN, without the sign, are greater ones."""


def has_keys(dtype: Attribute) -> bool:
    """Whether elements of a type have keys."""
    return dtype in INFINITY or (isa(dtype, IntegerType) and dtype.width.data % DIGIT_BITS == 0)


def key_type(dtype: Attribute) -> IntegerType:
    """The type of the keys of a type's elements: unsigned, of as many bits."""
    width = dtype.bitwidth if isinstance(dtype, AnyFloat | IntegerType) else 0
    return IntegerType(width, Signedness.UNSIGNED)


def key_of(k: KernelBuilder, x: Scalar, *, descending: bool) -> Scalar:
    """The number without a sign whose order among its like is that of the elements, or the reverse if `descending`.

    Zeros of either sign have the same key, and so has every NaN, which is larger than every number.
    """
    type_ = key_type(x.dtype)
    sign = 1 << (type_.bitwidth - 1)
    signed = x if x.is_integer else _signed(k, x, IntegerType(type_.bitwidth))
    key = signed if x.unsigned else signed ^ sign
    return Scalar((~key if descending else key).value, k, unsigned=True)


def _signed(k: KernelBuilder, x: Scalar, type_: IntegerType) -> Scalar:
    """A float's sign and magnitude as a signed integer."""
    largest = (1 << (type_.bitwidth - 1)) - 1
    bits = k.insert(arith.BitcastOp(x.value, type_))
    magnitude = bits & largest
    number = k.select(bits.compare("lt", 0), -magnitude, magnitude)
    return k.select(magnitude.compare("gt", INFINITY[x.dtype]), k.constant(largest, type_), number)


@dataclass(frozen=True)
class Records:
    """Keys along the last axis of a buffer, and in another one where in the row the elements with these keys are."""

    keys: Buffer
    places: Buffer
    row: Sequence[Expr]

    def key(self, at: Expr) -> Scalar:
        """The key of a record."""
        return self.keys[[*self.row, at]]

    def place(self, at: Expr) -> Scalar:
        """The place in the row of the element that a record is of."""
        return self.places[[*self.row, at]]

    def put(self, at: Scalar, key: Scalar, place: Scalar) -> None:
        """Replace a record."""
        index = [*self.row, index_of(self.keys.k, at)]
        self.keys.store(index, key)
        self.places.store(index, place)


@dataclass(frozen=True)
class Unsorted:
    """The elements of a row before there are records of them: `key(i)` is that of the element at place `i`."""

    k: KernelBuilder
    key: Callable[[Expr], Scalar]

    def place(self, at: Expr) -> Scalar:
        """The place in the row of the element at `at`, which is that number."""
        return number_of(self.k, at)


class RadixSort:
    """A row while the statements that sort it are written, given buffers for two records of each element.

    One pass for each digit, from the last digit to the first, moves all records from one buffer to the other, and those
    with equal digits stay in order. Each block of the row counts its digits; these counts tell where its records go, so
    that blocks move theirs at the same time.
    """

    def __init__(self, k: KernelBuilder, key: IntegerType, records: tuple[Records, Records]):
        """key: the type of the keys."""
        self.k, self.width, self.records = k, key.bitwidth, records
        self.counts = allocate(k, i64, BLOCKS * DIGITS)
        self.total = allocate(k, i64)

    def sort(self, elements: Unsorted, extent: Expr, count: Expr) -> Records:
        """Sort the first ones of so many elements, `count` of them at least; returns where their records are."""
        if count == extent:
            return self._sort(elements, extent, *self.records)
        size = self._choose(elements, RowBlocks(extent), count)
        return self._sort(self.records[0], size, *reversed(self.records))

    def _sort(self, source: Unsorted | Records, extent: Expr, to: Records, other: Records) -> Records:
        blocks = RowBlocks(extent)
        for shift in range(0, self.width, DIGIT_BITS):
            self._count(source, blocks, shift)
            self._add(blocks)
            self._move(source, blocks, shift, to)
            source, to, other = to, other, to
        return other

    def _count(self, source: Unsorted | Records, blocks: RowBlocks, shift: int) -> None:
        """Count how often each block has each digit."""
        k, counts = self.k, self.counts

        def block(b: Expr, begin: Expr, length: Expr) -> None:
            def count(i: Expr) -> None:
                at = b * DIGITS + index_of(k, self._digit(source.key(begin + i), shift))
                counts.store(at, counts[at] + 1)

            def clear(digit: Expr) -> None:
                counts.store(b * DIGITS + digit, 0)

            k.for_each([const(DIGITS)], clear)
            k.for_each([length], count)

        blocks.for_each(k, block)

    def _add(self, blocks: RowBlocks) -> None:
        """Replace each count by where the first of the records that it counts goes."""
        counts, total = self.counts, self.total

        def add(digit: Expr, b: Expr) -> None:
            own = counts[b * DIGITS + digit]
            counts.store(b * DIGITS + digit, total[0])
            total.store(0, total[0] + own)

        total.store(0, 0)
        self.k.for_each([const(DIGITS), blocks.count], add)

    def _move(self, source: Unsorted | Records, blocks: RowBlocks, shift: int, to: Records) -> None:
        """Put each record where the next one with its digit goes."""
        k, counts = self.k, self.counts

        def block(b: Expr, begin: Expr, length: Expr) -> None:
            def move(i: Expr) -> None:
                key = source.key(begin + i)
                at = b * DIGITS + index_of(k, self._digit(key, shift))
                end = counts[at]
                to.put(end, key, source.place(begin + i))
                counts.store(at, end + 1)

            k.for_each([length], move)

        blocks.for_each(k, block)

    def _choose(self, elements: Unsorted, blocks: RowBlocks, count: Expr) -> Expr:
        """Make records of the elements with the least first digits, of `count` elements or more; returns how many."""
        k, shift, ends = self.k, self.width - DIGIT_BITS, allocate(self.k, i64, BLOCKS)
        self._count(elements, blocks, shift)
        last = self._last_digit(blocks, count)
        self._begin(blocks, last, ends)

        def block(b: Expr, begin: Expr, length: Expr) -> None:
            def take(i: Expr) -> None:
                key = elements.key(begin + i)
                with when(k, self._digit(key, shift).compare("le", last)):
                    self.records[0].put(ends[b], key, elements.place(begin + i))
                    ends.store(b, ends[b] + 1)

            k.for_each([length], take)

        blocks.for_each(k, block)
        return index_of(k, self.total[0])

    def _last_digit(self, blocks: RowBlocks, count: Expr) -> Scalar:
        """The least digit such that `count` elements, or more, have no greater one."""
        k, counts, total, last = self.k, self.counts, self.total, allocate(self.k, i64)

        def look(digit: Expr) -> None:
            def add(b: Expr) -> None:
                total.store(0, total[0] + counts[b * DIGITS + digit])

            with when(k, total[0].compare("lt", number_of(k, count))):
                last.store(0, number_of(k, digit))
                k.for_each([blocks.count], add)

        total.store(0, 0)
        last.store(0, 0)
        k.for_each([const(DIGITS)], look)
        return last[0]

    def _begin(self, blocks: RowBlocks, last: Scalar, ends: Buffer) -> None:
        """Tell each block where its first record with a digit up to the last one goes; the total is of all records."""
        k, counts, total = self.k, self.counts, self.total

        def begin(b: Expr) -> None:
            def add(digit: Expr) -> None:
                total.store(0, total[0] + counts[b * DIGITS + digit])

            ends.store(b, total[0])
            k.for_each([index_of(k, last) + 1], add)

        total.store(0, 0)
        k.for_each([blocks.count], begin)

    def _digit(self, key: Scalar, shift: int) -> Scalar:
        return self.k.cast(key >> shift, i64) & (DIGITS - 1)
