"""Products of floats as products of bfloat16 numbers, for machines that multiply tiles of those.

A float is nearly the sum of a bfloat16 number, of what that leaves, rounded too, and so on: of two such numbers it has
16 or 17 bits, of three all 24. `graph.bf16x_dense %x, (graph.bf16x_weight %w)` is `graph.dense %x, %w`, and
`graph.bf16x_conv` is `graph.conv`, but for products of small numbers with small ones, which are left out. With two
numbers, results are within about 4e-6 of the largest; with three, closer than a plain sum of floats. What is infinite
has no numbers: it gives NaN. oneMKL calls these ways of multiplying bf16x2 and bf16x3.

How large tiles are, attributes say: `tile` of a weight its last dimensions (pairs of channels, outputs, channels of a
pair), `rows` of a product how many results lie below each other. Rows are points of the image, counted through: of
windows that move by one, the tile for another tap begins some rows further on. For that, lines are as long as all that
windows touch, and results behind the end of a line are left out. Of windows that move by more, each phase of the image
has rows of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType, bf16, f32, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ceildiv, const
from tilework.algebra.predicate import Predicate, at_least, less_than
from tilework.dialects.graph.base import BFLOAT16, Array, Category, GraphOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.windows import Windows, spatial_axes, with_axes
from tilework.dialects.loop.common import integers
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.te import CallIntrinsicOp
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor

ROUND = "bf16.round"
"""The intrinsic that makes a float a number of bfloat16, as tiles take it."""

DATA, PRODUCT = ROLES = "bf16x.data", "bf16x.product"
"""The stages of a product: the numbers of what is multiplied, and the sums of their products."""

SMALLEST = np.finfo(np.float32).tiny
"""What is smaller counts as zero."""


class _Tile(NamedTuple):
    """The last dimensions of a weight: pairs of channels, columns of results, numbers in a pair."""

    pairs: int
    columns: int
    pair: int

    @classmethod
    def of(cls, dims: Sequence[Expr]) -> _Tile:
        """The tile of a weight with these dimensions."""
        return cls(*(dim.constant or 0 for dim in dims[-3:]))

    @property
    def channels(self) -> int:
        return self.pairs * self.pair


@irdl_op_definition
class Bf16xWeightOp(GraphOp):
    """u[j, c, t..., p, k, l, b]: the p-th number of w[L * j + l, K * B * c + B * k + b, t...], zeros behind its ends.

    The weight of graph.dense or graph.conv, in so many `numbers` of bfloat16, two or three, and in tiles of [K, L, B].

    %u = graph.bf16x_weight %w {numbers = 2 : i64, tile = array<i64: 16, 16, 2>}
        : (tensor<64x32x3x3xf32>) -> tensor<4x1x3x3x2x16x16x2xbf16>
    """

    name = "graph.bf16x_weight"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    weight = operand_def(TensorType)
    numbers = prop_def(IntegerAttr.constr(i64))
    tile = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        w = self.dims(0)
        if self.dtype() != f32 or len(w) < 2:
            raise VerifyException(f"the weight of a product of f32 is needed, not {self.weight.type}")
        if self._count not in (2, 3):
            raise VerifyException(f"a float is the sum of 2 or 3 numbers, not of {self._count}")
        if len(self.tile) != 3 or min(integers(self.tile)) < 1:
            raise VerifyException(f"a tile has three extents of at least 1, not {list(integers(self.tile))}")
        return [tensor_type(self._sizes(w), bf16)]

    @property
    def _count(self) -> int:
        return self.numbers.value.data

    @property
    def _tile(self) -> _Tile:
        return _Tile(*integers(self.tile))

    def _sizes(self, w: Sequence[Expr]) -> tuple[Expr, ...]:
        (filters, channels, *taps), tile = w, self._tile
        return (
            ceildiv(filters, tile.columns),
            ceildiv(channels, tile.channels),
            *taps,
            *map(const, (self._count, *tile)),
        )

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [w], tile = inputs, self._tile

        def element(j: Expr, c: Expr, *rest: Expr):
            *taps, p, pair, column, place = rest
            at = (tile.columns * j + column, tile.channels * c + tile.pair * pair + place)
            full = (tile.columns, tile.channels)
            inside = [less_than(i, e) for i, e, of in zip(at, w.dims, full, strict=False) if e % of != 0]
            return _number(k, p, self._count, lambda: _if_inside(k, inside, lambda: w[(*at, *taps)]))

        names = ["j", "c", *(f"t{i}" for i in range(len(w.dims) - 2)), "p", "k", "l", "b"]
        return k.compute("bf16x_weight", self._sizes(w.dims), with_axes(names, element))

    def evaluate(self, *inputs: Array) -> Array:
        [w], (pairs, columns, pair) = inputs, self._tile
        filters, channels, *taps = w.shape
        groups, blocks = -(-filters // columns), -(-channels // self._tile.channels)
        ends = [(0, groups * columns - filters), (0, blocks * self._tile.channels - channels), *[(0, 0)] * len(taps)]
        tiles = np.pad(w, ends).reshape(groups, columns, blocks, pairs, pair, *taps)
        behind = range(5, 5 + len(taps))
        placed = tiles.transpose(0, 2, *behind, 3, 1, 4)
        return np.ascontiguousarray(np.stack(_numbers(placed, self._count), placed.ndim - 3))


class _Bf16xProduct(GraphOp):
    """What the two products have in common."""

    CATEGORY: ClassVar[Category] = Category.COMPLEX
    outputs = prop_def(IntegerAttr.constr(i64))
    rows = prop_def(IntegerAttr.constr(i64))

    @property
    def _columns(self) -> int:
        """Outputs of a tile."""
        return _Tile.of(self.dims(1)).columns

    def _require(self, channels: Expr, outputs: int, sizes: Sequence[Expr]) -> None:
        """Refuse a weight that is none of as many numbers, channels and outputs, and unknown sizes among these."""
        u = self.dims(1)
        if self.dtype(0) != f32 or self.dtype(1) != bf16:
            raise VerifyException(
                f"{self.name} multiplies f32 by numbers of bf16, not {self.dtype(0)} by {self.dtype(1)}"
            )
        tile = _Tile.of(u)
        if len(u) < 6 or u[-4].constant not in (2, 3) or min(tile) < 1:
            raise VerifyException(f"a weight as graph.bf16x_weight makes it is needed, not {self.operand_types[1]}")
        if u[1] != ceildiv(channels, tile.channels):
            raise VerifyException(f"the input has {channels} channels, the weight is for {tile.channels * u[1]}")
        if u[0] != const(-(-outputs // tile.columns)):
            filled = tile.columns * u[0]
            raise VerifyException(f"the weight has {filled} outputs with those that fill tiles, not {outputs}")
        if self.rows.value.data < 1:
            raise VerifyException(f"a tile has at least one row, not {self.rows.value.data}")
        if not all(size.is_constant for size in (channels, *sizes)):
            raise VerifyException(f"{self.name} is for channels and images of known size, not {self.operand_types[0]}")


@irdl_op_definition
class Bf16xDenseOp(_Bf16xProduct):
    """graph.dense of a weight in numbers of bfloat16, with so many `outputs`.

    %y = graph.bf16x_dense %x, %u {outputs = 60 : i64, rows = 16 : i64}
        : (tensor<12x32xf32>, tensor<4x1x2x16x16x2xbf16>) -> tensor<12x60xf32>
    """

    name = "graph.bf16x_dense"
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, u = self.dims(0), self.dims(1)
        if len(x) < 2 or len(u) != 6:
            raise VerifyException(f"rows are multiplied by a matrix, not ranks {len(x)} and {len(u) - 4}")
        outputs = self.outputs.value.data
        self._require(x[-1], outputs, ())
        return [tensor_type((*x[:-1], const(outputs)), f32)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, u = inputs
        rows = _Rows.of(x.dims[:-1], self.rows.value.data)

        def point(at: Sequence[Expr], c: Expr):
            return x[(*at, c)]

        product = _product(k, rows, u, point, x.dims[-1])

        def element(*index: Expr):
            *at, o = index
            return product[o // self._columns, rows.number(at), o % self._columns]

        names = ["i"] if len(x.dims) == 2 else [f"i{axis}" for axis in range(len(x.dims) - 1)]
        return k.compute("dense", (*x.dims[:-1], const(self.outputs.value.data)), with_axes([*names, "o"], element))

    def evaluate(self, *inputs: Array) -> Array:
        x, u = inputs
        count, outputs = u.shape[-4], self.outputs.value.data
        weights = [w[:outputs, : x.shape[-1]] for w in _weights(u)]
        return _summed(_numbers(x, count), weights, lambda a, w: np.matmul(a, w.T))


@irdl_op_definition
class Bf16xConvOp(_Bf16xProduct):
    """graph.conv without groups of a weight in numbers of bfloat16, with so many `outputs`.

    Along an axis where windows move by more than one, their taps are neighbours.

    %y = graph.bf16x_conv %x, %u {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>,
        dilations = array<i64: 1, 1>, outputs = 60 : i64, rows = 16 : i64}
        : (tensor<1x32x8x8xf32>, tensor<4x1x3x3x2x16x16x2xbf16>) -> tensor<1x60x4x4xf32>
    """

    name = "graph.bf16x_conv"
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    strides = prop_def(DenseArrayBase.constr(i64))
    pads = prop_def(DenseArrayBase.constr(i64))
    dilations = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def windows(self) -> Windows:
        """The sliding windows. Raises VerifyException where the attributes do not fit the weight."""
        kernel = [d.constant or 0 for d in self.dims(1)[2:-4]]
        return Windows.of(kernel, self.strides, self.dilations, self.pads)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, outputs = self.dims(0), self.outputs.value.data
        axes = len(self.dims(1)) - 6
        if len(x) < 3 or axes != len(x) - 2:
            raise VerifyException(f"an image of {len(x) - 2} axes and windows of as many are needed, not of {axes}")
        self._require(x[1], outputs, x[2:])
        if not _phases_are_plain(self.windows):
            raise VerifyException("along an axis, windows move by more than one or their taps are apart, not both")
        return [tensor_type((x[0], const(outputs), *self.windows.positions(x[2:])), f32)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, u = inputs
        windows, extents = self.windows, x.dims[2:]
        positions = windows.positions(extents)
        rows = _Rows.of((x.dims[0], *positions), self.rows.value.data, windows)

        def point(at: Sequence[Expr], c: Expr):
            n, *place = at
            return x[(n, c, *place)]

        product = _product(k, rows, u, point, x.dims[1], extents)

        def element(n: Expr, o: Expr, *at: Expr):
            return product[o // self._columns, rows.number((n, *at)), o % self._columns]

        dims = (x.dims[0], const(self.outputs.value.data), *positions)
        return k.compute("conv", dims, with_axes(spatial_axes(len(x.dims), ("n", "o")), element))

    def evaluate(self, *inputs: Array) -> Array:
        x, u = inputs
        count, outputs = u.shape[-4], self.outputs.value.data
        views = [self.windows.views(n, 0) for n in _numbers(x, count)]  # n, c, positions..., taps...
        rank = x.ndim - 2
        order = (0, *range(2, 2 + rank), 1, *range(2 + rank, 2 + 2 * rank))
        columns = [v.transpose(order).reshape(*v.shape[:1], *v.shape[2 : 2 + rank], -1) for v in views]
        weights = [w[:outputs, : x.shape[1]].reshape(outputs, -1) for w in _weights(u)]
        y = _summed(columns, weights, lambda a, w: np.matmul(a, w.T))
        return np.ascontiguousarray(np.moveaxis(y, -1, 1))


def can_use_bf16x(product: ConvOp | DenseOp) -> bool:
    """Whether `graph.bf16x_conv` or `graph.bf16x_dense` can compute it."""
    x, dims = product.dims(0), (*product.dims(0), *product.dims(1), *dims_of(product.result.type))
    if product.dtype(0) != f32 or product.dtype(1) != f32 or any(e == 0 for e in dims) or len(x) < 2:
        return False
    open_ = len(x) - 1 if isinstance(product, DenseOp) else 1  # rows, or images, of which nobody knows how many
    if not all(e.is_constant for e in (*x[open_:], *product.dims(1))):
        return False
    if isinstance(product, DenseOp):
        return True
    plain = product.groups.value.data == 1 and len(x) > 2
    return plain and _phases_are_plain(product.windows)


def _phases_are_plain(windows: Windows) -> bool:
    axes = zip(windows.kernel, windows.strides, windows.dilations, strict=True)
    return all(1 in (kernel, stride, dilation) for kernel, stride, dilation in axes)


@dataclass(frozen=True)
class _Rows:
    """Points counted through: those of the axes `counts`, the last of which windows slide along, if there are any.

    pitches: rows from one point to the next, by axis. phases: how many there are along each axis of a window, each with
    rows of its own. tile: the rows of a tile; behind the last result there are nearly two tiles more, so that whole
    ones can be computed from any row on.
    """

    counts: tuple[Expr, ...]
    pitches: tuple[Expr, ...]
    windows: Windows
    phases: tuple[int, ...]
    tile: int

    @classmethod
    def of(cls, counts: Sequence[Expr], tile: int, windows: Windows | None = None) -> _Rows:
        """Make rows of counts that are known where windows slide."""
        windows = windows or Windows((), (), (), (), ())
        axes = list(zip(windows.kernel, windows.strides, windows.dilations, strict=True))
        phases = tuple(min(kernel, stride) for kernel, stride, _ in axes)
        touched = [0] * (len(counts) - len(axes)) + [(k - 1) * d // s for k, s, d in axes]
        lines = [count + more for count, more in zip(counts, touched, strict=True)]
        pitches = tuple(prod(lines[i + 1 :], start=const(1)) for i in range(len(lines)))
        return cls(tuple(counts), pitches, windows, phases, tile)

    @property
    def results(self) -> Expr:
        """Rows from the first result to behind the last, and as many more results as fill tiles."""
        pitch = next((p for n, p in zip(self.counts[::-1], self.pitches[::-1], strict=True) if n != 1), const(1))
        slack = 2 * self.tile - 1
        if not all(n.is_constant for n in self.counts):
            return self.counts[0] * self.pitches[0] + slack * pitch
        return self.number([const(max(n.offset - 1, 0)) for n in self.counts]) + 1 + slack * pitch

    @property
    def needed(self) -> Expr:
        """Rows that these are computed from."""
        return self.results + self.shift([const(kernel - 1) for kernel in self.windows.kernel])

    def number(self, at: Sequence[Expr]) -> Expr:
        """The row of a point."""
        return sum((i * pitch for i, pitch in zip(at, self.pitches, strict=True)), const(0))

    def point(self, row: Expr) -> list[Expr]:
        """The point that a row is of; behind the end of a line, that of the next one, if it is not of what windows
        touch."""
        found: list[Expr] = []
        for count, pitch in zip(self.counts, self.pitches, strict=True):
            if count == 1 and all(at == 0 for at in found):
                found.append(const(0))  # of one, what is behind it is behind the last line
            else:
                found.append(row // pitch)
                row = row % pitch
        return found

    def phase(self, tap: Sequence[Expr]) -> list[Expr]:
        """In which phases a tap is."""
        return [t % n if n > 1 else const(0) for t, n in zip(tap, self.phases, strict=True)]

    def shift(self, tap: Sequence[Expr]) -> Expr:
        """How many rows behind a window's first tap another one is, in its phase."""
        axes = zip(tap, self.windows.strides, self.windows.dilations, strict=True)
        steps = [t // stride if stride > 1 else t * dilation for t, stride, dilation in axes]
        return sum(
            (s * pitch for s, pitch in zip(steps, self.pitches[len(self.pitches) - len(steps) :], strict=True)),
            const(0),
        )

    def pixel(self, point: Sequence[Expr], phase: Sequence[Expr]) -> list[Expr]:
        """Where in the image the first tap of a phase is, of windows at a point; padding has places in front of 0."""
        first = len(point) - len(phase)
        axes = zip(point[first:], self.windows.strides, phase, self.windows.before, strict=True)
        return [*point[:first], *(p * stride + f - before for p, stride, f, before in axes)]


def _product(
    k: KernelBuilder,
    rows: _Rows,
    u: Tensor,
    element: Callable[[Sequence[Expr], Expr], Scalar],
    channels: Expr,
    extents: Sequence[Expr] = (),
) -> Tensor:
    """[j, row, l] of `element`(place, channel), where windows reach behind none of the extents.

    Data have their smallest numbers first: a product has one factor in common with the next, and is added to less.
    """
    groups, blocks, *taps, numbers, pairs, columns, pair = u.dims
    count, tile = numbers.offset, _Tile.of(u.dims)
    last = count - 1

    def number(c: Expr, *rest: Expr):
        *phase, p, row, place = rest
        channel = tile.channels * c + place
        at = rows.pixel(rows.point(row), phase)
        inside = [less_than(channel, channels)] if channels % tile.channels != 0 else []
        if not all(i.is_constant for i in at[: len(at) - len(phase)]):
            inside.append(less_than(row, rows.counts[0] * rows.pitches[0]))
        for i, extent in enumerate(extents):
            pixel = at[i - len(phase)]
            if rows.windows.before[i]:
                inside.append(at_least(pixel, 0))
            if not pixel.is_constant:
                inside.append(less_than(pixel, extent))
        return _number(k, last - p, count, lambda: _if_inside(k, inside, lambda: element(at, channel)))

    phases = [f"f{i}" for i in range(len(taps))]
    dims = (blocks, *map(const, rows.phases), numbers, rows.needed, const(tile.channels))
    data = k.compute("bf16x_data", dims, with_axes(["c", *phases, "p", "row", "place"], number), role=DATA)

    def sum_(j: Expr, row: Expr, column: Expr):
        def term(c: Expr, *rest: Expr):
            *tap, p, q, pair_, place = rest
            at = (c, *rows.phase(tap), p, row + rows.shift(tap), tile.pair * pair_ + place)
            number = k.if_then_else([at_least(p, q)], lambda: data[at], lambda: 0.0, bf16)
            return k.cast(number, f32) * k.cast(u[(j, c, *tap, q, pair_, column, place)], f32)

        names = ["c", *(f"t{i}" for i in range(len(taps))), "p", "q", "pair", "place"]
        return k.sum((blocks, *taps, numbers, numbers, pairs, pair), with_axes(names, term))

    body = with_axes(["j", "row", "l"], sum_)
    return k.compute("bf16x_product", (groups, rows.results, columns), body, role=PRODUCT)


def _number(k: KernelBuilder, p: Expr, count: int, value: Callable[[], Scalar]) -> Scalar:
    """The p-th bfloat16 number of a value."""

    def numbered(first: int) -> Scalar:
        left = value()
        for _ in range(first):
            left = left - k.cast(_rounded(k, left), f32)
        return _rounded(k, left)

    def from_(first: int) -> Scalar:
        if first == count - 1:
            return numbered(first)
        return k.if_then_else([less_than(p, first + 1)], lambda: numbered(first), lambda: from_(first + 1), bf16)

    return from_(0)


def _rounded(k: KernelBuilder, value: Scalar) -> Scalar:
    return k.insert(CallIntrinsicOp(ROUND, [value.value], bf16))


def _if_inside(k: KernelBuilder, inside: Sequence[Predicate], value: Callable[[], Scalar]) -> Scalar:
    return k.if_then_else(inside, value, lambda: 0.0, f32) if inside else value()


def _numbers(x: Array, count: int) -> list[Array]:
    """The bfloat16 numbers whose sum is nearly an array."""
    numbers: list[Array] = []
    left = x
    for _ in range(count):
        numbers.append(np.where(np.abs(left) < SMALLEST, np.float32(0), left).astype(BFLOAT16))
        left = left - numbers[-1].astype(np.float32)
    return numbers


def _weights(u: Array) -> list[Array]:
    """[outputs, channels, taps...] of each number, with what fills tiles."""
    groups, blocks, *taps, count, pairs, columns, pair = u.shape
    behind = range(2, 2 + len(taps))
    first = 2 + len(taps)
    order = (first, 0, first + 2, 1, first + 1, first + 3, *behind)
    numbers = u.astype(np.float32).transpose(order)
    return list(numbers.reshape(count, groups * columns, blocks * pairs * pair, *taps))


def _summed(x: Sequence[Array], w: Sequence[Array], multiply: Callable[[Array, Array], Array]) -> Array:
    """The products of numbers, the small ones of small ones left out."""
    pairs = [(p, q) for p in range(len(x)) for q in range(len(x) - p)]
    total = multiply(x[0].astype(np.float32), w[0])
    for p, q in pairs[1:]:
        total = total + multiply(x[p].astype(np.float32), w[q])
    return total
