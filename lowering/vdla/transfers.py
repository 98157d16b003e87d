"""Nests of loops that copy tiles between DRAM and the chip: transfers in two dimensions, with loops around them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64

from tilework.algebra.index_expr import Expr
from tilework.analysis.loop_nest import LoopNest, NoNest
from tilework.dialects import arith
from tilework.dialects.isa import vdla
from tilework.dialects.loop import LoadOp
from tilework.lowering.vdla.buffers import Buffers
from tilework.lowering.vdla.emitter import Emitter
from tilework.lowering.vdla.tiles import Dim, merged, tile_nest
from tilework.targets.vdla.target import TileMemory


def emit_load(nest: LoopNest, memory: TileMemory, buffers: Buffers, emitter: Emitter) -> None:
    """Append the transfer that a nest is which stores to the chip. Raises NoNest, with the reason, where it is none."""
    source = nest.store.value.owner
    if not isinstance(source, LoadOp) or buffers.memory_of(source.memref) is not None:
        raise NoNest(f"what is written to {nest.text_of(nest.store)} is to come from DRAM as it is")
    accesses = (nest.steps(nest.store), nest.steps(source))
    tiles = tile_nest(nest, accesses, memory.rows * memory.columns)
    target, dram = buffers.on_chip(nest.store.memref), buffers.in_dram(source.memref, memory.name)
    outside, rows, columns, stride = _shape(tiles.dims)

    def transfer(at: Sequence[Expr]) -> None:
        onto, come_from = (emitter.index(e) for e in at)
        emitter.add(
            vdla.LoadOp.create(
                operands=[dram, come_from, target, onto], properties=_properties(rows, columns, stride), result_types=[]
            )
        )

    emitter.nest(outside, tiles.starts, transfer)


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
    outside, rows, columns, stride = _shape(tiles.dims)

    def transfer(at: Sequence[Expr]) -> None:
        come_from, onto = (emitter.index(e) for e in at)
        emitter.add(
            vdla.StoreOp.create(
                operands=[chip, come_from, dram, onto], properties=_properties(rows, columns, stride), result_types=[]
            )
        )

    emitter.nest(outside, tiles.starts, transfer)


def _shape(dims: Sequence[Dim]) -> tuple[list[Dim], int, int, int]:
    """The loops around a transfer, its rows, its columns, and its stride, for steps on the chip and in DRAM.

    Tiles are copied in any order: on the chip the innermost loops go from one to the next.
    """
    around = [dim for dim in dims if dim.written_out]
    others = sorted((dim for dim in dims if not dim.written_out), key=lambda dim: dim.steps[0], reverse=True)
    outside = [*around, *merged(others)]
    columns = rows = 1
    if outside and outside[-1].steps == (1, 1) and not outside[-1].written_out:
        columns = outside.pop().trip
    stride = columns
    if outside and outside[-1].steps[0] == columns and not outside[-1].written_out:
        row = outside.pop()
        rows, stride = row.trip, row.steps[1]
    return outside, rows, columns, stride


def _properties(rows: int, columns: int, stride: int) -> dict[str, IntegerAttr | DenseArrayBase]:
    return {"size": DenseArrayBase.from_list(i64, [rows, columns]), "stride": IntegerAttr(stride, i64)}
