"""How statements put a row in order: digit by digit of keys whose order is that of the elements, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, bf16, f16, f32, f64, i64
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr, ceildiv, const, maximum, minimum
from tilework.dialects import arith
from tilework.dialects.loop import PARALLEL_WORK, Kind
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.dialects.te.builder_scalars import is_unsigned
from tilework.dialects.te.builder_statements import Buffer, allocate, index_of, number_of, when

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS

BLOCKS = 16
"""The most blocks of a row. They do not depend on the number of threads, and so the result does not."""

INFINITY = {f16: 0x7C00, bf16: 0x7F80, f32: 0x7F80_0000, f64: 0x7FF0_0000_0000_0000}
"""The bits of infinity. Those of NaN, without the sign, are greater ones."""


def has_keys(dtype: Attribute) -> bool:
    """Whether elements of a type have keys."""
    return dtype in INFINITY or (isa(dtype, IntegerType) and dtype.width.data % DIGIT_BITS == 0)


def key_type(dtype: Attribute) -> IntegerType:
    """The type of the keys of a type's elements: unsigned, of as many bits."""
    width = dtype.bitwidth if isinstance(dtype, AnyFloat | IntegerType) else 0
    return IntegerType(width, Signedness.UNSIGNED)


def key_of(k: KernelBuilder, x: Scalar, *, descending: bool) -> Scalar:
    """The number without a sign that is smaller the earlier an element comes.

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
class Sorted:
    """Keys, and the places of the elements that they belong to, along the last axis of two buffers."""

    keys: Buffer
    places: Buffer
    row: Sequence[Expr]

    def put(self, at: Expr, key: Scalar, place: Scalar) -> None:
        """Replace a key and its place."""
        self.keys.store([*self.row, at], key)
        self.places.store([*self.row, at], place)

    def key(self, at: Expr) -> Scalar:
        """A key."""
        return self.keys[[*self.row, at]]

    def place(self, at: Expr) -> Scalar:
        """Where in the row the element of a key is."""
        return self.places[[*self.row, at]]


@dataclass(frozen=True)
class RadixSort:
    """A row while the statements that sort it are written, with room for all its keys twice.

    One pass a digit, from the last digit to the first, moves keys from one room to the other, and equal digits stay in
    order. Blocks of the row count their digits apart from each other; what they count tells where their keys go, and so
    threads share them.
    """

    k: KernelBuilder
    width: int
    rooms: tuple[Sorted, Sorted]
    counts: Buffer = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", allocate(self.k, i64, BLOCKS * DIGITS))

    def sort(self, key: Callable[[Expr], Scalar], extent: Expr) -> Sorted:
        """Sort all elements of a row; returns the room that they are in."""
        return self._sort(key, lambda i: number_of(self.k, i), extent, self.rooms)

    def sort_first(self, key: Callable[[Expr], Scalar], extent: Expr, count: Expr) -> Sorted:
        """Sort as many of the first elements as can be told by their first digit, `count` at least; returns the room."""
        size = self._choose(key, extent, count)
        return self._sort(self.rooms[0].key, self.rooms[0].place, size, self.rooms[::-1])

    def _sort(
        self,
        key: Callable[[Expr], Scalar],
        place: Callable[[Expr], Scalar],
        extent: Expr,
        rooms: tuple[Sorted, Sorted],
    ) -> Sorted:
        to, other = rooms
        for shift in range(0, self.width, DIGIT_BITS):
            self._count(key, extent, shift)
            self._add()
            self._move(key, place, extent, shift, to)
            key, place, to, other = to.key, to.place, other, to
        return other

    def _choose(self, key: Callable[[Expr], Scalar], extent: Expr, count: Expr) -> Expr:
        """Move elements to the first room whose first digit is none that comes behind `count` elements: how many."""
        k, counts, shift = self.k, self.counts, self.width - DIGIT_BITS
        self._count(key, extent, shift)
        total, last, ends = allocate(k, i64), allocate(k, i64), allocate(k, i64, BLOCKS)
        total.store(0, 0)
        last.store(0, 0)

        def look(digit: Expr) -> None:
            with when(k, total[0].compare("lt", number_of(k, count))):
                last.store(0, number_of(k, digit))
                k.for_each([const(BLOCKS)], lambda b: total.store(0, total[0] + counts[b * DIGITS + digit]))

        k.for_each([const(DIGITS)], look)
        limit = last[0]
        total.store(0, 0)

        def begin(b: Expr) -> None:
            ends.store(b, total[0])
            k.for_each(
                [index_of(k, limit) + 1], lambda digit: total.store(0, total[0] + counts[b * DIGITS + digit])
            )

        k.for_each([const(BLOCKS)], begin)

        def take(b: Expr, i: Expr) -> None:
            own = key(i)
            with when(k, self._digit(own, shift).compare("le", limit)):
                self.rooms[0].put(index_of(k, ends[b]), own, number_of(k, i))
                ends.store(b, ends[b] + 1)

        self._in_blocks(extent, take)
        return index_of(k, total[0])

    def _count(self, key: Callable[[Expr], Scalar], extent: Expr, shift: int) -> None:
        """How often each block has each digit."""
        k, counts = self.k, self.counts

        def count(b: Expr, i: Expr) -> None:
            at = b * DIGITS + index_of(k, self._digit(key(i), shift))
            counts.store(at, counts[at] + 1)

        k.for_each([const(BLOCKS * DIGITS)], lambda at: counts.store(at, 0))
        self._in_blocks(extent, count)

    def _add(self) -> None:
        """Replace how often by where the first key with that digit goes."""
        k, counts, total = self.k, self.counts, allocate(self.k, i64)
        total.store(0, 0)

        def add(digit: Expr, b: Expr) -> None:
            at = b * DIGITS + digit
            own = counts[at]
            counts.store(at, total[0])
            total.store(0, total[0] + own)

        k.for_each([const(DIGITS), const(BLOCKS)], add)

    def _move(
        self,
        key: Callable[[Expr], Scalar],
        place: Callable[[Expr], Scalar],
        extent: Expr,
        shift: int,
        to: Sorted,
    ) -> None:
        """Put each key where the next one with its digit goes."""
        k, counts = self.k, self.counts

        def move(b: Expr, i: Expr) -> None:
            own = key(i)
            at = b * DIGITS + index_of(k, self._digit(own, shift))
            end = counts[at]
            to.put(index_of(k, end), own, place(i))
            counts.store(at, end + 1)

        self._in_blocks(extent, move)

    def _digit(self, key: Scalar, shift: int) -> Scalar:
        return self.k.cast(key >> shift, i64) & (DIGITS - 1)

    def _in_blocks(self, extent: Expr, body: Callable[[Expr, Expr], None]) -> None:
        """Insert what is done at each block and place, one block on one thread."""
        blocks = maximum(minimum(extent // (PARALLEL_WORK // 2), BLOCKS), 1)
        length = ceildiv(extent, blocks)

        def block(b: Expr) -> None:
            begin = b * length
            self.k.for_each([minimum(length, extent - begin)], lambda i: body(b, begin + i))

        self.k.for_each([blocks], block, Kind.PARALLEL)
