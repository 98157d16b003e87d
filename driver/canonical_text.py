"""Text without what does not matter to what is made of it: the key under which code of kernels is kept."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import BlockArgument, Operation, OpResult
from xdsl.printer import Printer

from tilework.analysis.program_targets import DEVICE
from tilework.dialects.te import KernelOp


def canonical_text(kernel: KernelOp) -> str:
    """The kernel in generic syntax, renamed, its SSA values numbered, without locations and the device's name.

    Kernels with equal text compute the same from arguments of the same layout. Stages and axes keep their names, since
    a schedule refers to them.
    """
    anonymous = kernel.clone()
    anonymous.properties["sym_name"] = StringAttr("kernel")
    anonymous.attributes.pop(DEVICE, None)
    return nameless_text(anonymous)


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
