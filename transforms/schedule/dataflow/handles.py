"""Handles of a sequence while the kernel is rewritten under them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Block, Operation, SSAValue

from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.schedule import ScheduleOp, SetScopeOp, StageOp
from tilework.dialects.te import ComputeOp, ExternOp, KernelOp, ReadOp, ScanOp, stage_of, stages_of


def compute_of(kernel: KernelOp, handle: SSAValue, op: Operation) -> tuple[ComputeOp, StageOp]:
    """The compute of a handle, and the operation that gave the handle. Raises CompileError for any other stage."""
    staged, stage_op = staged_of(kernel, handle, op)
    name = stage_op.stage.data
    if isinstance(staged, ExternOp):
        raise CompileError(f"{op.name} of extern '{name}': it takes set_scope, and is not rewritten", op)
    if isinstance(staged, ScanOp):
        raise CompileError(f"{op.name} of scan '{name}', which is not rewritten; rewrite the stages of its steps", op)
    return staged, stage_op


def staged_of(kernel: KernelOp, handle: SSAValue, op: Operation) -> tuple[ComputeOp | ScanOp | ExternOp, StageOp]:
    """What a stage's handle stands for, and the operation that gave the handle."""
    stage_op = handle.owner
    if not isinstance(stage_op, StageOp):
        given = stage_op.name if isinstance(stage_op, ScheduleOp) else "that"
        raise CompileError(f"{op.name} takes a stage, not what {given} gives; use the handle of a compute", op)
    staged = stage_of(kernel, stage_op.stage.data)
    if staged is None:
        names = ", ".join(c.stage.data for c in kernel.computes)
        message = f"kernel @{kernel.sym_name.data} has no stage '{stage_op.stage.data}'; its stages are {names}"
        raise CompileError(message, op)
    return staged, stage_op


def stage_names(kernel: KernelOp) -> UniqueNames:
    """Names for new stages of the kernel."""
    return UniqueNames(staged.stage.data for staged in stages_of(kernel))


def whole_reader(compute: ComputeOp) -> str | None:
    """What takes a compute that is not returned as a whole, in words; None where all read elements."""
    users = [use.operation for result in compute.results for use in result.uses]
    other = next((user for user in users if not isinstance(user, ReadOp)), None)
    return None if other is None else "an extern" if isinstance(other, ExternOp) else "a scan"


def check_names(op: Operation, given: Sequence[str], axes: Sequence[str]) -> None:
    """Refuse a primitive that names other axes than its new stage has."""
    if list(given) != list(axes):
        raise CompileError(f"the new stage has axes [{', '.join(axes)}], not [{', '.join(given)}]; name those", op)


def new_handle(compute: ComputeOp, before: Operation, scope: str = "global") -> StageOp:
    """A handle to the compute, in front of a primitive, with its scope set."""
    block = before.parent_block()
    assert block is not None
    stage_op = StageOp(compute.stage.data, [n for n, _ in (*compute.spatial, *compute.reduction)])
    stage_op.location = before.location
    block.insert_op_before(stage_op, before)
    if scope != "global":
        set_scope = SetScopeOp(stage_op.handle, scope)
        set_scope.location = before.location
        block.insert_op_before(set_scope, before)
    return stage_op


def replace_values(old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
    """Let the users of old handles use new ones."""
    for value, replacement in zip(old, new, strict=True):
        value.replace_all_uses_with(replacement)


def replace_compute(old: ComputeOp, *new: ComputeOp) -> None:
    """Put computes in place of one; the last of them makes its tensors."""
    block = old.parent_block()
    assert isinstance(block, Block)
    for op in new:
        op.location = old.location
        block.insert_op_before(op, old)
    replace_values(old.results, new[-1].results)
    erase(old)


def erase(*ops: Operation) -> None:
    """Remove operations that nothing uses."""
    for op in ops:
        op.detach()
        op.erase()


def erase_together(ops: Iterable[Operation]) -> None:
    """Remove operations of one sequence that nothing but each other uses."""
    erase(*sorted(ops, key=position, reverse=True))


def position(op: Operation) -> int:
    """The place of a primitive in its sequence."""
    block = op.parent_block()
    assert block is not None
    return block.get_operation_index(op)
