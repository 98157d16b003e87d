"""Which machines a program is compiled for, where those who compile it say something too."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.program_targets import HOST, set_targets, targets_of
from tilework.targets import Target, target_to_compile_for


def choose_targets(module: ModuleOp, host: Target | None) -> None:
    """Write into a program the target that is given for the host; without one it keeps its own, or gets this machine.

    The targets of other devices stay. Raises UsageError for a machine that is not known.
    """
    declared = targets_of(module)
    chosen = target_to_compile_for(str(declared.get(HOST, "llvm"))) if host is None else host
    set_targets(module, declared | {HOST: chosen})
