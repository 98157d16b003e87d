"""Handles of a sequence while the kernel is rewritten under them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation, SSAValue

from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.schedule import SetScopeOp, StageOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import ComputeOp, ExternOp, KernelOp, ReadOp, ReturnOp, stages_of


def stage_names(kernel: KernelOp) -> UniqueNames:
    """Names for new stages of the kernel."""
    return UniqueNames(staged.stage.data for staged in stages_of(kernel))


def whole_reader(compute: ComputeOp) -> str | None:
    """What takes a compute as a whole, in words; None where all stages read elements of it."""
    other = next((user for user in users(compute.results) if not isinstance(user, ReadOp | ReturnOp)), None)
    return None if other is None else "an extern" if isinstance(other, ExternOp) else "a scan"


def is_returned(compute: ComputeOp) -> bool:
    """Whether the kernel returns a result of a compute."""
    return any(isinstance(user, ReturnOp) for user in users(compute.results))


def users(values: Iterable[SSAValue]) -> list[Operation]:
    """The operations that use any of the values, as often as they do."""
    return [use.operation for value in values for use in value.uses]


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


def erase(*ops: Operation) -> None:
    """Remove operations that nothing uses."""
    for op in ops:
        op.detach()
        op.erase()
