"""Asking for packed operands that come from memory before it is their turn.

The hardware does so for a loop that only reads. Between multiplications it is late: what waits for memory fills the
queue of instructions before the next line is asked for.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import const
from tilework.dialects.schedule_builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp
from tilework.rules.cpu.costs import bytes_of
from tilework.rules.cpu.reads import bits_of, reads_of

AHEAD_BYTES = 8 << 10
"""What a core reads from memory in the time that memory takes to answer, and some more."""

LEAST_BYTES = 128 << 10
"""Smaller operands stay near the core."""


def prefetch_operands(
    s: ScheduleBuilder, reduction: ComputeOp, axis: SSAValue, vector: str, span: int, least: int = LEAST_BYTES
) -> None:
    """At every iteration of the innermost reduce axis, ask for what is read AHEAD_BYTES later.

    Of arguments of at least so many bytes that are packed in blocks of `span` along the vector axis.
    """
    numbers = frozenset(range(len(s.kernel.body.block.args)))
    for read, tensor in zip(reads_of(reduction, numbers), (r.tensor.type for r in reduction.reads), strict=True):
        packed = read.dims[-1:] == (const(span),) and vector in read.indices[-1].variables()
        if read.argument is not None and packed and bytes_of(tensor) >= least:
            s.prefetch(s.argument(read.argument), axis, AHEAD_BYTES * 8 // (span * bits_of(tensor)))
