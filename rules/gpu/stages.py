"""Which stages of a kernel are inlined, and which launches the others are."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.dialects.te import KernelOp
from tilework.dialects.te.intrinsics import copy_with_declarations
from tilework.rules.gpu.inlining import inlined_stages
from tilework.rules.gpu.launch import Launch
from tilework.rules.gpu.product_form import product_of
from tilework.rules.gpu.row_groups import RowGroup, row_groups
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
    products = {compute.stage.data: product_of(compute) for compute in copy.computes}
    names = {name for name, product in products.items() if product is not None}
    inlined = inlined_stages(copy, names)
    inline_computes([compute for compute in copy.computes if compute.stage.data in inlined])
    for compute in copy.computes:
        simplify_reads(compute)

    def launch(group: RowGroup) -> Launch:
        root = group.root
        found = (products[stage.stage.data] for stage in (*group.inside, root))
        rows = group.rows if group.places else [name for name, _ in root.spatial]
        return Launch(root, group.inside, rows, next(filter(None, found), None))

    multiplying = [compute for compute in copy.computes if compute.stage.data in names]
    return Launches(inlined, [launch(group) for group in row_groups(copy.computes, multiplying)])
