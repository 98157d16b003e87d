"""The named pipelines: `shared` has what every program goes through, a file a family of targets what is its own.

A family's file, in the tree or in a plugin, has `LOOPS`: how its scheduled kernels become what its back ends take.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.passes import ModulePass

from tilework.lowering.pipelines.cpu import CALLS, LOOPS, RULES
from tilework.lowering.pipelines.gpu import LOOPS as GPU_LOOPS
from tilework.lowering.pipelines.shared import BAGS, FOLDS, GRAPH, HOST, SCHEDULE, TABLES, TO_TE, TRAINING
from tilework.lowering.pipelines.vdla import LOOPS as VDLA_LOOPS
from tilework.plugins.packages import folders_of, member_of


def loops_of(family: str) -> tuple[ModulePass, ...]:
    """How kernels of a family become loops for its back ends; without a file of its own, as those of processors do."""
    for folder in folders_of("lowering/pipelines"):
        if family in folder.modules():
            return member_of(folder.load(family), "LOOPS")
    return LOOPS


PIPELINES: Mapping[str, tuple[ModulePass, ...]] = {
    "optimize-training": TRAINING,
    "optimize-folds": FOLDS,
    "optimize-bags": BAGS,
    "optimize-tables": TABLES,
    "optimize-graph": GRAPH,
    "apply-rules": RULES,
    "lower-to-te": TO_TE,
    "order-calls": CALLS,
    "schedule-kernels": SCHEDULE,
    "compile-kernel": (*SCHEDULE, *LOOPS),
    "compile-gpu-kernel": (*SCHEDULE, *GPU_LOOPS),
    "compile-vdla-kernel": (*SCHEDULE, *VDLA_LOOPS),
    "plan-host": HOST,
}
"""Every pipeline that `opt-tool` knows by name, in the order in which `tw.compile` runs them."""
