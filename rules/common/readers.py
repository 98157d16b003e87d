"""Which stages read a stage, and where."""

from __future__ import annotations

from xdsl.ir import Operation

from tilework.dialects.te import ComputeOp, ReadOp


def is_needed_whole(compute: ComputeOp) -> bool:
    """Whether the kernel returns results of a stage, or a scan or an extern takes one whole."""
    return any(not isinstance(use.operation, ReadOp) for result in compute.results for use in result.uses)


def readers_of(compute: ComputeOp) -> list[tuple[ComputeOp, ReadOp]]:
    """Every read of a stage's elements, and the stage that it is in."""
    found: list[tuple[ComputeOp, ReadOp]] = []
    for use in (use for result in compute.results for use in result.uses):
        if isinstance(use.operation, ReadOp):
            parent: Operation | None = use.operation
            while not isinstance(parent, ComputeOp):
                assert parent is not None
                parent = parent.parent_op()
            found.append((parent, use.operation))
    return found
