"""A case from a source of choices, and a smaller one that still fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.dialects.loop import Kind
from tilework.dialects.schedule import ArgumentOp, BindOp, EnvThreadsOp, SequenceOp, StageOp, TensorizeOp
from tilework.dialects.te import IntrinsicOp, KernelOp
from tilework.scheduling.dataflow.apply import PRIMITIVES as REWRITES
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.scheduling.state import read_schedule
from tilework.tools.fuzz.check import Outcome, check
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.programs import random_kernel
from tilework.tools.fuzz.schedules import random_schedule
from tilework.tools.fuzz.te_programs import random_te_program
from tilework.tools.fuzz.te_schedules import random_te_schedule

SIZES = (3, 1, 5, 0)
"""Values of the symbol."""


@dataclass(frozen=True)
class Case:
    """A kernel, a schedule of it, the value of its symbol, and the intrinsics that the schedule tensorizes by."""

    kernel: KernelOp
    sequence: SequenceOp
    size: int
    seed: int
    intrinsics: Sequence[IntrinsicOp] = ()
    shown: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The loops of each stage as Python shows them, of a schedule that was made there."""

    def run(self) -> Outcome:
        """Check it; a crash is a difference."""
        try:
            outcome = check(self.kernel, self.sequence, self.size, self.seed, self.intrinsics)
            return outcome if outcome.refused or outcome.difference else Outcome(difference=self._shown_wrong())
        except Exception as error:  # whatever escapes is a finding
            cause = error.__cause__ or error
            return Outcome(difference=f"{type(cause).__name__}: {cause}")

    def _shown_wrong(self) -> str | None:
        """Where the loops that Python shows are not those that the primitives make."""
        if not self.shown:
            return None
        kernel, sequence = self.kernel.clone(), self.sequence.clone()
        ModuleOp([*(declared.clone() for declared in self.intrinsics), kernel, sequence])
        apply_dataflow(kernel, sequence)
        for name, stage in read_schedule(kernel, sequence).stages.items():
            made = [axis.name for axis in stage.leaves]
            if made != list(self.shown[name]):
                return f"Python shows loops {', '.join(self.shown[name])} of '{name}', which are {', '.join(made)}"
        return None

    @property
    def rewrites_late(self) -> bool:
        """Whether a primitive rewrites te behind one that shapes loops, places a stage or asks something of it."""
        ops = [op for op in self.sequence.body.block.ops if not isinstance(op, StageOp | ArgumentOp)]
        kinds = [type(op) in REWRITES for op in ops]
        return any(kinds) and not all(kinds[: len(kinds) - kinds[::-1].index(True)])

    @property
    def tensorizes(self) -> bool:
        """Whether loops are to be an intrinsic."""
        return any(isinstance(op, TensorizeOp) for op in self.sequence.body.block.ops)

    @property
    def interleaves(self) -> bool:
        """Whether loops are virtual threads."""
        ops = self.sequence.body.block.ops
        return any(isinstance(op, BindOp | EnvThreadsOp) and op.thread.data == Kind.VIRTUAL for op in ops)

    def traits(self) -> list[str]:
        """What accepted cases are counted by."""
        return [
            name
            for name, holds in (
                ("rewrite te behind other primitives", self.rewrites_late),
                ("tensorize", self.tensorizes),
                ("have virtual threads", self.interleaves),
            )
            if holds
        ]

    @property
    def ops(self) -> list[Operation]:
        """What a module of the case holds."""
        return [*self.intrinsics, self.kernel, self.sequence]

    def smaller(self) -> Iterator[Case]:
        """The case without single primitives that nothing depends on, the last ones first."""
        for i in reversed(range(len(list(self.sequence.body.block.ops)))):
            candidate = _without(self, i)
            if candidate is not None:
                yield candidate

    def __str__(self) -> str:
        text = "\n".join(map(str, self.ops))
        return f"// symbol = {self.size}, data seed = {self.seed}\n{text}\n"


def random_case(draw: Draw, seed: int) -> Case:
    """A kernel and primitives in any order, as text or by the methods of the te language."""
    if draw.chance(40):
        return _te_case(draw, seed)
    kernel = random_kernel(draw)
    sequence, intrinsics = random_schedule(kernel, draw, seed)
    return Case(kernel, sequence, draw.choice(SIZES), seed, intrinsics)


def _te_case(draw: Draw, seed: int) -> Case:
    inputs, results = random_te_program(draw)
    s = random_te_schedule(draw, results, seed)
    read = [tensor for tensor in inputs if tensor.op in s.operations]
    made = [tensor for op in s.outputs for tensor in op.outputs]
    ops = list(s.module("fuzzed", [*read, *made]).ops)
    for op in ops:
        op.detach()
    *_, kernel, sequence = ops
    intrinsics = [op for op in ops if isinstance(op, IntrinsicOp)]
    assert isinstance(kernel, KernelOp) and isinstance(sequence, SequenceOp)
    shown = {stage.name: s.primitives.texts(stage.leaf_iter_vars) for stage in s.stages}
    return Case(kernel, sequence, draw.choice(SIZES), seed, intrinsics, shown)


def _without(case: Case, i: int) -> Case | None:
    """The case without its i-th primitive; None where something depends on that."""
    sequence = case.sequence.clone()
    op: Operation = list(sequence.body.block.ops)[i]
    if any(result.uses for result in op.results):
        return None
    op.detach()
    op.erase()
    return Case(case.kernel, sequence, case.size, case.seed, case.intrinsics)
