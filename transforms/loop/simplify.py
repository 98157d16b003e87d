"""Simplify loop nests by the ranges of their indices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Block, BlockArgument, Operation

from tilework.algebra.index_expr import Expr, Key, maximum, minimum
from tilework.algebra.predicate import Predicate
from tilework.analysis.domains import Scope, ends_from, kernel_scope, tightened
from tilework.dialects.loop import ApplyOp, ForOp, IfOp, KernelOp, Kind, KindAttr
from tilework.transforms.base import TileworkPass
from tilework.transforms.loop.dead_code import erase_dead
from tilework.transforms.loop.rewriting import (
    constant_trip,
    guarded,
    inline_before,
    materialize_indices,
    rewrite_indices,
)


@dataclass(frozen=True)
class Simplify(TileworkPass):
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

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return
        Simplifier().block(op.body.block, kernel_scope(op))
        erase_dead(op)


class Simplifier:
    """One walk over a nest, outer operations before and after inner ones.

    `values` holds what stands for the indices of loops that are gone, and for the results of `loop.apply`.
    """

    def __init__(self) -> None:
        self.values: dict[Key, Expr] = {}

    def block(self, block: Block, scope: Scope) -> None:
        """Simplify what a block holds."""
        for op in list(block.ops):
            self.operation(op, scope)

    def operation(self, op: Operation, scope: Scope) -> None:
        """Simplify one operation and what it holds; it may be replaced or erased."""
        match op:
            case ForOp():
                self.loop(op, scope)
            case IfOp():
                self.condition(op, scope)
            case ApplyOp():
                rewrite_indices(op, lambda e: self._simplified(e, scope))
                self.values[op.result] = op.value
            case _:
                rewrite_indices(op, lambda e: self._simplified(e, scope))
                materialize_indices(op, {k: v for k, v in self.values.items() if isinstance(k, BlockArgument)})

    def _simplified(self, e: Expr, scope: Scope) -> Expr:
        return scope.domain.simplify(e.substitute(self.values) if self.values else e)

    # -- loops

    def loop(self, loop: ForOp, scope: Scope) -> None:
        """Simplify a loop: gone where it never runs, its body where it runs once."""
        rewrite_indices(loop, lambda e: self._simplified(e, scope))
        if loop.when is not None:
            conditions, decided = _undecided(loop.conditions, scope)
            loop.set_bounds(loop.lower, loop.upper, conditions)
            if decided is False:  # one thread runs it
                loop.properties["kind"] = KindAttr(Kind.SERIAL)
        least, most = scope.domain.lower(loop.extent), scope.domain.upper(loop.extent)
        if most is not None and most <= 0:
            _erase(loop)
            return
        if least == most == 1:
            self.values[loop.index] = loop.lower
            self.block(loop.body.block, scope)
            inline_before(loop, loop.body.block)
            return
        self.block(loop.body.block, scope.inside_loop(loop.index, loop.lower, loop.upper))
        guard = _only_operation(loop.body.block)
        if loop.body.block.is_empty:
            _erase(loop)
        elif isinstance(guard, IfOp) and not guard.else_body.blocks and not guard.outputs:
            self._absorb_guard(loop, guard, scope)

    def _absorb_guard(self, loop: ForOp, guard: IfOp, scope: Scope) -> None:
        """Conditions around the whole body become bounds of the loop, or a guard of the loop."""
        conditions = guard.conditions
        invariant = [p for p in conditions if loop.index not in p.expr.variables()]
        lower, upper, inside = _narrowed_bounds(loop, [p for p in conditions if p not in invariant], scope)
        if len(inside) == len(conditions):
            return
        if inside:
            guard.set_conditions(inside)
        else:
            inline_before(guard, guard.then_body.block)
        if invariant:
            guarded(loop, invariant)
        loop.set_bounds(lower, upper)
        if (trip := constant_trip(loop)) is not None and trip <= 1:
            self.loop(loop, scope.inside_if(invariant))

    # -- conditions

    def condition(self, op: IfOp, scope: Scope) -> None:
        """Simplify a conditional: one branch where it is decided, else fewer conditions."""
        rewrite_indices(op, lambda e: self._simplified(e, scope))
        conditions, decided = _undecided(op.conditions, scope)
        if decided is not None:
            taken = op.then_body if decided else op.else_body
            if not taken.blocks:
                _erase(op)
                return
            self.block(taken.block, scope)
            inline_before(op, taken.block)
            return
        if conditions != op.conditions:
            op.set_conditions(conditions)
        self.block(op.then_body.block, scope.inside_if(conditions))
        if op.else_body.blocks:
            self.block(op.else_body.block, scope.inside_else(conditions))
            return
        inner = _only_operation(op.then_body.block)
        if op.then_body.block.is_empty:
            _erase(op)
        elif isinstance(inner, IfOp) and not inner.else_body.blocks:
            op.set_conditions(_merged((*conditions, *inner.conditions)))
            inline_before(inner, inner.then_body.block)


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
    """The loop's bounds narrowed by conditions on its index, and the conditions that cannot be a bound.

    An unrolled loop takes constant bounds only: a trip count that is known at run time only would keep it rolled.
    """
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


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
