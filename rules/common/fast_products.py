"""What the rules for fast algorithms have in common: a product of transformed operands, between transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from xdsl.ir import Block, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.scheduling.dataflow.inline import inline_computes


def inlined_stages(
    kernel: KernelOp, roles: Sequence[str]
) -> tuple[list[str], Mapping[str, ComputeOp], ComputeOp] | None:
    """The names of the stages without one of these roles, inlined in the last one; those with one, by role; and the
    last one.

    None for a kernel that lacks a role, has several results, or more stages that cannot be inlined.
    """
    parts = {c for c in kernel.computes if role_of(c) in roles}
    if {*map(role_of, parts)} != {*roles} or len(parts) != len(roles) or len(kernel.results_returned) != 1:
        return None
    inlined = [c.stage.data for c in kernel.computes if c not in parts]
    final = inlined.pop()
    stages = _copied(kernel, {*inlined, final})
    if any(stages[name].reduction or len(stages[name].results) > 1 for name in (*inlined, final)):
        return None
    inline_computes([stages.pop(name) for name in inlined])
    last = stages.pop(final)
    return inlined, {role_of(stage): stage for stage in stages.values()}, last


def role_of(compute: ComputeOp) -> str:
    """Which part of an algorithm a stage is; empty for one that is none."""
    return "" if compute.role is None else compute.role.data


def part_of(kernel: KernelOp, role: str) -> ComputeOp | None:
    """The first stage with a role."""
    return next((c for c in kernel.computes if role_of(c) == role), None)


def _copied(kernel: KernelOp, names: Set[str]) -> dict[str, ComputeOp]:
    """The stages of a kernel by name: copies of those of these names and of what reads them, the others themselves.

    Those others have long bodies.
    """
    block = Block(arg_types=kernel.body.block.arg_types)
    copies = dict[SSAValue, SSAValue](zip(kernel.body.block.args, block.args, strict=True))
    tensors = {tensor for c in kernel.computes if c.stage.data in names for tensor in c.results}
    stages: dict[str, ComputeOp] = {}
    for compute in kernel.computes:
        is_copied = compute.stage.data in names or any(r.tensor in tensors for r in compute.reads)
        copy = compute.clone(copies) if is_copied else compute.clone_without_regions(copies)
        block.add_op(copy)
        stages[compute.stage.data] = copy if is_copied else compute
    return stages


def takes(compute: ComputeOp, role: str, exprs: tuple[Expr, ...]) -> bool:
    """Whether a compute reads the stage with a role at this place; by role, since what is copied reads other copies."""
    owners = (r.tensor.owner for r in compute.reads if r.exprs == exprs)
    return any(isinstance(owner, ComputeOp) and role_of(owner) == role for owner in owners)


def sizes_of(compute: ComputeOp) -> list[int]:
    """The extents of the spatial axes, 0 for what is not known."""
    return [e.constant or 0 for _, e in compute.spatial]


def balanced(count: int, most: int) -> int:
    """The length of the fewest parts that `count` is cut into, none longer than `most`, about as long as each other."""
    parts = -(-count // min(most, count))
    return -(-count // parts)


def vectors_and_lanes(s: ScheduleBuilder, axis: SSAValue, lanes: int, masked: bool = False) -> list[SSAValue]:
    """An axis as vectors, unrolled, and their lanes."""
    vectors, lane = s.split(axis, lanes)
    s.unroll(vectors)
    s.vectorize(lane, masked)
    return [vectors, lane]
