"""Asking for packed operands that come from memory before it is their turn.

The hardware does so for a loop that only reads. Between multiplications it is late: what waits for memory fills the
queue of instructions before the next line is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Attribute, SSAValue

from tilework.algebra.index_expr import const
from tilework.dialects.schedule_builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp
from tilework.rules.cpu.costs import bytes_of
from tilework.rules.cpu.reads import Read, bits_of, reads_of
from tilework.targets.target import Target

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
    for read, tensor in _packed(s, reduction, vector, span):
        if bytes_of(tensor) >= least:
            s.prefetch(_argument(s, read), axis, AHEAD_BYTES * 8 // (span * bits_of(tensor)))


def prefetch_next_block(
    s: ScheduleBuilder,
    reduction: ComputeOp,
    loops: Sequence[tuple[SSAValue, str, int]],
    vector: str,
    span: int,
    target: Target,
) -> None:
    """While tiles are computed with one block of an argument too large for the second cache, ask for the next block.

    What is read AHEAD_BYTES later is asked for by the first of the tiles alone, which memory cannot keep up with.
    loops: those around the tile, outermost first, each along an axis, with so many iterations.
    """
    long = [(axis, name) for axis, name, count in loops if count > 1]
    for read, tensor in _packed(s, reduction, vector, span):
        followed = [axis for axis, name in long if name in read.axes]
        shared = followed and followed[-1] != long[-1][0]
        if shared and bytes_of(tensor) > target.cache_bytes[1]:
            s.prefetch(_argument(s, read), followed[-1], 1, spread=True)


def _packed(s: ScheduleBuilder, reduction: ComputeOp, vector: str, span: int) -> Iterator[tuple[Read, Attribute]]:
    """How arguments are read that are packed in blocks of `span` along the vector axis, and their types."""
    numbers = frozenset(range(len(s.kernel.body.block.args)))
    for read, tensor in zip(reads_of(reduction, numbers), (r.tensor.type for r in reduction.reads), strict=True):
        packed = read.dims[-1:] == (const(span),) and vector in read.indices[-1].variables()
        if read.argument is not None and packed:
            yield read, tensor


def _argument(s: ScheduleBuilder, read: Read) -> SSAValue:
    assert read.argument is not None
    return s.argument(read.argument)
