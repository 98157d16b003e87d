"""Intrinsics of a case's own, declared for what a nest does, or, seldom, for something a little different."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    MemRefType,
    StridedLayoutAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    f32,
)
from xdsl.ir import Attribute, Operation

from tilework.dialects import arith
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te import IntrinsicOp
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.snippets import IDENTITIES, Snippets, written, written_reset
from tilework.tools.fuzz.stages import CARELESS
from tilework.tools.fuzz.tiles import Argument, Nest, Tile, drawn_order, tile_of

SIZES = (2, 3, 4)
"""What loops are split by to be an axis of an intrinsic."""

WRONG = 3
"""How many of a hundred intrinsics do not do what the nest does."""


def chosen_leaves(nest: Nest, free: Sequence[int], draw: Draw) -> list[tuple[int, int | None]]:
    """Leaves that an intrinsic is to run, by number, in order; with the size that a part of one is to have."""
    known = [i for i in free if (trip := nest.trip(nest.leaves[i])) is not None and trip > 1]
    order = drawn_order(known, draw)
    reductions = [i for i in order if nest.leaves[i].reduce]
    if reductions and not draw.chance(CARELESS):  # an intrinsic of a reduction has a part of it
        order = [reductions[0], *(i for i in order if i != reductions[0])]
    found: list[tuple[int, int | None]] = []
    for i in order[: draw.choice((1, 2, 2, 3, 3))]:
        trip = nest.trip(nest.leaves[i]) or 0
        whole = trip <= 8 and (trip < 4 or draw.chance(40))
        found.append((i, None if whole else draw.choice([s for s in SIZES if s < trip])))
    return found


def declared_for(nest: Nest, count: int, name: str, draw: Draw) -> list[IntrinsicOp]:
    """The intrinsic that the innermost loops of a nest are, and those that it names; none where we write none."""
    tile = tile_of(nest, count, draw)
    if tile is None or not tile.arguments:
        return []
    if draw.chance(WRONG):
        longer = draw.choice(range(len(tile.extents)))
        tile = replace(tile, extents=[n + (i == longer) for i, n in enumerate(tile.extents)])
    names = [f"a{i}" for i in range(len(tile.arguments))]
    wants = _wants(tile, draw)

    def declaration(suffix: str, accumulates: bool, others: dict[str, Attribute]) -> IntrinsicOp:
        joins: dict[str, Attribute] = {"accumulates": UnitAttr()} if accumulates else {}
        return _declared(name + suffix, tile, names, wants, written(tile, names, accumulates), joins | others)

    if not tile.is_reduction:
        return [declaration("", False, {})]
    reset = _reset(f"{name}.reset", tile, wants)
    names_reset: dict[str, Attribute] = {"reset": SymbolRefAttr(f"{name}.reset")}
    kind = draw.choice((*["all"] * 4, *["accumulates"] * 4, "alone", "whole"))
    if kind == "accumulates":
        return [reset, declaration("", True, names_reset)]
    if kind == "alone":
        return [declaration("", True, {})]
    if kind == "whole":
        return [declaration("", False, {})]
    update = declaration(".update", True, {})
    return [reset, update, declaration("", False, names_reset | {"update": SymbolRefAttr(f"{name}.update")})]


def result_shape(tile: Tile) -> list[int]:
    """The sizes of what a meaning computes."""
    return tile.extents[: tile.rank]


def shape_of(argument: Argument, tile: Tile) -> list[int]:
    """The sizes of what it reads."""
    return argument.shape(tile.extents)


def _wants(tile: Tile, draw: Draw) -> list[Attribute]:
    """What each argument, then the result, wants: elements any distance apart, or, seldom, those of a row one apart."""
    return [_wanted(shape, draw) for shape in (*(shape_of(a, tile) for a in tile.arguments), result_shape(tile))]


def _wanted(shape: Sequence[int], draw: Draw) -> Attribute:
    if not shape or draw.chance(15):
        return MemRefType(f32, shape)
    return MemRefType(f32, shape, StridedLayoutAttr([None] * len(shape)))


def _declared(
    name: str,
    tile: Tile,
    names: Sequence[str],
    wants: Sequence[Attribute],
    snippets: Snippets,
    others: dict[str, Attribute],
) -> IntrinsicOp:
    k = KernelBuilder("meaning")
    tensors = [k.argument(tensor_type(shape_of(a, tile), f32), n) for a, n in zip(tile.arguments, names, strict=True)]

    def value(*axes: Any) -> Scalar:
        def binary(kind: type[Operation], a: Scalar, b: Scalar) -> Scalar:
            return _computed(k, kind, a, b)

        def read(number: int) -> Scalar:
            return tensors[number][tuple(tile.arguments[number].at(axes))]

        return tile.value(read, lambda number: k.constant(number, f32), binary)

    def body(*i: Any) -> Scalar | Reduction:
        if not tile.is_reduction:
            return value(*i)
        reducer = k.sum if tile.reducer == "add" else k.reduce_max
        return reducer(tile.extents[tile.rank :], lambda *r: value(*i, *r))

    kernel = k.finish([k.compute("meaning", result_shape(tile), body)])
    return _intrinsic(name, names, kernel, wants, snippets, others)


def _computed(k: KernelBuilder, kind: type[Operation], a: Scalar, b: Scalar) -> Scalar:
    if kind is arith.MaximumfOp:
        return k.max(a, b)
    return a + b if kind is arith.AddfOp else a - b if kind is arith.SubfOp else a * b


def _reset(name: str, tile: Tile, wants: Sequence[Attribute]) -> IntrinsicOp:
    k = KernelBuilder("identity")
    number = IDENTITIES[tile.reducer or ""]
    kernel = k.finish([k.compute("identity", result_shape(tile), lambda *_: k.constant(number, f32))])
    return _intrinsic(name, [], kernel, wants[-1:], written_reset(tile), {})


def _intrinsic(
    name: str,
    names: Sequence[str],
    meaning: Any,
    wants: Sequence[Attribute],
    snippets: Snippets,
    others: dict[str, Attribute],
) -> IntrinsicOp:
    properties: dict[str, Attribute] = {
        "sym_name": StringAttr(name),
        "function_type": meaning.function_type,
        "names": ArrayAttr(map(StringAttr, names)),
        "buffers": ArrayAttr(wants),
        "snippets": DictionaryAttr({kind: ArrayAttr(map(StringAttr, lines)) for kind, lines in snippets.items()}),
    }
    return IntrinsicOp.create(properties={**properties, **others}, regions=[meaning.detach_region(meaning.body)])
