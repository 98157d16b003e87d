"""A kernel and its schedule, while primitives rewrite both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from xdsl.ir import Operation, SSAValue

from tilework.dialects.schedule import ScheduleOp, SequenceOp, StageOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import ComputeOp, ExternOp, KernelOp, ScanOp, stages_of
from tilework.scheduling.dataflow.handles import erase, replace_values, stage_names
from tilework.scheduling.open_knobs import NO_OPEN_KNOBS, OpenKnobs


class KernelStages:
    """The stages of a kernel by name, and the primitives of its schedule by place, while primitives are applied.

    Each primitive asks for a few stages and for the order of a few primitives. That these are looked up in tables, not
    in the kernel and in the sequence, lets the time of all primitives together grow with their number only.
    """

    def __init__(self, kernel: KernelOp, sequence: SequenceOp, knobs: OpenKnobs = NO_OPEN_KNOBS):
        self.kernel = kernel
        self.knobs = knobs
        self.names = stage_names(kernel)
        self.has_scans = any(isinstance(staged, ScanOp) for staged in stages_of(kernel))
        self._stages = {staged.stage.data: staged for staged in stages_of(kernel)}
        self._places: dict[Operation, int] = {op: place for place, op in enumerate(sequence.body.block.ops)}
        self._handles: dict[str, list[StageOp]] = {}
        for op in sequence.body.block.ops:
            if isinstance(op, StageOp):
                self._handles.setdefault(op.stage.data, []).append(op)

    # -- the kernel

    def named(self, name: str) -> ComputeOp | ScanOp | ExternOp | None:
        """The stage of that name, or None."""
        return self._stages.get(name)

    def staged_of(self, handle: SSAValue, op: Operation) -> tuple[ComputeOp | ScanOp | ExternOp, StageOp]:
        """What the handle of a stage, which `op` takes, stands for, and the operation that gave the handle."""
        stage_op = handle.owner
        if not isinstance(stage_op, StageOp):
            given = stage_op.name if isinstance(stage_op, ScheduleOp) else "that"
            raise CompileError(f"{op.name} takes a stage, not what {given} gives; use the handle of a compute", op)
        staged = self.named(stage_op.stage.data)
        if staged is None:
            names = ", ".join(c.stage.data for c in self.kernel.computes)
            message = (
                f"kernel @{self.kernel.sym_name.data} has no stage '{stage_op.stage.data}'; its stages are {names}"
            )
            raise CompileError(message, op)
        return staged, stage_op

    def compute_of(self, handle: SSAValue, op: Operation) -> tuple[ComputeOp, StageOp]:
        """The compute of a handle, and the operation that gave the handle. Raises CompileError for any other stage."""
        staged, stage_op = self.staged_of(handle, op)
        name = stage_op.stage.data
        if isinstance(staged, ExternOp):
            raise CompileError(f"{op.name} of extern '{name}': it takes set_scope, and is not rewritten", op)
        if isinstance(staged, ScanOp):
            message = f"{op.name} of scan '{name}', which is not rewritten; rewrite the stages of its steps"
            raise CompileError(message, op)
        return staged, stage_op

    def in_program_order(self, computes: Collection[ComputeOp]) -> Sequence[ComputeOp]:
        """These computes, in the order in which they stand in the kernel."""
        return list(computes) if len(computes) == 1 else [c for c in self.kernel.computes if c in computes]

    def insert_before(self, place: ComputeOp, *new: ComputeOp) -> None:
        """Put new stages in front of one."""
        for op in new:
            op.location = place.location
            self.kernel.body.block.insert_op_before(op, place)
            self._stages[op.stage.data] = op

    def replace(self, old: ComputeOp, *new: ComputeOp) -> None:
        """Put stages in place of one; the last of them makes its tensors, and has its role."""
        self.insert_before(old, *new)
        new[-1].role = old.role
        replace_values(old.results, new[-1].results)
        erase(old)

    def forget(self, compute: ComputeOp) -> None:
        """The compute is no stage any more."""
        del self._stages[compute.stage.data]

    # -- the schedule

    def place(self, op: Operation) -> int:
        """Where the sequence had a primitive at the start.

        A handle that was made since stands in front of all that uses it, as if it had been the first.
        """
        return self._places.get(op, -1)

    def in_order(self, ops: Iterable[Operation]) -> list[Operation]:
        """Primitives in the order of the sequence."""
        return sorted(ops, key=self.place)

    def next_handle(self, name: str, op: Operation) -> StageOp | None:
        """The primitive behind `op` that takes a handle to the stage of that name anew, or None."""
        return next((handle for handle in self._handles.get(name, ()) if self.place(handle) > self.place(op)), None)

    def erase_together(self, ops: Iterable[Operation]) -> None:
        """Remove primitives that nothing but each other uses."""
        erase(*reversed(self.in_order(ops)))
