"""Which machines a program is for: `tilework.targets` of its module, and the `device` of a group or kernel.

    builtin.module attributes {tilework.targets = {host = "llvm -mcpu=...", npu0 = "..."}} {
      te.kernel @dense(...) -> ... attributes {device = "npu0"} { ... }

A string in place of the dictionary is the host's target. What names no device runs on the host.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from tilework.dialects.support.diagnostics import CompileError, UsageError
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


def device_of(op: Operation) -> str:
    """The device that an operation, or one around it, names."""
    around: Operation | None = op
    while around is not None:
        named = around.attributes.get(DEVICE)
        if isinstance(named, StringAttr):
            return named.data
        around = around.parent_op()
    return HOST


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
    raise CompileError(f"device '{device}' is not among the program's targets, which are {', '.join(targets)}", op)


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
