"""Loops around one computation become loops of the instruction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import DenseArrayBase, IndexType, i64
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.analysis.program_targets import target_of
from tilework.dialects import arith
from tilework.dialects.isa.vdla import StepsOp
from tilework.dialects.loop import ApplyOp
from tilework.dialects.loop.common import integers
from tilework.targets.vdla.target import VdlaTarget
from tilework.transforms.patterns import PatternPass
from tilework.transforms.vdla.values import computing, number_of

Numbers = tuple[int, ...]


@dataclass(frozen=True)
class FoldLoops(PatternPass):
    """Make loops around one computation the two loops of its instruction, and micro-operations of further ones.

    scf.for %i = %c0 to %c4 step %c1 {                   vdla.gemm %acc[%c0], %inp[%c0], %wgt[%c0]
      scf.for %k = %c0 to %c8 step %c1 {            ->       outer [4, 1, 8, 0] inner [8, 0, 1, 1] : ..
        vdla.gemm %acc[%i], %inp[8 * %i + %k], %wgt[%k]

    Loops whose steps are those of one loop become one. Where there are more than two, the innermost is written out as
    micro-operations, as long as all of the function have room in the memory of the target for them.
    Requires operations without tokens (before `vdla-insert-tokens`), and loops whose bounds are constants.
    """

    name = "vdla-fold-loops"
    anchor = func.FuncOp

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        count = sum(isinstance(inner, StepsOp) for inner in op.walk())
        room = VdlaTarget.of(target_of(op)).memories["uop"].depth if count else 0
        return [FoldLoop(room // max(count, 1))]

    def operations(self, op: Operation) -> Iterable[Operation]:
        """The loops of the anchor, inner ones first."""
        return reversed([inner for inner in op.walk() if isinstance(inner, scf.ForOp)])


@dataclass(frozen=True)
class FoldLoop(RewritePattern):
    """A loop that holds one computation is a loop of the instruction, or more micro-operations.

    most: so many micro-operations an instruction may have.
    """

    most: int

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        bounds = [number_of(bound).constant for bound in (op.lb, op.ub, op.step)]
        steps = _only_computation(op)
        if steps is None or None in bounds or op.iter_args:
            return
        lower, upper, step = (bound for bound in bounds if bound is not None)
        trip = -(-(upper - lower) // step)
        index = op.body.block.args[0]
        places = [at for at, operand in enumerate(steps.operands) if isinstance(operand.type, IndexType)]
        exprs = [number_of(steps.operands[at]) for at in places]
        moves = [e.coefficient(index) * step for e in exprs]
        if trip < 1 or not all(e.is_affine_in(index) for e in exprs) or min(moves) < 0:
            return
        moved = (trip, *moves, *[0] * (steps.SUBSCRIPTS - len(moves)))
        properties = _with_loop(steps, moved, self.most)
        if properties is None:
            return
        new = steps.clone()
        new.properties |= properties
        before = InsertPoint.before(op)
        for at, e in zip(places, exprs, strict=True):
            new.operands[at] = rewriter.insert(computing(e.substitute({index: lower})), before).results[0]
        rewriter.replace(op, new, [])


def _only_computation(loop: scf.ForOp) -> StepsOp | None:
    """The operation that a loop holds, besides subscripts; it has no tokens."""
    ops = [op for op in loop.body.block.ops if not isinstance(op, ApplyOp | arith.ConstantOp | scf.YieldOp)]
    op = ops[0] if len(ops) == 1 else None
    return op if isinstance(op, StepsOp) and not op.waits and not op.pushes else None


def _with_loop(op: StepsOp, loop: Numbers, most: int) -> dict[str, DenseArrayBase] | None:
    """The loops of an operation with one more around; None where that takes too many micro-operations."""
    inner, outer = (None if given is None else integers(given) for given in (op.inner, op.outer))
    ops = (0,) * op.SUBSCRIPTS if op.micro_ops is None else integers(op.micro_ops)
    if loop[0] == 1:
        return {}
    if inner is None:
        return _properties(loop, None, None)
    if outer is None:
        one = _joined(loop, inner)
        return _properties(inner, loop, None) if one is None else _properties(one, None, None)
    one = _joined(loop, outer)
    if one is not None:
        return _properties(inner, one, None)
    written = tuple(
        ops[at + subscript] + i * inner[1 + subscript]
        for i in range(inner[0])
        for at in range(0, len(ops), op.SUBSCRIPTS)
        for subscript in range(op.SUBSCRIPTS)
    )
    return None if len(written) > most * op.SUBSCRIPTS else _properties(outer, loop, written)


def _joined(around: Numbers, inside: Numbers) -> Numbers | None:
    """One loop that does what two do, if there is one."""
    same = around[1:] == tuple(inside[0] * step for step in inside[1:])
    return (around[0] * inside[0], *inside[1:]) if same else None


def _properties(inner: Numbers, outer: Numbers | None, ops: Numbers | None) -> dict[str, DenseArrayBase]:
    given = {"inner": inner, "outer": outer, "micro_ops": ops}
    return {name: DenseArrayBase.from_list(i64, list(numbers)) for name, numbers in given.items() if numbers}
