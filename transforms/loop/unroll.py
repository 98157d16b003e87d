"""Unroll what subscripts registers, and what is small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, Region

from tilework.algebra.index_expr import const, var
from tilework.algebra.predicate import less_than
from tilework.analysis.domains import Scope, kernel_scope, walk_scoped
from tilework.analysis.registers import register_indices
from tilework.dialects.isa.amx import TileOp
from tilework.dialects.loop import ForOp, IfOp, KernelOp, Kind, KindAttr, StoreOp
from tilework.dialects.loop.annotations import AUTO_UNROLL_MAX_STEP
from tilework.dialects.support.locations import copy_location
from tilework.transforms.base import TileworkPass
from tilework.transforms.loop.rewriting import constant_trip, restricted_copies

MAX_DEPTH = 8
"""How many small loops inside each other are unrolled."""


@dataclass(frozen=True)
class Unroll(TileworkPass):
    """Mark as unrolled every loop whose index subscripts a buffer of scope "register", and small loops where asked.

    loop.for %i = 0 to 4 "i" {                            loop.for %i = 0 to 4 "i" unrolled {
      %v = loop.load %acc[%i] : memref<4xf32,      ->       ...
             "register">

    Registers have no addresses: loops are unrolled for them up to `max_trip` iterations, and `loop-verify-registers`
    refuses what is left. Where it is known at run time only how many of so few iterations there are, each asks whether
    it runs. The same is done for tiles of scope "amx"; instructions name such registers, so that every iteration of the
    unrolled loops around becomes a loop of its own. A serial loop is small where it holds no loop that stays and
    expands to at most `auto_max_step` stores or operations on tiles; 0 leaves all. The attribute
    `loop.auto_unroll_max_step` of a loop is the limit for that loop and those inside it. Else unrolling itself stays an
    attribute for the emitter.
    Requires vectors (`loop-vectorize`); leaves loops of other kinds, and of constant lengths.
    """

    name = "loop-unroll"
    anchor = KernelOp

    max_trip: int = 64
    auto_max_step: int = 0

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return
        loops = [loop for loop in dict.fromkeys(index.loop for index in register_indices(op)) if loop is not None]
        if unknown := {loop for loop in loops if constant_trip(loop) is None}:
            for inner, scope in walk_scoped(op.body.block, kernel_scope(op)):
                if inner in unknown and isinstance(inner, ForOp):
                    _bound(inner, scope, self.max_trip)
        for loop in loops:
            trip = constant_trip(loop)
            if trip is not None and trip <= self.max_trip:
                _unroll(loop)
        _unroll_small(op.body.block, self.auto_max_step)
        for loop in reversed([inner for inner in op.body.walk() if isinstance(inner, ForOp)]):
            trip = constant_trip(loop)
            if loop.kind.data is Kind.UNROLLED and trip and any(isinstance(op, TileOp) for op in loop.body.walk()):
                restricted_copies(loop, [(loop.lower + i, loop.lower + i + 1) for i in range(trip)])


def _bound(loop: ForOp, scope: Scope, most: int) -> None:
    """Let a loop of at most so many iterations have a constant number of them, which ask whether they run."""
    trip = scope.domain.upper(loop.extent)
    if trip is None or trip > most or loop.lower != const(0) or loop.kind.data is not Kind.SERIAL:
        return
    guard = IfOp([less_than(var(loop.index), loop.upper)], Region(Block()))
    copy_location(guard, loop)
    for op in list(loop.body.block.ops):
        op.detach()
        guard.then_body.block.add_op(op)
    loop.body.block.add_op(guard)
    loop.set_bounds(0, trip)


def _unroll(loop: ForOp) -> None:
    if loop.kind.data is Kind.SERIAL:
        loop.properties["kind"] = KindAttr(Kind.UNROLLED)


class _Size(NamedTuple):
    """What a block expands to: how many stores, and how many unrolled loops deep it is."""

    steps: int
    depth: int


def _unroll_small(block: Block, limit: int) -> _Size | None:
    """Unroll the small loops of a block, inner ones first; None where a loop in it stays."""
    sizes = [_expanded(op, limit) for op in block.ops]
    known = [size for size in sizes if size is not None]
    return _sum(known) if len(known) == len(sizes) else None


def _expanded(op: Operation, limit: int) -> _Size | None:
    """What an operation expands to, a small loop being unrolled; None where a loop stays."""
    if isinstance(op, StoreOp | TileOp):
        return _Size(1, 0)
    own = op.attributes.get(AUTO_UNROLL_MAX_STEP)
    limit = own.value.data if isinstance(own, IntegerAttr) else limit
    sizes = [_unroll_small(block, limit) for region in op.regions for block in region.blocks]
    known = [size for size in sizes if size is not None]
    inside = _sum(known) if len(known) == len(sizes) else None
    if inside is None or not isinstance(op, ForOp):
        return inside
    trip = constant_trip(op)
    if trip is None:
        return None
    whole = _Size(trip * inside.steps, inside.depth + 1)
    if 0 < limit >= whole.steps and whole.depth <= MAX_DEPTH:
        _unroll(op)
    return whole if op.kind.data is Kind.UNROLLED else None


def _sum(sizes: list[_Size]) -> _Size:
    return _Size(sum(size.steps for size in sizes), max((size.depth for size in sizes), default=0))
