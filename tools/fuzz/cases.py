"""A case from a source of choices, and a smaller one that still fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Operation

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te import KernelOp
from tilework.tools.fuzz.check import Outcome, check
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.programs import random_kernel
from tilework.tools.fuzz.schedules import random_schedule

SIZES = (3, 1, 5, 0)
"""Values of the symbol."""


@dataclass(frozen=True)
class Case:
    """A kernel, a schedule of it, and the value of its symbol."""

    kernel: KernelOp
    sequence: SequenceOp
    size: int
    seed: int

    def run(self) -> Outcome:
        """Check it; a crash is a difference."""
        try:
            return check(self.kernel, self.sequence, self.size, self.seed)
        except Exception as error:  # whatever escapes is a finding
            cause = error.__cause__ or error
            return Outcome(difference=f"{type(cause).__name__}: {cause}")

    def __str__(self) -> str:
        return f"// symbol = {self.size}, data seed = {self.seed}\n{self.kernel!s}\n{self.sequence!s}\n"


def random_case(draw: Draw, seed: int) -> Case:
    """A kernel and up to a dozen primitives."""
    kernel = random_kernel(draw)
    return Case(kernel, random_schedule(kernel, draw), draw.choice(SIZES), seed)


def shrink(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Drop primitives one by one, the last first, as long as the case still fails."""
    smaller = True
    while smaller:
        smaller = False
        for i in reversed(range(len(list(case.sequence.body.block.ops)))):
            candidate = _without(case, i)
            if candidate is not None and fails(candidate):
                case, smaller = candidate, True
                break
    return case


def _without(case: Case, i: int) -> Case | None:
    """The case without its i-th primitive; None where something depends on that."""
    sequence = case.sequence.clone()
    op: Operation = list(sequence.body.block.ops)[i]
    if any(result.uses for result in op.results):
        return None
    op.detach()
    op.erase()
    return Case(case.kernel, sequence, case.size, case.seed)
