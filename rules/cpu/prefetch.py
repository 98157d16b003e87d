"""Asking for packed operands that come from memory before it is their turn.

The hardware does so for a loop that only reads. Between multiplications it is late: what waits for memory fills the
queue of instructions before the next line is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from tilework.analysis.sizes import bits_of, bytes_of
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp
from tilework.rules.cpu.reads import Read, reads_of
from tilework.targets.base import LINE_BYTES
from tilework.targets.cpu.target import CpuTarget


@dataclass(frozen=True)
class Step:
    """One of a tile of `rows` by `vectors` of `lanes` results, whose operands are packed along the axis `vector`."""

    vector: str
    rows: int
    vectors: int
    lanes: int

    @property
    def span(self) -> int:
        """Elements along the vector axis."""
        return self.vectors * self.lanes

    def blocks(self, target: CpuTarget) -> Sequence[int]:
        """Elements that may lie in one piece, as `Tile.block` has it."""
        return (self.span, self.span // target.machine.caches.streams) if self.rows == 1 else (self.span,)

    def is_crowded(self, element_bits: int, target: CpuTarget) -> bool:
        """Whether there is hardly time for more loads than its own, other than those that multiply-adds contain."""
        lines = self.span * element_bits / (8 * LINE_BYTES)
        own = self.vectors if target.folds_broadcasts else self.rows + self.vectors
        return own + lines > target.machine.prefetching.most_loads * self.rows * self.vectors


def prefetch_operands(
    s: ScheduleBuilder,
    reduction: ComputeOp,
    step: Step,
    steps: tuple[SSAValue, int] | None,
    around: Sequence[tuple[SSAValue, str, int]],
    target: CpuTarget,
    least: int | None = None,
    once: bool = False,
) -> None:
    """Ask for arguments of at least so many bytes that are packed in blocks of the step's span.

    Of those too large for the second cache, the next block is asked for while tiles are computed with one: what is read
    AHEAD_BYTES later would be asked for by the first of the tiles alone, which memory cannot keep up with. around: the
    loops around a tile, outermost first, each along an axis, with so many iterations. AHEAD_BYTES later is what every
    iteration of `steps` asks for, if there is time. steps: the innermost reduce axis and its extent, if it is a loop; a
    long one is split, so that the next block is asked for line by line. once: what is asked for in blocks is not again.
    """
    facts = target.machine.prefetching
    least = facts.least_bytes if least is None else least
    long = [(loop, name) for loop, name, count in around if count > 1]
    for read, tensor in _packed(s, reduction, step, target):
        assert read.argument is not None
        followed = [loop for loop, name in long if name in read.axes]
        shared = followed and followed[-1] is not long[-1][0] and bytes_of(tensor) > target.cache_bytes[1]
        bits = bits_of(tensor)
        line = LINE_BYTES * 8 // bits
        if shared and steps is not None and steps[1] > line and steps[1] % line == 0:
            steps = s.split(steps[0], line)[1], line
        if steps is not None and bytes_of(tensor) >= least and not (shared and (once or step.is_crowded(bits, target))):
            s.prefetch(s.argument(read.argument), steps[0], facts.ahead_bytes * 8 // (step.span * bits))
        if shared:
            s.prefetch(s.argument(read.argument), followed[-1], 1, spread=True)


def prefetch_images(
    s: ScheduleBuilder,
    reduction: ComputeOp,
    vector: str,
    around: Sequence[tuple[SSAValue, str, int]],
    target: CpuTarget,
) -> None:
    """Ask for what the next tile reads while one is computed, of images larger than the second cache.

    Of those that are read tile after tile, along axes that `vector` is none of, and channel by channel: these lie far
    apart, and the hardware is late; rows of a matrix stream without being asked for. Windows overlap: most of the next
    ones is there already. around: as for prefetch_operands.
    """
    summed = frozenset(name for name, extent in reduction.reduction if extent != 1)
    for read, tensor in _arguments(s, reduction):
        assert read.argument is not None
        moving = [loop for loop, name, count in around if count > 1 and name in read.axes]
        if not moving or vector in read.axes or not all(d.is_constant for d in read.dims):
            continue
        streams = any(read.indices[-1].coefficient(name) == 1 for name in summed)
        slides = any(summed & {*e.variables()} and not summed.issuperset(e.variables()) for e in read.indices)
        if bytes_of(tensor) > target.cache_bytes[1] and not streams and not slides:
            s.prefetch(s.argument(read.argument), moving[-1], 1, spread=True)


def _packed(
    s: ScheduleBuilder, reduction: ComputeOp, step: Step, target: CpuTarget
) -> Iterator[tuple[Read, Attribute]]:
    """How arguments are read that are packed in blocks along the vector axis, and their types."""
    for read, tensor in _arguments(s, reduction):
        if read.dims and read.dims[-1].constant in step.blocks(target) and step.vector in read.indices[-1].variables():
            yield read, tensor


def _arguments(s: ScheduleBuilder, reduction: ComputeOp) -> Iterator[tuple[Read, Attribute]]:
    """How the kernel's arguments are read, and their types."""
    numbers = frozenset(range(len(s.kernel.body.block.args)))
    for read, r in zip(reads_of(reduction, numbers), reduction.reads, strict=True):
        if read.argument is not None:
            yield read, r.tensor.type
