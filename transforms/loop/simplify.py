"""Simplify loop nests by the ranges of their indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Block, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr, maximum, minimum
from tilework.algebra.predicate import Predicate
from tilework.analysis.domains import Scope, Scopes, ends_from, tightened
from tilework.dialects.loop import DEVICE_THREADS, ApplyOp, ForOp, IfOp, KernelOp, Kind, KindAttr, LoadOp, StoreOp
from tilework.dialects.loop.buffer_regions import BufferRegionsOp
from tilework.dialects.support.inlining import replace_by_block
from tilework.transforms.loop.dead_code import EraseUnread, EraseUnused, erase_dead
from tilework.transforms.loop.rewriting import (
    constant_trip,
    guarded,
    materialize_index,
    rewrite_indices,
    substitute_index,
)
from tilework.transforms.patterns import Interested, PatternPass, try_patterns


@dataclass(frozen=True)
class Simplify(PatternPass):
    """Simplify bounds, subscripts and conditions by the ranges of the indices, and drop what has no effect.

    loop.for %i = 0 to 16 "i" {                     loop.for %i = 0 to 5 "i" {
      loop.for %j = 0 to 1 "j" {               ->     loop.store %v, %y[%i] : memref<16xf32>
        loop.if [%i >= 0, -%i + 4 >= 0] {           }
          loop.store %v, %y[%i + %j] : memref<16xf32>

    Conditions that always hold are dropped, branches that are never taken erased; a condition that guards a whole loop
    body becomes a bound of the loop, or moves out of the loop where the index does not matter; loops that run once are
    replaced by their body. Unused values, and local buffers that are never read, go.
    Requires nothing; leaves every loop with a body and every condition undecided.
    """

    name = "loop-simplify"
    anchor = KernelOp

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        scopes = Scopes()
        return [*before_body(scopes), *after_body(scopes), EraseUnread(), EraseUnused()]

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return
        Simplifier().block(op.body.block)
        erase_dead(op)


class Simplifier:
    """One walk over a nest that tries patterns on each operation before what it holds, and others after that.

    So what is around an operation is as simple as it gets when the operation is looked at.
    """

    def __init__(self) -> None:
        self.scopes = Scopes()
        self.before = Interested(before_body(self.scopes))
        self.after = Interested(after_body(self.scopes))

    def block(self, block: Block) -> None:
        """Simplify what a block holds."""
        self.scopes.forget(block)
        for op in list(block.ops):
            self.operation(op)

    def operation(self, op: Operation) -> None:
        """Simplify one operation and what it holds; it may be replaced or erased."""
        if not isinstance(op, ForOp | IfOp):
            try_patterns(op, self.before)
            return
        block, before, after = op.parent, op.prev_op, op.next_op
        assert block is not None
        try_patterns(op, self.before)
        if op.parent is None:
            self._between(block, before, after)
            return
        for region in op.regions:
            for inner in region.blocks:
                self.block(inner)
        try_patterns(op, self.after)
        if _is_left_for_short(op):
            self.operation(op)

    def _between(self, block: Block, before: Operation | None, after: Operation | None) -> None:
        """Simplify what has taken the place of an operation."""
        op = block.first_op if before is None else before.next_op
        while op is not after:
            assert op is not None
            following = op.next_op
            self.operation(op)
            op = following


def _is_left_for_short(op: Operation) -> bool:
    """Whether an operation is a loop of one iteration at most, which it is only since a guard is a bound of it."""
    if not isinstance(op, ForOp) or op.parent is None or op.kind.data in DEVICE_THREADS:
        return False
    trip = constant_trip(op)
    return trip is not None and trip <= 1


def before_body(scopes: Scopes) -> Sequence[RewritePattern]:
    """The patterns that an operation is looked at with before what it holds."""
    return [
        SimplifyIndices(scopes),
        ReadAppliedIndex(),
        DecideThreads(scopes),
        EraseIdleLoop(scopes),
        InlineSingleIteration(scopes),
        DecideConditions(scopes),
    ]


def after_body(scopes: Scopes) -> Sequence[RewritePattern]:
    """The patterns that an operation is looked at with when what it holds is simple."""
    return [EraseEmptyBody(), GuardToBounds(scopes), MergeNestedConditions()]


# -- index expressions


@dataclass(frozen=True)
class SimplifyIndices(RewritePattern):
    """An index expression is the simplest one of which the ranges of the indices around it prove that it is equal."""

    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: LoadOp | StoreOp | BufferRegionsOp | ForOp | IfOp | ApplyOp, rewriter: PatternRewriter
    ) -> None:
        if rewrite_indices(op, self.scopes.at(op).domain.simplify):
            rewriter.notify_op_modified(op)


class ReadAppliedIndex(RewritePattern):
    """What index expressions read of a `loop.apply` is the expression that it applies."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ApplyOp, rewriter: PatternRewriter) -> None:
        if substitute_index(op.result, op.value):
            rewriter.notify_op_modified(op)


# -- loops


@dataclass(frozen=True)
class DecideThreads(RewritePattern):
    """Conditions for several threads that always hold go; where they never do, one thread runs the loop."""

    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        if op.when is None:
            return
        conditions, decided = _undecided(op.conditions, self.scopes.at(op))
        if conditions == op.conditions:
            return
        op.set_bounds(op.lower, op.upper, conditions)
        if decided is False:
            op.properties["kind"] = KindAttr(Kind.SERIAL)
        rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class EraseIdleLoop(RewritePattern):
    """A loop of no iterations is nothing."""

    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        most = self.scopes.at(op).domain.upper(op.extent)
        if most is not None and most <= 0:
            rewriter.erase(op)


@dataclass(frozen=True)
class InlineSingleIteration(RewritePattern):
    """A loop of one iteration is its body, with the lower bound for the index; but threads are launched even so."""

    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        domain, extent = self.scopes.at(op).domain, op.extent
        if domain.lower(extent) != 1 or domain.upper(extent) != 1:
            return
        body, lower = op.body.block, op.lower
        substitute_index(op.index, lower)
        if op.kind.data in DEVICE_THREADS:
            return
        materialize_index(op.index, lower)
        body.erase_arg(op.index)
        replace_by_block(op, body, rewriter)


class EraseEmptyBody(RewritePattern):
    """A loop or a conditional that does nothing is nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp | IfOp, rewriter: PatternRewriter) -> None:
        body = op.body if isinstance(op, ForOp) else op.then_body
        has_other = isinstance(op, IfOp) and op.else_body.blocks
        if body.block.is_empty and not has_other:
            rewriter.erase(op)


@dataclass(frozen=True)
class GuardToBounds(RewritePattern):
    """A condition around all that a loop does is a bound of the loop, or goes around it if it is on outer indices.

    An unrolled loop takes constant bounds only: a trip count that is known at run time only would keep it rolled. A
    loop over threads keeps its bounds, which are how many are launched.
    """

    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        guard = _only_operation(op.body.block)
        if op.kind.data in DEVICE_THREADS or not isinstance(guard, IfOp) or guard.else_body.blocks or guard.outputs:
            return
        conditions = guard.conditions
        invariant = [p for p in conditions if op.index not in p.expr.variables()]
        on_index = [p for p in conditions if p not in invariant]
        lower, upper, inside = _narrowed_bounds(op, on_index, self.scopes.at(op))
        if len(inside) == len(conditions):
            return
        if inside:
            guard.set_conditions(inside)
        else:
            replace_by_block(guard, guard.then_body.block, rewriter)
        if invariant:
            guarded(op, invariant)
        op.set_bounds(lower, upper)
        rewriter.notify_op_modified(op)


# -- conditions


@dataclass(frozen=True)
class DecideConditions(RewritePattern):
    """Conditions that always hold, or that others imply, go; a conditional that is decided is the branch that runs."""

    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        conditions, decided = _undecided(op.conditions, self.scopes.at(op))
        if decided is None:
            if conditions != op.conditions:
                op.set_conditions(conditions)
                rewriter.notify_op_modified(op)
            return
        taken = op.then_body if decided else op.else_body
        if taken.blocks:
            replace_by_block(op, taken.block, rewriter)
        else:
            rewriter.erase(op)


class MergeNestedConditions(RewritePattern):
    """A conditional that is all that another one holds is one with the conditions of both."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter) -> None:
        inner = None if op.else_body.blocks else _only_operation(op.then_body.block)
        if not isinstance(inner, IfOp) or inner.else_body.blocks:
            return
        op.set_conditions(_merged((*op.conditions, *inner.conditions)))
        replace_by_block(inner, inner.then_body.block, rewriter)


def _undecided(conditions: Iterable[Predicate], scope: Scope) -> tuple[tuple[Predicate, ...], bool | None]:
    """The conditions that the scope leaves open, and the truth of all of them where it is known.

    One that those before it imply, or contradict, is known too.
    """
    left: list[Predicate] = []
    for p in _merged(map(tightened, conditions)):
        verdict = scope.proves(p)
        if verdict is False:
            return (), False
        if verdict is None:
            left.append(p)
            scope = scope.inside_if([p])
    return tuple(left), None if left else True


def _merged(conditions: Iterable[Predicate]) -> tuple[Predicate, ...]:
    """Each condition once; of those `>=` that differ by a constant, the strictest."""
    strictest: dict[tuple[str, Expr], Predicate] = {}
    for p in conditions:
        linear = Expr(p.expr.terms, 0) if p.kind == ">=" else p.expr
        known = strictest.get((p.kind, linear))
        if known is None or p.expr.offset < known.expr.offset:
            strictest[p.kind, linear] = p
    return tuple(strictest.values())


def _narrowed_bounds(loop: ForOp, conditions: Iterable[Predicate], scope: Scope) -> tuple[Expr, Expr, list[Predicate]]:
    """The loop's bounds narrowed by conditions on its index, and the conditions that cannot be a bound."""
    lower, upper = loop.lower, loop.upper
    left: list[Predicate] = []
    for p in conditions:
        first, last = ends_from(p, loop.index)
        new_lower = lower if first is None else scope.domain.simplify(maximum(lower, first))
        new_upper = upper if last is None else scope.domain.simplify(minimum(upper, last + 1))
        constant = (new_lower - lower).is_constant and (new_upper - upper).is_constant
        if (first is None and last is None) or (loop.kind.data is Kind.UNROLLED and not constant):
            left.append(p)
        else:
            lower, upper = new_lower, new_upper
    return lower, upper, left


def _only_operation(block: Block) -> Operation | None:
    return block.first_op if block.first_op is block.last_op else None
