"""What the rules for fast algorithms have in common: a product of transformed operands, between transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from xdsl.ir import SSAValue

from tilework.dialects.schedule_builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.base import Packing
from tilework.rules.cpu.reads import reads_of
from tilework.transforms.schedule.dataflow.inline import inline_compute

NEAR_BYTES = 248 << 10
"""What the buffers of a block may take: they are on the stack, and stay in the second cache."""

PLENTY_BYTES = 448 << 10
"""The same where a block of more rows reads weights or tiles less often."""

MOST_BYTES = 784 << 10
"""The same where a block of more rows reads nothing that another core wrote: a stack has no room for more."""


def inlined_stages(
    kernel: KernelOp, names: Sequence[str]
) -> tuple[list[str], Mapping[str, ComputeOp], ComputeOp] | None:
    """The stages besides those of these names, inlined in the last one; the stages by name; and the last one.

    None for a kernel that lacks some of them, has several results, or more that cannot be inlined.
    """
    if not {c.stage.data for c in kernel.computes}.issuperset(names) or len(kernel.results_returned) != 1:
        return None
    copy = kernel.clone()
    *others, final = (c for c in copy.computes if c.stage.data not in names)
    if any(c.reduction or len(c.results) > 1 for c in (*others, final)):
        return None
    inlined = [c.stage.data for c in others]
    for compute in others:
        inline_compute(compute)
    return inlined, {c.stage.data: c for c in copy.computes if c is not final}, final


def sizes_of(compute: ComputeOp) -> list[int]:
    """The extents of the spatial axes, 0 for what is not known."""
    return [e.constant or 0 for _, e in compute.spatial]


def balanced(count: int, most: int) -> int:
    """The length of the fewest parts that `count` is cut into, none longer than `most`, about as long as each other."""
    parts = -(-count // min(most, count))
    return -(-count // parts)


def pack_outputs(product: ComputeOp, span: int, parameters: Set[int]) -> list[Packing]:
    """The parameters that a product reads, in blocks of so many outputs, along its last axis."""
    outputs = product.spatial[-1][0]
    wanted = [(r.argument, r.axis_to_pack(outputs)) for r in reads_of(product, parameters)]
    return [Packing(a, axis, span) for a, axis in wanted if a is not None and axis is not None]


def vectors_and_lanes(s: ScheduleBuilder, axis: SSAValue, lanes: int) -> list[SSAValue]:
    """An axis as vectors, unrolled, and their lanes."""
    vectors, lane = s.split(axis, lanes)
    s.unroll(vectors)
    s.vectorize(lane)
    return [vectors, lane]
