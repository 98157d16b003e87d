"""A kernel and its schedule as loops in which knobs are symbols."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp

from tilework.dialects import loop
from tilework.dialects.schedule import SequenceOp, set_knobs
from tilework.dialects.support.registration import make_context
from tilework.dialects.te import IntrinsicOp, KernelOp
from tilework.lowering.schedule_to_loop import lower_kernel
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.scheduling.open_knobs import OpenKnobs
from tilework.transforms.loop.rewrite_unsafe_select import RewriteUnsafeSelect
from tilework.transforms.loop.simplify import Simplify
from tilework.transforms.loop.skip_padding import SkipPadding

CHOICES = (RewriteUnsafeSelect(), Simplify(), SkipPadding(), Simplify())
"""The passes that decide what is computed where, as they follow each other on a processor; those behind them decide
how, and copy loops to that end."""


def lowered(kernel: KernelOp, sequence: SequenceOp, knobs: OpenKnobs, values: Mapping[str, int]) -> loop.KernelOp:
    """The nest of copies of a kernel and its schedule, for all choices of open knobs and these values of the others.

    Raises CompileError for a schedule that is refused, and KnobMustBeSet where loops are not alike for all choices.
    """
    around = kernel.parent_op()
    declared = [op.clone() for op in around.ops if isinstance(op, IntrinsicOp)] if isinstance(around, ModuleOp) else []
    kernel, sequence = kernel.clone(), sequence.clone()
    ModuleOp([*declared, kernel, sequence])  # where primitives find the intrinsics that they name
    set_knobs(sequence, values)
    apply_dataflow(kernel, sequence, knobs)
    nest = lower_kernel(kernel, sequence, knobs)
    for choice in CHOICES:
        choice.run(make_context(), nest)
    return nest
