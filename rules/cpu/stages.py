"""Which stages of a kernel are inlined, which are computed at a consumer, which fill a buffer of their own."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from tilework.algebra.index_expr import var
from tilework.dialects.te import ComputeOp, ExternOp, IfThenElseOp, KernelOp, ReadOp, ReduceOp, YieldOp, scans_of
from tilework.rules.cpu.register_tile import size_of
from tilework.transforms.schedule.dataflow.inline import inline_compute

LARGEST_COPY = 16
"""Scalar operations of a stage that may be inlined in more than one place."""


@dataclass(frozen=True)
class Plan:
    """`inlined` stages by name; `roots` as they look after inlining; `anchored`: root -> the reduction inside it.

    `steps` are what scans compute in each step.
    """

    inlined: list[str]
    roots: list[ComputeOp]
    anchored: dict[ComputeOp, ComputeOp]
    steps: list[ComputeOp]


def plan_stages(kernel: KernelOp) -> Plan:
    """Decide from the kernel alone, on a copy of it."""
    copy = kernel.clone()
    inlined: list[str] = []
    for compute in copy.computes:
        if _may_inline(copy, compute):
            inlined.append(compute.stage.data)
            inline_compute(compute)
    anchored: dict[ComputeOp, ComputeOp] = {}
    steps = [compute for scan in scans_of(copy) for compute in scan.steps]
    for compute in (c for c in copy.computes if c not in steps):
        root = _anchor_of(copy, compute)
        if root is not None and root not in anchored:
            anchored[root] = compute
    inside = {*anchored.values(), *steps}
    return Plan(inlined, [c for c in copy.computes if c not in inside], anchored, steps)


def _readers(compute: ComputeOp) -> list[tuple[ComputeOp, ReadOp]]:
    found: list[tuple[ComputeOp, ReadOp]] = []
    for use in (use for result in compute.results for use in result.uses):
        if isinstance(use.operation, ReadOp):
            parent: Operation | None = use.operation
            while not isinstance(parent, ComputeOp):
                assert parent is not None
                parent = parent.parent_op()
            found.append((parent, use.operation))
    return found


def _may_inline(kernel: KernelOp, compute: ComputeOp) -> bool:
    """Whether putting the stage in place of its reads does not repeat noteworthy work."""
    if compute.reduction or len(compute.results) > 1 or compute.result in kernel.results_returned:
        return False
    if not all(isinstance(use.operation, ReadOp) for use in compute.result.uses):
        return False  # a scan or an extern takes it as a whole
    ops = [op for op in compute.body.walk() if not isinstance(op, ReadOp | YieldOp)]
    dear = any(op.name.startswith("math.") or isinstance(op, IfThenElseOp) for op in ops)
    readers = _readers(compute)
    for reader, _ in readers:
        if reader.reduction and ops and (dear or _iterations(reader) > 2 * size_of(compute.spatial)):
            return False
    return len(readers) == 1 or (not dear and len(ops) <= LARGEST_COPY)


def _iterations(compute: ComputeOp) -> int:
    return size_of([*compute.spatial, *compute.reduction])


def _anchor_of(kernel: KernelOp, compute: ComputeOp) -> ComputeOp | None:
    """The one element-wise consumer of a reduction, which reads it at its own indices."""
    if not compute.reduction or any(result in kernel.results_returned for result in compute.results):
        return None
    if any(isinstance(use.operation, ExternOp) for result in compute.results for use in result.uses):
        return None
    readers = _readers(compute)
    consumers = {reader for reader, _ in readers}
    if len(consumers) != 1:
        return None
    [consumer] = consumers
    own = tuple(var(n) for n, _ in consumer.spatial)
    same = [e for _, e in consumer.spatial] == [e for _, e in compute.spatial]
    if isinstance(consumer.terminator, ReduceOp) or not same or any(r.exprs != own for _, r in readers):
        return None
    return consumer
