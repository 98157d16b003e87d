"""What the threads of a warp do together: loops say that the first of them does it."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.ir import Operation
from xdsl.traits import is_side_effect_free

from tilework.algebra.index_expr import var
from tilework.algebra.predicate import at_least
from tilework.analysis.domains import loops_around
from tilework.dialects.loop import ForOp, IfOp, IntrinsicOp, Kind
from tilework.dialects.te.intrinsics import declaration_of


def is_of_warp(op: Operation) -> TypeGuard[IntrinsicOp]:
    """Whether an operation is an intrinsic that the threads of a warp do together."""
    return isinstance(op, IntrinsicOp) and declaration_of(op, op.intrinsic).warp is not None


def is_for_warps(op: IfOp) -> bool:
    """Whether a condition lets the first thread of a warp alone do what all of its threads do together.

    What it holds beside intrinsics of warps, all of them may do: it touches no memory.
    """
    thread = next((loop for loop in loops_around(op) if loop.kind.data is Kind.THREAD_X), None)
    if thread is None or op.else_body.blocks or [*op.conditions] != [at_least(0, var(thread.index))]:
        return False
    inside = [inner for inner in op.walk() if inner is not op]
    found = any(map(is_of_warp, inside))
    return found and all(is_of_warp(i) or isinstance(i, ForOp | IfOp) or is_side_effect_free(i) for i in inside)


def why_apart(op: IntrinsicOp) -> str | None:
    """Why the threads of a warp cannot do an intrinsic of theirs together; None where they can."""
    around = op.parent_op()
    while around is not None and not (isinstance(around, IfOp) and is_for_warps(around)):
        around = around.parent_op()
    if around is not None:
        return None
    return f"@{op.intrinsic} is done by all threads of a warp together, and stands beside what each does by itself"
