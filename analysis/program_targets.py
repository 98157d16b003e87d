"""Which machines a program is for: `tilework.targets` of its module, and the `device` of a group or kernel.

    builtin.module attributes {tilework.targets = {host = "llvm -mcpu=...", npu0 = "..."}} {
      te.kernel @dense(...) -> ... attributes {device = "npu0"} { ... }

A string in place of the dictionary is the host's target. What names no device runs on the host.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from tilework.dialects import loop, te
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.diagnostics import CompileError, UsageError, name_of
from tilework.targets import Target, parse_target

TARGETS = "tilework.targets"
DEVICE = "device"
HOST = "host"


def set_targets(module: ModuleOp, targets: Mapping[str, Target]) -> None:
    """Write the target of every device; those that the module named before are forgotten."""
    texts = {device: StringAttr(str(target)) for device, target in targets.items()}
    module.attributes[TARGETS] = texts[HOST] if texts.keys() == {HOST} else DictionaryAttr(texts)


def targets_of(module: ModuleOp) -> dict[str, Target]:
    """The target of every device that a module names. Raises CompileError for what names no machine."""
    declared = module.attributes.get(TARGETS)
    if isinstance(declared, StringAttr):
        declared = DictionaryAttr({HOST: declared})
    if declared is None:
        return {}
    if not isinstance(declared, DictionaryAttr):
        raise CompileError(f"{TARGETS} is a string, or a dictionary of strings by device, not {declared}", module)
    return {device: _parsed(text, device, module) for device, text in declared.data.items()}


def devices_around(op: Operation) -> dict[str, Target]:
    """The devices of the program that an operation is in, the host not among them."""
    return {device: target for device, target in targets_of(_module_around(op)).items() if device != HOST}


def device_of(op: Operation) -> str:
    """The device that a group or a kernel names, for itself and for what is inside of it; the host for all else."""
    around: Operation | None = op
    while around is not None and not isinstance(around, FusedOp | te.KernelOp | loop.KernelOp):
        around = around.parent_op()
    named = None if around is None else around.attributes.get(DEVICE)
    if named is not None and not isinstance(named, StringAttr):
        raise CompileError(f"the {DEVICE} of '{name_of(op)}' is a string, not {named}", op)
    return HOST if named is None else named.data


def is_on_host(op: Operation) -> bool:
    """Whether an operation runs on the host."""
    return device_of(op) == HOST


def target_of(op: Operation) -> Target:
    """The machine that an operation runs on.

    Raises CompileError where its module names none, since no pass may suppose that it is the one that compiles.
    """
    module = _module_around(op)
    targets, device = targets_of(module), device_of(op)
    if device in targets:
        return targets[device]
    if not targets:
        raise CompileError(
            f"the program names no target: give opt-tool --target=host for this machine, or write {TARGETS} into the "
            "attributes of the module",
            module,
        )
    raise CompileError(
        f"device '{device}' is not among the program's targets, which are {', '.join(targets)}: give opt-tool "
        f"--target={device}=TARGET, or add it to {TARGETS}",
        op,
    )


def moves_by_units(op: Operation, scope: str) -> bool:
    """Whether the machine that an operation runs on makes instructions of loops that touch a scope of intrinsics."""
    return bool(targets_of(_module_around(op))) and target_of(op).moves_by_units(scope)


def _module_around(op: Operation) -> ModuleOp:
    """The outermost module."""
    outermost = op
    while (parent := outermost.parent_op()) is not None:
        outermost = parent
    return outermost if isinstance(outermost, ModuleOp) else ModuleOp([])


def _parsed(text: object, device: str, module: ModuleOp) -> Target:
    if not isinstance(text, StringAttr):
        raise CompileError(f"{TARGETS} has {text} for device '{device}': a target is a string", module)
    try:
        return parse_target(text.data)
    except UsageError as error:
        raise CompileError(f"{TARGETS}, device '{device}': {error}", module) from None
