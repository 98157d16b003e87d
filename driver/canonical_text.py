"""Text without what does not matter to what is made of it: the key under which code of kernels is kept."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import BlockArgument, Operation, OpResult
from xdsl.printer import Printer

from tilework.analysis.program_targets import DEVICE
from tilework.dialects import loop, te
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te.intrinsics import declarations_used


def canonical_text(kernel: te.KernelOp | loop.KernelOp, schedule: SequenceOp | None = None) -> str:
    """The kernel in generic syntax, renamed, its SSA values numbered, without locations and the device's name.

    Kernels with equal text compute the same from arguments of the same layout. Stages and axes keep their names, since
    a schedule refers to them. A schedule that the kernel brings along stands behind it.
    """
    return "\n".join(map(nameless_text, renamed(kernel, schedule, "kernel")))


def renamed(kernel: te.KernelOp | loop.KernelOp, schedule: SequenceOp | None, name: str) -> list[Operation]:
    """Copies of a kernel, and of its schedule if it has one, under another name and without the device's.

    In front of them are copies of the intrinsics that the program declares and that they use.
    """
    declared = declarations_used(*(op for op in (kernel, schedule) if op is not None))
    intrinsics: list[Operation] = [declaration.clone() for declaration in declared]
    copy = kernel.clone()
    copy.properties["sym_name"] = StringAttr(name)
    copy.attributes.pop(DEVICE, None)
    if schedule is None:
        return [*intrinsics, copy]
    sequence = schedule.clone()
    sequence.properties["kernel"] = SymbolRefAttr(name)
    return [*intrinsics, copy, sequence]


def nameless_text(op: Operation) -> str:
    """An operation in generic syntax without locations; its SSA values lose their names."""
    for inside in op.walk():
        _forget_names(inside)
    stream = StringIO()
    Printer(stream, print_generic_format=True, print_debuginfo=False).print_op(op)
    return stream.getvalue()


def _forget_names(op: Operation) -> None:
    values: list[OpResult | BlockArgument] = list(op.results)
    for region in op.regions:
        for block in region.blocks:
            values += block.args
    for value in values:
        value.name_hint = None
