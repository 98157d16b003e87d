"""The same as in `units`, by methods of the te language: intrinsics are declared in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation

from tilework.dialects import arith
from tilework.dialects.schedule import SequenceOp, Tail
from tilework.dialects.te import IntrinsicOp, KernelOp
from tilework.frontends import te
from tilework.frontends.te.buffers import Buffer
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.intrinsics import chosen_leaves, result_shape, shape_of
from tilework.tools.fuzz.snippets import written, written_reset
from tilework.tools.fuzz.tiles import Nest, Tile, in_drawn_order, nest_of, tile_of

PARTS = (*["reset update"] * 4, *["body reset update"] * 4, "body", "update")
"""Which snippets there are for a reduction; seldom too few where loops around run parts of it."""


def te_tensorize(draw: Draw, s: te.Schedule, stages: Sequence[te.Stage], name: str) -> None:
    """Loops of one of the stages, or parts of them, go inside and are an intrinsic of that name, declared for them."""
    found = in_drawn_order([(stage, te_nest(s, stage)) for stage in stages], draw)
    if found:
        _tensorize(draw, s, *found[0], name)


def _tensorize(draw: Draw, s: te.Schedule, stage: te.Stage, nest: Nest, name: str) -> None:
    inside: list[te.IterVar] = []
    leaves = list(stage.leaf_iter_vars)
    for i, size in chosen_leaves(nest, range(len(leaves)), draw):
        axis = leaves[i]
        if size is not None:
            divides = (nest.trip(nest.leaves[i]) or 0) % size == 0
            tails = (Tail.PARTITION,) if axis.is_reduce else (Tail.PARTITION, Tail.SHIFT)
            _, axis = stage.split(axis, size, tail=Tail.GUARD if divides else draw.choice(tails))
        inside.insert(draw.choice(range(len(inside) + 1)), axis)
    if not inside:
        return
    chosen = {id(axis) for axis in inside}
    stage.reorder(*(axis for axis in stage.leaf_iter_vars if id(axis) not in chosen), *inside)
    inner = te_nest(s, stage)
    tile = None if inner is None else tile_of(inner, len(inside), draw)
    if tile is not None and tile.arguments:
        stage.tensorize(inside[0], declared(tile, draw, name))


def te_nest(s: te.Schedule, stage: te.Stage) -> Nest | None:
    """The nest of a stage as it stands."""
    *intrinsics, kernel, sequence = s.module("fuzzed").ops
    assert isinstance(kernel, KernelOp) and isinstance(sequence, SequenceOp)
    nest = nest_of(kernel, sequence, [op for op in intrinsics if isinstance(op, IntrinsicOp)], stage.name)
    return nest if nest is not None and len(nest.leaves) == len(stage.leaf_iter_vars) else None


def declared(tile: Tile, draw: Draw, name: str) -> te.TensorIntrin:
    """What computes a tile: as a whole, in parts, or both."""
    arguments = [te.placeholder(shape_of(a, tile), name=f"a{i}") for i, a in enumerate(tile.arguments)]
    axes = [te.reduce_axis((0, n), f"r{i}") for i, n in enumerate(tile.extents[tile.rank :])]

    def value(*i: Any) -> Any:
        def read(number: int) -> Any:
            return arguments[number](*tile.arguments[number].at([*i, *axes]))

        found = tile.value(read, lambda number: te.const(number, "float32"), _computed)
        if not tile.is_reduction:
            return found
        return (te.sum if tile.reducer == "add" else te.max)(found, axis=axes)

    made = te.compute(result_shape(tile), value, name="made")
    parts = draw.choice(PARTS) if tile.is_reduction else "body"

    def snippets(ins: Sequence[Buffer], outs: Sequence[Buffer]) -> Any:
        listed = sorted((buffer.name for buffer in ins), key=lambda name: int(name[1:]))
        body, reset, update = (
            written(tile, listed, False),
            written_reset(tile),
            written(tile, listed, tile.is_reduction),
        )
        found = {"body": body, "reset": reset, "update": update}
        return tuple(found[part] if part in parts.split() else None for part in found)

    shapes = [*(shape_of(argument, tile) for argument in tile.arguments), result_shape(tile)]
    binds = {tensor: _buffer(tensor, shape, draw) for tensor, shape in zip((*arguments, made), shapes, strict=True)}
    return te.decl_tensor_intrin(made.op, snippets, name=name, binds=binds)


def _buffer(tensor: te.Tensor, shape: Sequence[int], draw: Draw) -> Buffer:
    """Elements any distance apart, or, seldom, those of a row one apart."""
    strides = None if draw.chance(15) else [te.var(f"s{i}") for i in range(len(shape))]
    return te.decl_buffer(shape, name=tensor.op.name, strides=strides)


def _computed(kind: type[Operation], a: Any, b: Any) -> Any:
    if kind is arith.MaximumfOp:
        return te.max(a, b)
    return a + b if kind is arith.AddfOp else a - b if kind is arith.SubfOp else a * b


def te_virtual_threads(draw: Draw, stage: te.Stage, axis: te.IterVar) -> None:
    """The outer loops of a split, or a loop as it is, are virtual threads."""
    if draw.chance(70):
        axis, _ = stage.split(axis, nparts=draw.choice((2, 2, 3, 4)))
    if draw.chance(40):
        stage.reorder(axis, *(other for other in stage.leaf_iter_vars if other is not axis))
    stage.bind(axis, te.thread_axis(draw.choice(("vthread", "cthread"))))
