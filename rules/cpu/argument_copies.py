"""Copies of arguments in blocks, made before sums read them, where what is read in turn drives itself out of caches.

Planes of an image that are a power of two apart, as those of 32 by 32 pixels are, share few places of the nearest
cache: each step of a sum over channels waits for the cache behind it, and tiles side by side read every line anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from xdsl.ir import BlockArgument

from tilework.analysis.sizes import bits_of
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ComputeOp, KernelOp, scans_of
from tilework.rules.common.lone_stages import alone
from tilework.rules.cpu.costs import elementwise_cycles, reduction_cycles
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import crowded_reads
from tilework.rules.cpu.relayout import Relayout, copy_argument, in_blocks
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.scheduling.dataflow.handles import stage_names
from tilework.targets.base import LINE_BYTES
from tilework.targets.cpu.target import CpuTarget


@dataclass(frozen=True)
class ArgumentCopy:
    """The stage `reader` reads a copy of the kernel's argument `number` that is stored as `relayout` says."""

    number: int
    reader: str
    relayout: Relayout

    @property
    def stored(self) -> str:
        """The name of the stage that fills the copy."""
        return self.relayout.stored

    def make(self, s: ScheduleBuilder, reader: StageHandle) -> StageHandle:
        """That stage, which the reader reads from now on."""
        return copy_argument(s, self.number, reader, self.relayout)


def copy_arguments(kernel: KernelOp, target: CpuTarget, parameters: Set[int]) -> list[ArgumentCopy]:
    """Let sums of a kernel, which is changed, read copies where that is expected to save more than it takes.

    Returns the copies, one of an argument at most.
    """
    found: list[ArgumentCopy] = []
    steps = {compute.stage.data for scan in scans_of(kernel) for compute in scan.steps}
    for name in [c.stage.data for c in kernel.computes if c.reduction and c.stage.data not in steps]:
        for copy in list(_candidates(kernel, name, target, parameters)):  # the kernel changes meanwhile
            if copy.number not in {c.number for c in found} and _saves(copy, kernel, target, parameters):
                _apply(copy, kernel)
                found.append(copy)
    return found


def _candidates(kernel: KernelOp, reader: str, target: CpuTarget, parameters: Set[int]) -> Iterator[ArgumentCopy]:
    """Copies in blocks that fill a line, along what a sum goes along."""
    compute = _stage(kernel, reader)
    crowded = crowded_reads(compute, target)
    for read, op in zip(reads_of(compute), compute.reads, strict=True):
        if read not in crowded or not isinstance(op.tensor, BlockArgument) or op.tensor.index in parameters:
            continue
        dims, size = dims_of(op.tensor.type), LINE_BYTES * 8 // bits_of(op.tensor.type)
        for at, e in enumerate(read.indices[:-1]):
            if e.as_var in dict(compute.reduction) and (dims[at] % size).constant == 0:
                names = [f"p{d}" for d in range(len(dims))]
                stage = stage_names(kernel).fresh(f"{op.tensor.name_hint or f'arg{op.tensor.index}'}.global")
                yield ArgumentCopy(op.tensor.index, reader, in_blocks(stage, names, names[at], size))
                break


def _apply(copy: ArgumentCopy, kernel: KernelOp) -> None:
    s = ScheduleBuilder(kernel)
    copy.make(s, s.stage(copy.reader))
    apply_dataflow(kernel, s.finish())


def _saves(copy: ArgumentCopy, kernel: KernelOp, target: CpuTarget, parameters: Set[int]) -> bool:
    """Whether the sum and the copy take less than the sum alone does without."""
    trial = alone(kernel, [_stage(kernel, copy.reader)])
    _apply(copy, trial)
    before = reduction_cycles(_stage(kernel, copy.reader), target, parameters)
    after = reduction_cycles(_stage(trial, copy.reader), target, parameters)
    return after + elementwise_cycles(_stage(trial, copy.stored), target) < before


def _stage(kernel: KernelOp, name: str) -> ComputeOp:
    compute = kernel.compute(name)
    assert compute is not None, f"no stage {name}"
    return compute
