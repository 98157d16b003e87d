"""Which stages of a kernel are inlined, and which launches the others are."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.algebra.index_expr import var
from tilework.dialects.te import ComputeOp, KernelOp, ReduceOp
from tilework.dialects.te.intrinsics import copy_with_declarations
from tilework.rules.common.readers import is_needed_whole, readers_of
from tilework.rules.gpu.inlining import inlined_stages
from tilework.rules.gpu.launch import Launch
from tilework.rules.gpu.product_form import product_of
from tilework.scheduling.dataflow.inline import inline_computes
from tilework.scheduling.dataflow.simplify_reads import simplify_reads


@dataclass(frozen=True, eq=False)
class Launches:
    """inlined: stages by name. launches: of all others, in program order, as they look after that."""

    inlined: list[str]
    launches: list[Launch]


def launches_of(kernel: KernelOp) -> Launches:
    """Decide on a copy of the kernel, whose stages are all computes."""
    copy = copy_with_declarations(kernel)
    products = {name: product for name, product in _products(copy) if product is not None}
    inlined = inlined_stages(copy, products.keys())
    inline_computes([compute for compute in copy.computes if compute.stage.data in inlined])
    for compute in copy.computes:
        simplify_reads(compute)
    summed = dict(filter(None, (_taken_by_one(compute) for compute in copy.computes)))
    launches: list[Launch] = []
    for root in (compute for compute in copy.computes if compute not in summed.values()):
        inside = summed.get(root, root)
        launches.append(Launch(root, inside if inside.reduction else None, products.get(inside.stage.data)))
    return Launches(inlined, launches)


def _products(kernel: KernelOp):
    return ((compute.stage.data, product_of(compute)) for compute in kernel.computes)


def _taken_by_one(compute: ComputeOp) -> tuple[ComputeOp, ComputeOp] | None:
    """The one stage that takes a reduction's results element by element, and the reduction; None for other stages."""
    if not compute.reduction or is_needed_whole(compute):
        return None
    readers = readers_of(compute)
    takers = {reader for reader, _ in readers}
    if len(takers) != 1:
        return None
    [taker] = takers
    own = tuple(var(name) for name, _ in taker.spatial)
    same = [e for _, e in taker.spatial] == [e for _, e in compute.spatial]
    if isinstance(taker.terminator, ReduceOp) or not same or any(tuple(read.exprs) != own for _, read in readers):
        return None
    return taker, compute
