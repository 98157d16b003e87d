"""The targets that a caller gives, written over what a program names."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.program_targets import HOST, set_targets, targets_of
from tilework.backends.host_signature import HOST_FUNCTION
from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.interpreters.graph import find_function
from tilework.targets import HOST as THIS_MACHINE
from tilework.targets import Target, parse_target, target_to_compile_for


def choose_targets(module: ModuleOp, given: Mapping[str, Target]) -> None:
    """Write into a program the targets that are given by device; those of other devices stay as they are.

    The host of a program that names none is this machine. So is that of a model for a machine which runs all kernels
    and nothing else, such as a GPU: that is a device beside it, "opencl0" for "opencl". Raises CompileError for a
    machine that is not known.
    """
    chosen = {HOST: parse_target(THIS_MACHINE), **targets_of(module), **given}
    main, target = find_function(module, HOST_FUNCTION), chosen[HOST]
    if main is not None and not main.is_declaration and target.takes_every_kernel:
        devices = {device: machine for device, machine in chosen.items() if device != HOST}
        chosen = {HOST: parse_target(THIS_MACHINE), f"{target.kind}0": target, **devices}
    for device, target in chosen.items():
        try:
            target_to_compile_for(str(target))
        except UsageError as error:
            raise CompileError(f"the target of '{device}': {error}", module) from None
    set_targets(module, chosen)
