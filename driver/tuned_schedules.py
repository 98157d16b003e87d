"""Schedules that a search found, for the kernels of a program: they are looked up by what a kernel computes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.program_targets import target_of
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.dialects.te import KernelOp
from tilework.driver.canonical_text import canonical_text, renamed
from tilework.driver.kernels import schedules_of
from tilework.runtime.compile_report import CompileReport
from tilework.targets import Target


def tuning_key(kernel: KernelOp, target: Target) -> str:
    """What the best schedule of a kernel depends on: its text and the target."""
    return hashlib.sha256(f"{canonical_text(kernel)}\n{target}".encode()).hexdigest()


def bring_schedules(module: ModuleOp, tuned: Mapping[str, str], report: CompileReport) -> None:
    """Put behind every kernel that has no schedule the one that was found for it, if there is one.

    tuned: the texts of schedules, by `tuning_key`. The report says which kernels have such a schedule.
    """
    scheduled = schedules_of(module)
    for kernel in [op for op in module.ops if isinstance(op, KernelOp) and op not in scheduled]:
        text = tuned.get(tuning_key(kernel, target_of(kernel)))
        name = kernel.sym_name.data
        if text is None:
            report.untuned.append(name)
            continue
        report.tuned.append(name)
        module.body.block.insert_op_after(_parsed(text, kernel), kernel)


def _parsed(text: str, kernel: KernelOp) -> SequenceOp:
    """A schedule under the name of the kernel that it is for."""
    [op] = SourceParser(make_context(), text, "records").parse_module().ops
    assert isinstance(op, SequenceOp)
    *_, sequence = renamed(kernel, op, kernel.sym_name.data)
    assert isinstance(sequence, SequenceOp)
    return sequence
