"""Show which part of each stage is computed where."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te import KernelOp
from tilework.scheduling.bound_inference import StageBounds, infer_bounds
from tilework.scheduling.state import Stage, read_schedule
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class AnnotateRegions(TileworkPass):
    """List on every kernel, for each stage, where it is computed, which region of its tensor, and its loops.

    te.kernel @k ...              te.kernel @k ... attributes {tilework.remark = [
    schedule.sequence @k {   ->     "a at b.i.outer: i from 8 * i.outer extent 8; loops i 8",
      compute_at %a, %i_outer       "b: i from 0 extent 64; loops i.outer 8, i.inner 8"]}

    Starts are in terms of the loops around the stage, extents what bound inference proves. Loops stand outermost first.
    This is an analysis and no pattern: it notes what bound inference finds out about all stages of a kernel at once.
    Requires sequences without primitives that rewrite te (`schedule-apply-dataflow` applies those); changes nothing.
    """

    name = "schedule-annotate-regions"
    anchor = ModuleOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        sequences = {s.kernel_name: s for s in op.ops if isinstance(s, SequenceOp)}
        for kernel in [k for k in op.ops if isinstance(k, KernelOp)]:
            state = read_schedule(kernel, sequences.get(kernel.sym_name.data))
            bounds = infer_bounds(state)
            remarks = [StringAttr(_remark(stage, bounds[stage])) for stage in state.stages.values()]
            kernel.attributes["tilework.remark"] = ArrayAttr(remarks)


def _remark(stage: Stage, b: StageBounds) -> str:
    parts = [
        f"{axis} from {start} extent {extent}{'' if step == 1 else f' step {step}'}"
        for axis, (start, extent), step in zip(stage.spatial, b.region, b.steps, strict=True)
    ]
    loops = [f"{axis} {b.extents[axis]}" for axis in stage.leaves]
    place = "" if stage.place is None else f" at {stage.place.stage.name}.{stage.place}"
    return f"{stage.name}{place}: {', '.join(parts) or 'one element'}; loops {', '.join(loops) or 'none'}"
