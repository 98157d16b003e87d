"""Kernels get the schedules of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.analysis.verification import verify
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.dialects.support.source_parser import SourceParser
from tilework.dialects.te import KernelOp
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class ApplySchedule(TileworkPass):
    """Put every `schedule.sequence` of a file behind the kernel that it names.

    te.kernel @relu { te.compute "relu" [i: 64] }   ->   te.kernel @relu { ... }
                                                         schedule.sequence @relu { ... }   // from the file

    The file may hold kernels too, as a schedule printed from Python does; they are not looked at.
    This is an algorithm and no pattern: it reads a file.
    Requires te kernels, those of the file without a schedule; leaves them as they are, each with a sequence behind it.
    """

    name = "apply-schedule"
    anchor = ModuleOp

    file: str

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        kernels = {k.sym_name.data: k for k in op.ops if isinstance(k, KernelOp)}
        scheduled = {s.kernel_name for s in op.ops if isinstance(s, SequenceOp)}
        for sequence in _read(ctx, self.file):
            name = sequence.kernel_name
            if name not in kernels:
                known = ", ".join(f"@{k}" for k in kernels) or "none"
                raise CompileError(f"{self.file} schedules @{name}; the module's kernels are {known}", sequence)
            if name in scheduled:
                raise CompileError(f"{self.file} schedules @{name}, which has a schedule already", sequence)
            scheduled.add(name)
            sequence.detach()
            op.body.block.insert_op_after(sequence, kernels[name])


def _read(ctx: Context, file: str) -> Iterable[SequenceOp]:
    """The schedules of a file, in their order. Raises UsageError for a file without, ParseError for what is no IR."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the schedule file {file}: {error.strerror}") from None
    module = SourceParser(ctx, text, file).parse_module()
    verify(module)
    sequences = [s for s in module.ops if isinstance(s, SequenceOp)]
    if not sequences:
        raise UsageError(f"{file} holds no schedule.sequence")
    return sequences
