"""The axes of a kernel's stages, and how much there is to do along them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tilework.algebra.index_expr import Expr
from tilework.analysis.sizes import size_of
from tilework.dialects.te import ComputeOp, ReduceOp

Axis: TypeAlias = tuple[str, Expr]
"""A name and an extent."""

Axes: TypeAlias = tuple[Axis, ...]


def axes_of(compute: ComputeOp) -> Axes:
    """A stage's axes, those that it sums along among them."""
    return (*compute.spatial, *compute.reduction)


def iterations(compute: ComputeOp) -> int:
    """The points of a stage's axes, those that it sums along among them."""
    return size_of(axes_of(compute))


def joins_parts(compute: ComputeOp) -> bool:
    """Whether parts of what a reduction joins may be joined by themselves."""
    last = compute.terminator
    return isinstance(last, ReduceOp) and last.why_not_in_parts is None


def sums_windows(compute: ComputeOp) -> bool:
    """Whether all that a reduction sums along moves windows: a depthwise convolution, a pooling."""
    spatial, summed = ({name for name, _ in axes} for axes in (compute.spatial, compute.reduction))
    indices = [{*e.variables()} for read in compute.reads for e in read.exprs]
    windows = set[object]().union(*(i & summed for i in indices if i & spatial))
    return len(summed) > 0 and summed == windows


def work_of(stages: Sequence[Axes]) -> int:
    """The points of the axes of some stages, LARGE for each symbol."""
    return sum(map(size_of, stages))


def may_be_shared(stage: ComputeOp) -> bool:
    """Whether threads may each sum up some of the terms of a reduction."""
    last = stage.terminator
    if not isinstance(last, ReduceOp) or last.kind is None or len(stage.results) > 1:
        return False
    own = {name for name, _ in stage.spatial}
    return all(own.isdisjoint(extent.variables()) for _, extent in stage.reduction)
