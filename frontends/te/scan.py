"""te.scan: tensors whose elements at one time are computed from those at earlier times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.frontends.te.arguments import check_integer
from tilework.frontends.te.index import Index, IterVar, Range
from tilework.frontends.te.tensor import ComputeOp, PlaceholderOp, StagedOp, Tensor, tensors_of


class ScanOp(StagedOp):
    """Steps in time.

    scan_axis: from the first time that is computed; spatial_axis: the axes declared independent of it. init, update,
    state_placeholder: its tensors.
    """

    def __init__(
        self,
        name: str,
        init: Sequence[Tensor],
        update: Sequence[Tensor],
        state_placeholder: Sequence[Tensor],
        tag: str,
        attrs: Mapping[str, Any] | None,
        independent: int,
    ):
        first, end = init[0].dims[0], state_placeholder[0].dims[0]
        self.scan_axis = IterVar(Range(Index(first), Index(end - first)), f"{name}.idx")
        extents = state_placeholder[0].dims[1 : 1 + independent]
        self.spatial_axis = [IterVar(Range(0, Index(e)), f"{name}.i{i}") for i, e in enumerate(extents)]
        super().__init__(name, [self.scan_axis, *self.spatial_axis], [], tag, attrs)
        self.init = list(init)
        self.update = list(update)
        self.state_placeholder = list(state_placeholder)

    @property
    def input_tensors(self) -> list[Tensor]:
        return [*self.state_placeholder, *self.init, *self.update]


def scan(
    init: Tensor | Sequence[Tensor],
    update: Tensor | Sequence[Tensor],
    state_placeholder: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor] | None = None,
    name: str = "scan",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
    independent: int = 0,
) -> Any:
    """The states at all times: along their first axis `init` stands first, then what `update` computes step by step.

    The updates read the states at earlier times, and through them only, as `state_placeholder[t - 1, ...]`. `inputs`
    is TVM's; what the updates read is found without. independent: so many axes behind time are axes of the scan's
    stage, which a schedule may put around time and run in parallel; a step reads everything at its own place there.
    Returns a tensor, or a list where lists are given. Raises UsageError for shapes or types that do not fit.
    """
    given = {"init": init, "update": update, "state_placeholder": state_placeholder}
    inits, updates, states = [tensors_of(g, f"{what} of scan '{name}'") for what, g in given.items()]
    if inputs is not None:
        tensors_of(inputs, f"inputs of scan '{name}'")
    check_integer(independent, f"independent of scan '{name}'")
    if not len(inits) == len(updates) == len(states) > 0:
        counts = f"{len(inits)} inits, {len(updates)} updates and {len(states)} states"
        raise UsageError(f"scan '{name}' has {counts}: as many of each, and at least one")
    for one in zip(inits, updates, states, strict=True):
        _check(name, inits[0], *one)
    rank = min(state.ndim for state in states)
    if not 0 <= independent < max(rank, 1):
        raise UsageError(f"scan '{name}': {independent} independent axes, of {rank - 1} behind time")
    op = ScanOp(name, inits, updates, states, tag, attrs, independent)
    op.outputs = [Tensor(op, s.dims, s.dtype, i) for i, s in enumerate(states)]
    return op.outputs[0] if isinstance(state_placeholder, Tensor) else op.outputs


def _check(name: str, first: Tensor, init: Tensor, update: Tensor, state: Tensor) -> None:
    if not isinstance(state.op, PlaceholderOp):
        raise UsageError(f"scan '{name}': the state '{state.name}' is no placeholder")
    if not isinstance(update.op, ComputeOp):
        raise UsageError(f"scan '{name}': the update '{update.name}' is no compute")
    if not init.dims or init.dims[0] != first.dims[0]:
        raise UsageError(f"scan '{name}': the inits differ in their first axis, which is time")
    if not init.ndim == update.ndim == state.ndim or not init.dims[1:] == update.dims[1:] == state.dims[1:]:
        shapes = ", ".join(f"'{t.name}' {_shape(t)}" for t in (init, update, state))
        raise UsageError(f"scan '{name}': init, update and state have the same axes but for time; got {shapes}")
    if update.dims[0] != state.dims[0]:
        raise UsageError(f"scan '{name}': update {_shape(update)} and state {_shape(state)} end at different times")
    if len({init.dtype, update.dtype, state.dtype}) > 1:
        raise UsageError(f"scan '{name}': init is {init.dtype}, update {update.dtype}, state {state.dtype}")


def _shape(tensor: Tensor) -> str:
    return f"({', '.join(map(str, tensor.dims))})"
