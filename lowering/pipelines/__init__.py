"""The named pipelines: `shared` has what every program goes through, a file a family of targets what is its own."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.passes import ModulePass

from tilework.lowering.pipelines.cpu import CALLS, LOOPS, RULES
from tilework.lowering.pipelines.shared import GRAPH, HOST, SCHEDULE, TO_TE

PIPELINES: Mapping[str, tuple[ModulePass, ...]] = {
    "optimize-graph": GRAPH,
    "apply-rules": RULES,
    "lower-to-te": TO_TE,
    "order-calls": CALLS,
    "schedule-kernels": SCHEDULE,
    "compile-kernel": (*SCHEDULE, *LOOPS),
    "plan-host": HOST,
}
"""Every pipeline that `opt-tool` knows by name, in the order in which `tw.compile` runs them."""
