"""Unroll what subscripts registers, and what is small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, Region
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import const, var
from tilework.algebra.predicate import less_than
from tilework.analysis.domains import Scopes
from tilework.analysis.registers import register_indices
from tilework.dialects.loop import ForOp, IfOp, KernelOp, Kind, KindAttr, StoreOp
from tilework.dialects.loop.annotations import AUTO_UNROLL_MAX_STEP
from tilework.dialects.loop.buffer_regions import BufferRegionsOp
from tilework.dialects.support.locations import copy_location
from tilework.transforms.loop.rewriting import constant_trip, restricted_copies
from tilework.transforms.patterns import PatternPass

MAX_DEPTH = 8
"""How many small loops inside each other are unrolled."""


@dataclass(frozen=True)
class Unroll(PatternPass):
    """Mark as unrolled every loop whose index subscripts a buffer of scope "register", and small loops where asked.

    loop.for %i = 0 to 4 "i" {                            loop.for %i = 0 to 4 "i" unrolled {
      %v = loop.load %acc[%i] : memref<4xf32,      ->       ...
             "register">

    Registers have no addresses: loops are unrolled for them up to `max_trip` iterations, and `loop-verify-registers`
    refuses what is left. Where it is known at run time only how many of so few iterations there are, each asks whether
    it runs. The same is done for the registers of tiles; instructions name such registers, so that every iteration of
    the unrolled loops around becomes a loop of its own. A serial loop is small where it holds no loop that stays and
    expands to at most `auto_max_step` stores or intrinsics on buffers; 0 leaves all. The attribute
    `loop.auto_unroll_max_step` of a loop is the limit for that loop and those inside it. Else unrolling itself stays an
    attribute for the emitter.
    Requires vectors (`loop-vectorize`); leaves loops of other kinds, and of constant lengths.
    """

    name = "loop-unroll"
    anchor = KernelOp

    max_trip: int = 64
    auto_max_step: int = 0

    def operations(self, op: Operation) -> Iterable[Operation]:
        """Inner loops first: what they expand to says how small the ones around them are."""
        return reversed(list(super().operations(op)))

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, KernelOp)
        loops = {index.loop for index in register_indices(op) if index.loop is not None}
        return [
            AskWhetherItRuns(loops, self.max_trip, Scopes()),
            UnrollRegisters(loops, self.max_trip),
            UnrollSmallLoop(self.auto_max_step),
            SeparateTiles(),
        ]


@dataclass(frozen=True)
class AskWhetherItRuns(RewritePattern):
    """A loop to n <= c that indexes registers is one to c in which each iteration asks whether it is before n.

    loops: those that index registers. max_trip: the most iterations to unroll.
    """

    loops: Set[ForOp]
    max_trip: int
    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        if op not in self.loops or constant_trip(op) is not None:
            return
        trip = self.scopes.at(op).domain.upper(op.extent)
        if trip is None or trip > self.max_trip or op.lower != const(0) or op.kind.data is not Kind.SERIAL:
            return
        guard = IfOp([less_than(var(op.index), op.upper)], Region(Block()))
        copy_location(guard, op)
        for inner in list(op.body.block.ops):
            inner.detach()
            guard.then_body.block.add_op(inner)
        op.body.block.add_op(guard)
        op.set_bounds(0, trip)
        rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class UnrollRegisters(RewritePattern):
    """A loop that indexes registers is unrolled, so that each subscript is a constant: registers have no addresses.

    loops: those that index registers. max_trip: the most iterations to unroll.
    """

    loops: Set[ForOp]
    max_trip: int

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        trip = constant_trip(op)
        if op in self.loops and op.kind.data is Kind.SERIAL and trip is not None and trip <= self.max_trip:
            _unroll(op, rewriter)


@dataclass(frozen=True)
class UnrollSmallLoop(RewritePattern):
    """A serial loop that expands to a few stores, and holds no loop that stays, is unrolled where this is asked for.

    auto_max_step: the most stores, where no loop around says how many.
    """

    auto_max_step: int

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        limit = self._limit(op)
        if limit <= 0 or op.kind.data is not Kind.SERIAL:
            return
        whole = _whole_size(op)
        if whole is not None and whole.steps <= limit and whole.depth <= MAX_DEPTH:
            _unroll(op, rewriter)

    def _limit(self, op: Operation) -> int:
        """What the operation or the nearest one around it that says so allows."""
        own = op.attributes.get(AUTO_UNROLL_MAX_STEP)
        if isinstance(own, IntegerAttr):
            return own.value.data
        around = op.parent_op()
        return self.auto_max_step if around is None else self._limit(around)


class SeparateTiles(RewritePattern):
    """Each iteration of an unrolled loop around intrinsics on buffers is a loop of its own: instructions name tiles."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        trip = constant_trip(op)
        if op.kind.data is not Kind.UNROLLED or trip is None or trip < 2:
            return
        if any(isinstance(inner, BufferRegionsOp) for inner in op.body.walk()):
            restricted_copies(op, [(op.lower + i, op.lower + i + 1) for i in range(trip)])
            rewriter.notify_op_modified(op)


def _unroll(loop: ForOp, rewriter: PatternRewriter) -> None:
    loop.properties["kind"] = KindAttr(Kind.UNROLLED)
    rewriter.notify_op_modified(loop)


class _Size(NamedTuple):
    """What a block expands to: how many stores, and how many unrolled loops deep it is."""

    steps: int
    depth: int


def _size(op: Operation) -> _Size | None:
    """What an operation expands to; None where a loop stays."""
    if isinstance(op, StoreOp | BufferRegionsOp):
        return _Size(1, 0)
    if isinstance(op, ForOp):
        return _whole_size(op) if op.kind.data is Kind.UNROLLED else None
    return _size_inside(op)


def _whole_size(loop: ForOp) -> _Size | None:
    """What a loop expands to if it is unrolled."""
    inside, trip = _size_inside(loop), constant_trip(loop)
    return None if inside is None or trip is None else _Size(trip * inside.steps, inside.depth + 1)


def _size_inside(op: Operation) -> _Size | None:
    sizes = [_size(inner) for region in op.regions for block in region.blocks for inner in block.ops]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    return _Size(sum(size.steps for size in known), max((size.depth for size in known), default=0))
