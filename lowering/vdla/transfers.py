"""Nests of loops that copy tiles between DRAM and the chip: transfers in two dimensions, with loops around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Expr, ExprLike
from tilework.analysis.loop_nest import LoopNest, NoNest
from tilework.dialects import arith
from tilework.dialects.isa import vdla
from tilework.dialects.loop import LoadOp
from tilework.lowering.vdla.buffers import Buffers
from tilework.lowering.vdla.emitter import Emitter
from tilework.lowering.vdla.reads import Read
from tilework.lowering.vdla.tiles import Dim, TileNest, merged, part_of, tile_nest
from tilework.targets.vdla.target import TileMemory
from tilework.targets.vdla.units import LARGEST_PAD


class Shape(NamedTuple):
    """A transfer, and the loops around it. skipped: how many tiles in DRAM the first one is behind the beginning."""

    around: list[Dim]
    rows: int
    columns: int
    stride: int
    pad: tuple[int, int, int, int]
    skipped: int


def emit_load(nest: LoopNest, read: Read | None, memory: TileMemory, buffers: Buffers, emitter: Emitter) -> None:
    """Append the transfers that a nest is which stores to the chip. Raises NoNest where it is none, with the reason."""
    if read is None or buffers.memory_of(read.load.memref) is not None:
        raise NoNest(f"what is written to {nest.text_of(nest.store)} is to come from DRAM as it is")
    accesses = (nest.steps(nest.store), nest.steps(read.load))
    tiles = tile_nest(nest, accesses, memory.rows * memory.columns, read.valid)
    target, dram = buffers.on_chip(nest.store.memref), buffers.in_dram(read.load.memref, memory.name)

    def load(part: Shape, come_from: ExprLike, onto: Expr) -> None:
        properties = _properties(part)
        if any(part.pad):
            properties["pad"] = DenseArrayBase.from_list(i64, list(part.pad))
        to, source = emitter.index(onto), emitter.index(come_from)
        emitter.add(vdla.LoadOp.create(operands=[dram, source, target, to], properties=properties))

    def transfer(shape: Shape, at: Sequence[Expr]) -> None:
        if shape.rows and shape.columns:
            load(shape, at[1] + shape.skipped, at[0])
            return
        for zeros, behind in _zeros(shape):
            load(zeros, 0, at[0] + behind)  # what is read would begin in front of the argument perhaps

    for part in _loadable(tiles):
        shape = _shape(part.dims)
        emitter.nest(shape.around, part.starts, partial(transfer, shape))


def emit_store(nest: LoopNest, buffers: Buffers, emitter: Emitter) -> None:
    """Append the transfer that a nest is which stores to DRAM. Raises NoNest, with the reason, where it is none."""
    cut = nest.store.value.owner
    source = cut.input.owner if isinstance(cut, arith.TruncIOp) else None
    memory = buffers.memory_of(source.memref) if isinstance(source, LoadOp) else None
    if not isinstance(source, LoadOp) or memory is None or memory.name != "acc":
        raise NoNest(f"what is written to {nest.text_of(nest.store)} is to be the lowest byte of an accumulator")
    accesses = (nest.steps(source), nest.steps(nest.store))
    tiles = tile_nest(nest, accesses, memory.rows * memory.columns)
    chip, dram = buffers.on_chip(source.memref), buffers.in_dram(nest.store.memref, "out")
    shape = _shape(tiles.dims)

    def transfer(at: Sequence[Expr]) -> None:
        come_from, onto = (emitter.index(e) for e in at)
        emitter.add(vdla.StoreOp.create(operands=[chip, come_from, dram, onto], properties=_properties(shape)))

    emitter.nest(shape.around, tiles.starts, transfer)


def _loadable(tiles: TileNest) -> Iterator[TileNest]:
    """Parts of a nest whose zeros are rows or columns beside what is read, and not too many: other loops are cut where
    zeros end and begin."""
    around = _shape(tiles.dims).around
    for at, dim in enumerate(tiles.dims):
        above, read, below = _parts(dim)
        if read and above + below and (dim in around or max(above, below) > LARGEST_PAD):
            for begin, count in ((0, above), (above, read), (above + read, below)):
                if count:
                    yield from _loadable(part_of(tiles, at, begin, begin + count, is_read=begin == above))
            return
    yield tiles


def _zeros(shape: Shape) -> Iterator[tuple[Shape, int]]:
    """Transfers that read nothing and write as many zeros as one does, and how many tiles are in front of each."""
    above, below, left, right = shape.pad
    count, width = (above + shape.rows + below) * (left + shape.columns + right), LARGEST_PAD
    whole = count - count % width
    if whole:
        yield Shape([], whole // width, 0, 1, (0, 0, width, 0), 0), 0
    if count > whole:
        yield Shape([], 1, 0, 1, (0, 0, count - whole, 0), 0), whole


def _shape(dims: Sequence[Dim]) -> Shape:
    """The transfer that loops are, or hold, whose steps are on the chip, then in DRAM.

    Tiles are copied in any order: on the chip the innermost loops go from one to the next.
    """
    around = [dim for dim in dims if dim.written_out]
    inside = merged(sorted((dim for dim in dims if not dim.written_out), key=lambda dim: dim.steps[0], reverse=True))
    column = inside.pop() if inside and inside[-1].steps == (1, 1) else Dim("", 1, (1, 1))
    width = column.trip
    row = inside.pop() if inside and inside[-1].steps[0] == width else Dim("", 1, (width, width))
    (above, rows, below), (left, columns, right) = _parts(row), _parts(column)
    skipped = (above * row.steps[1] if rows else 0) + (left if columns else 0)
    return Shape([*around, *inside], rows, columns, row.steps[1], (above, below, left, right), skipped)


def _parts(dim: Dim) -> tuple[int, int, int]:
    """How many iterations of a loop there are before something is read, in which it is, and behind."""
    first, end = (0, dim.trip) if dim.valid is None else dim.valid
    return (first, end - first, dim.trip - end) if first < end else (dim.trip, 0, 0)


def _properties(shape: Shape) -> dict[str, Attribute]:
    return {
        "size": DenseArrayBase.from_list(i64, [shape.rows, shape.columns]),
        "stride": IntegerAttr(shape.stride, i64),
    }
