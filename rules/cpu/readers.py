"""Which stages read a stage, and where; and what a stage reads."""

from __future__ import annotations

from xdsl.ir import Operation

from tilework.dialects.te import ComputeOp, ReadOp


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


def sums_windows(compute: ComputeOp) -> bool:
    """Whether all that a reduction sums along moves windows: a depthwise convolution, a pooling."""
    spatial, summed = ({name for name, _ in axes} for axes in (compute.spatial, compute.reduction))
    indices = [{*e.variables()} for read in compute.reads for e in read.exprs]
    windows = set[object]().union(*(i & summed for i in indices if i & spatial))
    return len(summed) > 0 and summed == windows
