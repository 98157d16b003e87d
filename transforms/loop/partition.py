"""Split loops where conditions inside them change their truth."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.algebra.index_expr import Expr, maximum, minimum, var
from tilework.algebra.predicate import Predicate
from tilework.analysis.domains import Scope, kernel_scope, scope_of_block
from tilework.analysis.split_points import certain_conditions, certain_range
from tilework.dialects.loop import THREADS, ForOp, IfOp, KernelOp, Kind
from tilework.dialects.loop.annotations import MASKED, WHOLE
from tilework.dialects.support.locations import copy_location
from tilework.transforms.base import TileworkPass
from tilework.transforms.loop.rewriting import constant_trip, restricted_copies
from tilework.transforms.loop.simplify import Simplifier


@dataclass(frozen=True)
class Partition(TileworkPass):
    """Split loops where conditions inside them change their truth, so that most iterations ask nothing.

    loop.for %x = 0 to 58 "x" {                        loop.for %x = 0 to 1 "x" { .. 0 .. }
      %v = loop.if [%x - 1 >= 0, 56 - %x >= 0] {  ->   loop.for %x = 1 to 57 "x" { .. load .. }
        load } else { 0 }                              loop.for %x = 57 to 58 "x" { .. 0 .. }

    A condition may use inner indices: it is certain where it holds for all of them. The minimum or maximum in the bound
    of a vectorized or unrolled loop counts as a condition, so that its extent is constant most of the time; with the
    hint `partition`, that of any inner loop. A parallel loop, and one over threads, stays whole: its body gets a branch
    without conditions instead. So does that of a serial one with the hint where quotients of its index decide. If only
    the first and the last iteration are left, each gets one, too, where it decides how long vectorized or unrolled
    loops are, or which of their iterations count.
    An unrolled loop is split with the hint only, its index is a constant anyway; one marked `loop.whole` is not.
    Copies end where the kernel has grown to `max_growth` times its operations; conditions are left then.
    This is an algorithm and no pattern: where to cut a loop depends on how the loops around it have been cut, and how
    much the kernel may still grow.
    Requires simplified loops (`loop-simplify`); leaves simplified ones.
    """

    name = "loop-partition"
    anchor = KernelOp

    max_growth: int = 16

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if not op.is_declaration:
            size = sum(1 for _ in op.body.walk())
            _Partitioner((self.max_growth - 1) * size).block(op.body.block, kernel_scope(op))


class _Partitioner:
    """Outermost loops first, so that a copy of an inner loop can be simpler than the original."""

    def __init__(self, budget: int):
        self.budget = budget
        self.finished: set[ForOp] = set()
        self.branched: set[ForOp] = set()
        self.simplifier = Simplifier()

    def block(self, block: Block, scope: Scope) -> None:
        for op in list(block.ops):
            self._operation(op, scope)

    def _operation(self, op: Operation, scope: Scope) -> None:
        if isinstance(op, ForOp) and self._split(op, scope):
            return
        for region in op.regions:
            for block in region.blocks:
                self.block(block, scope_of_block(block, scope))

    def _split(self, loop: ForOp, scope: Scope) -> bool:
        """Split a loop, and what is left of it further; False where it is left as it is."""
        block, before, after = loop.parent_block(), loop.prev_op, loop.next_op
        assert block is not None
        if WHOLE in loop.attributes:
            pieces = []
        elif loop.kind.data in (Kind.PARALLEL, *THREADS):
            pieces = self._branch(loop, scope)
        elif loop.kind.data is Kind.UNROLLED and loop.partition is None:
            pieces = []
        else:
            pieces = self._cut(loop, scope)
            if not pieces and _asks_for_quotients(loop, scope):
                pieces = self._branch(loop, scope)
        self.simplifier.scopes.learn(block, scope)
        for piece in pieces:
            self.simplifier.operation(piece)
        op = block.first_op if before is None else before.next_op
        while pieces and op is not after:
            assert op is not None
            following = op.next_op
            self._operation(op, scope)
            op = following
        return bool(pieces)

    def _cut(self, loop: ForOp, scope: Scope) -> list[ForOp]:
        """The loops, up to three, that stand in place of one; none where that does not pay."""
        certain = None if loop in self.finished else certain_range(loop, scope)
        if certain is None:
            return []
        first, end = certain
        if MASKED in loop.attributes and not ((first - loop.lower).is_constant and (end - loop.lower).is_constant):
            return []  # masks say which lanes: of a vector in registers, no part can be chosen at run time
        # where the symbols leave nothing certain, the first part is all of the loop
        before = scope.domain.simplify(minimum(first, loop.upper))
        after = scope.domain.simplify(maximum(end, before))
        ranges = [
            (lower, upper)
            for lower, upper in ((loop.lower, before), (first, end), (after, loop.upper))
            if not scope.domain.is_empty(upper - lower)
        ]
        if len(ranges) < 2 or not self._afford(loop, len(ranges) - 1):
            return []
        pieces = restricted_copies(loop, ranges)
        # what is left is cut again where the cuts are constants; others would pile up minima
        self.finished |= {piece for piece in pieces if constant_trip(piece) is None}
        return pieces

    def _branch(self, loop: ForOp, scope: Scope) -> list[ForOp]:
        """The loop with several bodies, one of them for where all conditions are certain."""
        conditions = certain_conditions(loop, scope)
        if not conditions or loop in self.branched or not self._afford(loop, 1):
            return []
        self.branched.add(loop)
        ends = _ends_left(loop, conditions, scope)
        _branch_on(loop, conditions, ends if len(ends) < 2 or self._afford(loop, 1) else [])
        return [loop]

    def _afford(self, loop: ForOp, copies: int) -> bool:
        cost = copies * sum(1 for _ in loop.walk())
        if cost > self.budget:
            return False
        self.budget -= cost
        return True


def _asks_for_quotients(loop: ForOp, scope: Scope) -> bool:
    """Whether a serial loop with the hint has conditions that change their truth at no single places."""
    if loop.partition is None or loop.kind.data is not Kind.SERIAL:
        return False
    return any(not p.expr.is_affine_in(loop.index) for p in certain_conditions(loop, scope))


def _ends_left(loop: ForOp, conditions: list[Predicate], scope: Scope) -> list[Expr]:
    """The first iteration, the last one or both, where these are all that conditions leave and are worth code."""
    if not _decides_how_many(loop):
        return []
    certain = certain_range(loop, scope)
    if certain is None:
        return [loop.lower, loop.lower + 1] if constant_trip(loop) == 2 else []
    first, end = certain
    inside = scope.inside_loop(loop.index, first, end)
    left = [(lower, upper) for lower, upper in ((loop.lower, first), (end, loop.upper)) if lower != upper]
    single = all(lower.is_constant and upper == lower + 1 for lower, upper in left)
    return [lower for lower, _ in left] if single and all(inside.proves(p) for p in conditions) else []


def _decides_how_many(loop: ForOp) -> bool:
    """Whether its index says how long vectorized or unrolled loops inside are, or which of their iterations count.

    A constant number of them is worth code of its own.
    """
    inner = [
        op for op in loop.body.walk() if isinstance(op, ForOp) and op.kind.data in (Kind.VECTORIZED, Kind.UNROLLED)
    ]
    return any(loop.index in f.extent.variables() or _is_asked_for(f, loop) for f in inner)


def _is_asked_for(inner: ForOp, loop: ForOp) -> bool:
    """Whether a condition depends on both indices."""
    conditions = (p for op in inner.body.walk() if isinstance(op, IfOp) for p in op.conditions)
    return any({inner.index, loop.index} <= {*p.expr.variables()} for p in conditions)


def _branch_on(loop: ForOp, conditions: list[Predicate], ends: list[Expr]) -> None:
    """Put the body into a branch on `conditions`, and what `_rest` gives into the other branch."""
    usual, rest, body = Region(Block()), Region(_rest(loop, ends)), loop.body.block
    for op in list(body.ops):
        op.detach()
        usual.block.add_op(op)
    guard = IfOp(conditions, usual, rest)
    copy_location(guard, loop)
    body.add_op(guard)


def _rest(loop: ForOp, ends: list[Expr]) -> Block:
    """A copy of the body, or one for each of the iterations `ends`, in which the index is known."""
    if not ends:
        return Block(_copied(loop, {}))
    singles = [ForOp(at, at + 1, loop.axis.data) for at in ends]
    for single in singles:
        single.body.block.add_ops(_copied(loop, {loop.index: single.index}))
        copy_location(single, loop)
    if len(singles) == 1:
        return Block(singles)
    first, last = singles
    guard = IfOp([Predicate(first.lower - var(loop.index))], Region(Block([first])), Region(Block([last])))
    copy_location(guard, loop)
    return Block([guard])


def _copied(loop: ForOp, mapping: dict[SSAValue, SSAValue]) -> list[Operation]:
    return [op.clone(mapping) for op in loop.body.block.ops]
