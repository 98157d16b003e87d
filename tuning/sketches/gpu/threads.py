"""What the rules for devices share: how many threads there are, and how axes are dealt out to them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilework.dialects.schedule import Number
from tilework.targets import Target
from tilework.targets.gpu.target import GpuTarget
from tilework.tuning.sketches.facts import powers
from tilework.tuning.sketches.writer import SketchWriter

LETTERS = ("x", "y", "z")
"""The names of the axes of a block's threads, those first whose neighbours run in step."""

USUAL_THREADS = 128
"""So many threads a block has until the search chooses another number."""


def threads_of(w: SketchWriter, stage: str) -> Number:
    """How many threads a block has in which a stage is computed: a power of two, at least those that run in step."""
    while stage in w.attached:
        stage, _ = w.attached[stage]
    target = GpuTarget.of(w.target)
    choices = powers(min(target.warp, target.threads), target.threads, target.threads)
    return w.knob(f"{stage}.threads", choices, min(USUAL_THREADS, choices[-1]))


def thread_choices(extent: int, target: Target) -> Sequence[int]:
    """How many threads may lie along an axis of a block that has several such axes."""
    return powers(1, min(64, GpuTarget.of(target).threads), extent)


def deal_out(w: SketchWriter, stage: str, axes: Sequence[SSAValue]) -> SSAValue:
    """Deal the points of adjacent axes out to blocks of threads, several neighbours to each; the loop over threads."""
    rest, element = w.s.split(w.s.fuse(axes), w.knob(f"{stage}.elements", (1, 2, 4, 8)))
    block, thread = w.s.split(rest, threads_of(w, stage))
    w.s.bind(block, "blockIdx.x")
    w.s.bind(thread, "threadIdx.x")
    w.s.unroll(element)
    return thread
