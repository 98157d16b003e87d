"""Registers of warps: which tile of a buffer of scope "mma" is in which registers of each thread."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tilework.dialects.loop import IntrinsicOp
from tilework.dialects.loop.buffer_regions import BufferRegion
from tilework.dialects.support.diagnostics import CompileError

SCOPE = "mma"
"""The scope of these buffers."""

FRAGMENT = 8
"""Registers of each thread that a tile is spread over."""


def number_of(tile: BufferRegion, op: IntrinsicOp) -> int:
    """The number of a tile among those of its buffer. Raises CompileError for one that overlaps with another."""
    places = _places(tile.memref, op)
    return places.index(_place(tile, op))


def count_of(buffer: SSAValue, op: Operation) -> int:
    """How many tiles a buffer has. Raises CompileError where they overlap."""
    return len(_places(buffer, op))


def _places(buffer: SSAValue, op: Operation) -> list[tuple[int, int]]:
    """The places at which the tiles of a buffer begin, each with the distance of its rows."""
    found: dict[tuple[int, int], None] = {}
    for use in buffer.uses:
        user = use.operation
        if isinstance(user, IntrinsicOp):
            found |= {_place(part, user): None for part in user.buffer_regions if part.memref is buffer}
    places = sorted(found)
    elements = [p + row * stride + i for p, stride in places for row in range(16) for i in range(16)]
    if len({*elements}) < len(elements):
        raise CompileError(f"tiles of %{buffer.name_hint or '?'} overlap, and are registers", op)
    return places


def _place(tile: BufferRegion, op: IntrinsicOp) -> tuple[int, int]:
    at = tile.position.constant
    if at is None:
        message = f"the subscript of tile register %{tile.memref.name_hint or '?'} is no constant"
        raise CompileError(f"{message}: unroll the loops over tiles", op)
    return at, tile.strides[0]
