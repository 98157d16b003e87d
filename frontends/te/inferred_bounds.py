"""TVM's helpers that show what lowering makes of a schedule: `te.InferBound(s)`, `te.ScheduleOps(s, bounds)`."""

# The functions have TVM's names.
# ruff: noqa: N802

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.index_expr import Expr, Key, var
from tilework.dialects import te
from tilework.dialects.schedule import SequenceOp
from tilework.driver.garbage import no_cyclic_gc
from tilework.frontends.te.build import loops_of
from tilework.frontends.te.errors import errors_for_python
from tilework.frontends.te.index import Index, IterVar, Range
from tilework.frontends.te.schedule import Schedule, check_schedule
from tilework.frontends.te.text import LoweredModule
from tilework.scheduling.bound_inference import infer_bounds
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.scheduling.state import Axis, read_schedule


def InferBound(sch: Schedule) -> dict[IterVar, Range]:
    """How far every axis of every stage runs, where the schedule computes just what is needed.

    An axis of a tensor begins where its part does, in terms of the axes around; any other at 0. Stages that are inlined
    have none. Raises ScheduleError for what lowering would refuse of the schedule.
    """
    check_schedule(sch)
    with no_cyclic_gc(), errors_for_python():
        module = sch.module()
        kernel, sequence = _parts(module)
        apply_dataflow(kernel, sequence)
        state = read_schedule(kernel, sequence)
        found = infer_bounds(state)
    axes = {(stage.name, axis.name): axis for stage, b in found.items() for axis in b.extents}
    mine = {
        axes[stage.name, text]: axis
        for stage in sch.stages
        for axis, text in zip(stage.all_iter_vars, sch.primitives.texts(stage.all_iter_vars), strict=True)
        if (stage.name, text) in axes
    }
    names: dict[Key, Expr] = {text: var(key) for key, text in sch.names.symbols.items()}
    names.update({axis: var(ours.key) for axis, ours in mine.items()})
    bounds = {axis.stage: found[axis.stage] for axis in mine}
    first: dict[Axis, Expr] = {
        axis: low for stage, b in bounds.items() for axis, (low, _) in zip(stage.spatial, b.region, strict=True)
    }

    def range_of(axis: Axis) -> Range:
        low, extent = first.get(axis), bounds[axis.stage].extents[axis]
        return Range(0 if low is None else Index(low.substitute(names)), Index(extent.substitute(names)))

    return {ours: range_of(axis) for axis, ours in mine.items()}


def ScheduleOps(sch: Schedule, bounds: Mapping[IterVar, Range] | None = None) -> LoweredModule:
    """The loops of a schedule as `tilework.lower` shows them in simple mode; the arguments are all that is read, and
    then the outputs. `bounds` is TVM's: they are inferred anew.
    """
    check_schedule(sch)
    return loops_of(sch.module())


def _parts(module: ModuleOp) -> tuple[te.KernelOp, SequenceOp]:
    [kernel] = (op for op in module.ops if isinstance(op, te.KernelOp))
    [sequence] = (op for op in module.ops if isinstance(op, SequenceOp))
    return kernel, sequence
