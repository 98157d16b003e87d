"""Take out of reductions what asks in every step how many results of a tile there are."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import memref
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr, Key, const, var
from tilework.algebra.predicate import Predicate
from tilework.analysis.domains import Scopes
from tilework.dialects.loop import ForOp, IfOp, KernelOp, Kind
from tilework.dialects.support.locations import copy_location
from tilework.transforms.loop.rewriting import constant_trip
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class Unswitch(PatternPass):
    """Put a loop in which unrolled loops ask where they end into branches, each for one number of their iterations.

    loop.for %k = 0 to 64 "k" {                         loop.if [%n - 2 >= 0] {
      loop.for %i = 0 to 2 "i" unrolled {                 loop.for %k = 0 to 64 "k" {
        loop.if [%n - %i - 1 >= 0] {               ->       loop.for %i = 0 to 2 "i" unrolled { .. } }
          ..                                            } else { .. loop.if [%n - 1 >= 0] .. %i = 0 to 1 .. }
        } } }

    What an unrolled loop asks depends on what is known before the loop, and does not become true again from one
    iteration to the next. The loop is the outermost serial one that allocates nothing. Branches of which it is known
    that they are taken, or that they are not, take no code. Copies end where the kernel has grown to `max_growth` times
    its operations, those of unrolled loops counted for each iteration.
    Requires simplified loops (`loop-simplify`) that are marked as unrolled (`loop-unroll`).
    """

    name = "loop-unswitch"
    anchor = KernelOp
    inserted_too: ClassVar = True  # branches may hold other questions

    max_growth: int = 4

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, KernelOp)
        growth = 0 if op.is_declaration else (self.max_growth - 1) * _expanded(op.body.block)
        return [BranchOnCount(growth, Scopes())]


@dataclass
class BranchOnCount(RewritePattern):
    """A loop that asks how many iterations count is a choice, once, between loops for each number of them.

    budget: by how many operations the kernel may still grow.
    """

    budget: int
    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        if op.kind.data is not Kind.SERIAL or any(isinstance(inner, memref.AllocaOp) for inner in op.body.walk()):
            return
        question = _question_of(op)
        if question is None:
            return
        scope = self.scopes.at(op)
        answers = [scope.proves(question.at(i)) for i in range(question.most)]
        certain = next((i for i, answer in enumerate(answers) if answer is not True), question.most)
        counts = [i + 1 for i in range(certain, question.most) if answers[i] is not False]
        cost = len(counts) * _expanded(op.body.block)
        if cost > self.budget:
            return
        self.budget -= cost
        branches: Operation = question.answered(op, certain)
        for count in counts:
            then, otherwise = (Region(Block([chosen])) for chosen in (question.answered(op, count), branches))
            branches = IfOp([question.at(count - 1)], then, otherwise)
            copy_location(branches, op)
        rewriter.replace(op, branches, [])


@dataclass(frozen=True)
class _Question:
    """Whether an iteration of an unrolled loop runs: where `left`, over that iteration as _ITERATION, is at least 0.

    most: the iterations. asking: the loops that ask it, by their places among the operations in the loop around them.
    """

    left: Expr
    most: int
    asking: Sequence[int]

    def at(self, iteration: int) -> Predicate:
        """The question for one iteration."""
        return Predicate(self.left.substitute({_ITERATION: const(iteration)}))

    def answered(self, loop: ForOp, count: int) -> ForOp:
        """A copy of the loop for where so many iterations run."""
        copy = loop.clone()
        operations = list(copy.walk())
        for inner in (operations[place] for place in reversed(self.asking)):
            assert isinstance(inner, ForOp)
            guard = inner.body.block.first_op
            assert isinstance(guard, IfOp)
            inner.set_bounds(0, count)
            for op in list(guard.then_body.block.ops):
                op.detach()
                inner.body.block.insert_op_before(op, guard)
            guard.detach()
            guard.erase()
            if count == 0:
                inner.detach()
                inner.erase()
        return copy


_ITERATION = "iteration"


def _question_of(loop: ForOp) -> _Question | None:
    """The first question in a loop, with all that ask it."""
    operations = list(loop.walk())
    made = {loop.index, *(v for op in operations if op is not loop for v in _made_by(op))}
    asked = [(place, _asked_by(op, made)) for place, op in enumerate(operations) if isinstance(op, ForOp)]
    first = next((question for _, question in asked if question is not None), None)
    return None if first is None else _Question(*first, [place for place, question in asked if question == first])


def _made_by(op: Operation) -> list[SSAValue]:
    return [*op.results, *(v for region in op.regions for block in region.blocks for v in block.args)]


def _asked_by(loop: ForOp, made: Set[Key]) -> tuple[Expr, int] | None:
    """What an unrolled loop asks about its iterations, and how many these are; None where that changes, or is more."""
    most, guard = constant_trip(loop), loop.body.block.first_op
    if loop.kind.data is not Kind.UNROLLED or most is None or most < 2 or loop.lower != const(0):
        return None
    if not isinstance(guard, IfOp) or guard.next_op is not None or len(guard.conditions) != 1 or guard.outputs:
        return None
    if any(block.first_op is not None for block in guard.else_body.blocks):
        return None
    [p] = guard.conditions
    if p.kind != ">=" or not p.expr.is_affine_in(loop.index) or p.expr.coefficient(loop.index) >= 0:
        return None
    left = p.expr.substitute({loop.index: var(_ITERATION)})
    return (left, most) if made.isdisjoint(left.variables()) else None


def _expanded(block: Block) -> int:
    """The operations in a block, of which there are so many once loops are unrolled."""
    return sum(_copies(op) * (1 + sum(_expanded(b) for r in op.regions for b in r.blocks)) for op in block.ops)


def _copies(op: Operation) -> int:
    return (constant_trip(op) or 1) if isinstance(op, ForOp) and op.kind.data is Kind.UNROLLED else 1
