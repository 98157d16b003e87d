"""Let the steps of a register tile follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.bounds import Domain
from tilework.analysis.accesses import element_position, memory_space
from tilework.analysis.domains import loops_around
from tilework.dialects.loop import ForOp, IfOp, KernelOp, Kind, LoadOp, StoreOp
from tilework.dialects.loop.annotations import UNROLL_FACTOR
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class UnrollSteps(PatternPass):
    """Ask that several steps of a register tile follow each other without a jump.

    loop.for %k = 0 to 512 "k" {                           loop.for %k = 0 to 512 "k"
      loop.for %i = 0 to 6 "i" unrolled {                      attributes {loop.unroll_factor = 4 : i64} {
        ..                                          ->       loop.for %i = 0 to 6 "i" unrolled {
        loop.store %s, %acc[16 * %i]                           ..
          : memref<96xf32, "register">

    A step is an iteration that adds to registers and holds no loop that stays: `factor` of them are one iteration, or
    all, if there are at most `all_of`. But 1 where a step loads what one of those before it did, as windows that
    overlap do: it would be kept in a register until then, for which a full tile has none.
    Requires unrolled loops to be marked (`loop-unroll`); leaves the same loops, some with an attribute.
    """

    name = "loop-unroll-steps"
    anchor = KernelOp

    factor: int = 4
    all_of: int = 8

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        return [RepeatStep(self.factor, self.all_of)]


@dataclass(frozen=True)
class RepeatStep(RewritePattern):
    """A loop of n steps of a register tile is one of n / factor iterations of so many steps, and of what is left.

    all_of: of a loop of at most so many steps all are one iteration.
    """

    factor: int
    all_of: int

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        factor = self._factor(op) if _is_step(op) else None
        if factor is None:
            return
        shared = _steps_share_loads(op, factor)
        op.attributes[UNROLL_FACTOR] = IntegerAttr(1 if shared else factor, i64)
        rewriter.notify_op_modified(op)

    def _factor(self, loop: ForOp) -> int | None:
        """How many iterations to make one; None where there are few, and nobody knows how many."""
        most = Domain().upper(loop.extent)
        if most is None or most > self.all_of:
            return self.factor
        return most if loop.extent.is_constant else None


def _is_step(loop: ForOp) -> bool:
    """Whether each iteration of a loop is straight-line code that adds to registers."""
    inside = list(loop.body.walk())
    if loop.kind.data is not Kind.SERIAL or any(isinstance(op, IfOp) for op in inside):
        return False
    if any(isinstance(op, ForOp) and op.kind.data is not Kind.UNROLLED for op in inside):
        return False
    if any(isinstance(op, memref.AllocaOp) for op in inside):
        return False  # a whole tile
    return any(isinstance(op, StoreOp) and memory_space(op.memref) == "register" for op in inside)


def _steps_share_loads(loop: ForOp, count: int) -> bool:
    """Whether two of so many steps in a row load the same element, or nobody can tell."""
    loads = [op for op in loop.body.walk() if isinstance(op, LoadOp) and memory_space(op.memref) != "register"]
    return any(_is_shared(load, loop, count) for load in loads)


def _is_shared(load: LoadOp, loop: ForOp, count: int) -> bool:
    position = element_position(load)
    unrolled = [op for op in loops_around(load, loop) if op.index in position.variables()]
    if not all(position.is_affine_in(op.index) for op in (loop, *unrolled)):
        return True
    step = position.coefficient(loop.index)
    if step == 0:
        return False  # of all steps: loaded before them
    extents = [op.extent.constant for op in unrolled]
    apart = [range(1 - (extent or 1), extent or 1) for extent in extents]
    reached = {
        sum(i * position.coefficient(op.index) for i, op in zip(at, unrolled, strict=True)) for at in product(*apart)
    }
    return None in extents or any(step * distance in reached for distance in range(1, count))
