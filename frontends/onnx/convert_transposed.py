"""Converter: transposed convolution, as ordinary ones that compute a phase of its result each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import AddOp, ConcatOp, ConvOp, PadOp, TransposeOp
from tilework.dialects.graph.base import ints
from tilework.frontends.onnx.axes import sliced
from tilework.frontends.onnx.convert_padding import padded
from tilework.frontends.onnx.convert_windows import positive, with_window
from tilework.frontends.onnx.node import Node, converter, int_attr, number_attr, value_dims
from tilework.frontends.onnx.sizes import section
from tilework.frontends.onnx.values import Value

MOST_RUNS = 4
"""The most runs of one axis; each combination of runs is a convolution of its own."""


@dataclass(frozen=True)
class _Run:
    """Some neighbouring phases, computed by one convolution: the taps that the first one begins with, how many rows of
    taps each has, and the padding of the input."""

    first_tap: int
    rows: int
    pads: tuple[int, int]


@dataclass(frozen=True)
class _Axis:
    """One spatial axis of a transposed convolution.

    Element i of the input, by tap t of the weight, is added to element i * stride + t * dilation - front of the result,
    which is `excess` elements longer than stride times the input. With a stride of 1 that is a convolution by the taps
    in reverse. Else the result has phases, those elements that are a stride apart: to element q * stride + r come only
    the taps (r + front) mod stride + stride * j, and these are multiplied with elements q + (r + front) / stride - j,
    a convolution too. Taps that dilation jumps over are zeros then.
    """

    extent: Expr
    kernel: int
    stride: int
    dilation: int
    front: int
    excess: int

    @property
    def size(self) -> Expr:
        """The size of the result."""
        return self.extent * self.stride + self.excess

    @property
    def spread(self) -> int:
        """How far taps are moved apart in the weight."""
        return self.dilation if self.stride > 1 else 1

    @property
    def spacing(self) -> int:
        """The dilation of the convolutions."""
        return self.dilation if self.stride == 1 else 1

    @property
    def taps(self) -> int:
        """The taps of the weight, zeros between them included."""
        return (self.kernel - 1) * self.spread + 1

    @property
    def lead(self) -> int:
        """Zeros in front of the taps, for which one run computes all phases where there would be too many runs."""
        many = self.stride // gcd(self.front, self.stride) > MOST_RUNS
        return -self.front % self.stride if many else 0

    @property
    def together(self) -> int:
        """How many phases a run computes: all runs as many, each of them from the same elements of the input."""
        return gcd(self.front + self.lead, self.stride)

    @property
    def runs(self) -> list[_Run]:
        """All of them, in order of their phases."""
        return [self._run(first) for first in range(0, self.stride, self.together)]

    def _run(self, phase: int) -> _Run:
        first_tap = (phase + self.front + self.lead) % self.stride
        rows = max(-(-(self.lead + self.taps - first_tap) // self.stride), 1)
        # where whole elements of the input are cut off, taps that are zeros pass over them
        rows = max(rows, -(-self._shift(phase) // self.spacing) + 1)
        before = (rows - 1) * self.spacing - self._shift(phase)
        return _Run(first_tap, rows, (before, self._more + self._shift(phase)))

    def _shift(self, phase: int) -> int:
        """Which element of the input the first tap of a phase is multiplied with, for the first element."""
        return (phase + self.front + self.lead) // self.stride

    @property
    def _more(self) -> int:
        return max(-(-self.excess // self.stride), -self._shift(0))

    @property
    def positions(self) -> Expr:
        """How many elements of each phase are computed."""
        return self.extent + self._more


@converter("ConvTranspose")
def conv_transpose(node: Node) -> Value:
    """Convolutions of stride 1 behind one another, whose channels then move between the positions."""
    node = node.given({1: with_window(node, node.value(1))[0]})
    axes, groups = _axes(node), node.attribute("group", 1)
    taps = _taps(node, axes, groups)
    parts = [_convolution(node, axes, runs, taps, groups) for runs in product(*(axis.runs for axis in axes))]
    result = parts[0] if len(parts) == 1 else node.emit(ConcatOp, *parts, axis=int_attr(1))
    result = _of_shape(node, _cut(node, axes, _interleaved(node, axes, result, groups)))
    if not node.has(2):
        return result
    filters = node.dims(1)[1] * groups
    bias = node.of_dims(node.value(2), [filters], f"the bias is a vector over the {filters} filters")
    return node.emit(AddOp, result, node.reshape(bias, [filters, *[const(1)] * len(axes)]))


def _taps(node: Node, axes: Sequence[_Axis], groups: int) -> Value:
    """The weight as [groups, channels / groups, filters / groups, rows, phases, ...], a pair for every spatial axis.

    Tap row * stride + phase is at that row and phase.
    """
    channels, filters = node.dims(1)[:2]
    rows = [max(run.rows for run in axis.runs) for axis in axes]
    behind = [n * axis.stride - axis.lead - axis.taps for n, axis in zip(rows, axes, strict=True)]
    weight = _padded(node, _spread(node, axes, node.value(1)), [0, 0, *(axis.lead for axis in axes)], [0, 0, *behind])
    split = [const(n) for count, axis in zip(rows, axes, strict=True) for n in (count, axis.stride)]
    return node.reshape(weight, [const(groups), channels // groups, filters, *split])


def _convolution(node: Node, axes: Sequence[_Axis], runs: Sequence[_Run], taps: Value, groups: int) -> Value:
    """The phases of these runs, [n, groups * phases * filters / groups, positions...]."""
    rank, (_, share, filters, *_) = len(axes), value_dims(taps)
    kept: dict[int, range] = {}
    for i, (axis, run) in enumerate(zip(axes, runs, strict=True)):
        kept[3 + 2 * i] = range(run.rows - 1, -1, -1)
        kept[4 + 2 * i] = range(run.first_tap, run.first_tap + axis.together)
    rows, phases = (range(first, 3 + 2 * rank, 2) for first in (3, 4))
    weight = node.emit(TransposeOp, sliced(node, taps, kept), permutation=ints([0, *phases, 2, 1, *rows]))
    outputs = filters * (groups * prod(axis.together for axis in axes))
    return node.emit(
        ConvOp,
        node.value(0),
        node.reshape(weight, [outputs, share, *(const(run.rows) for run in runs)]),
        strides=ints([1] * rank),
        pads=ints(run.pads[end] for end in (0, 1) for run in runs),
        dilations=ints(axis.spacing for axis in axes),
        groups=int_attr(groups),
    )


def _spread(node: Node, axes: Sequence[_Axis], weight: Value) -> Value:
    """The weight with zeros between its taps."""
    if all(axis.spread == 1 for axis in axes):
        return weight
    outer = node.dims(1)[:2]
    weight = node.reshape(weight, [*outer, *(const(n) for axis in axes for n in (axis.kernel, 1))])
    zeros = [0, 0, *(n for axis in axes for n in (0, axis.spread - 1))]
    weight = _padded(node, weight, [0] * len(zeros), zeros)
    weight = node.reshape(weight, [*outer, *(const(axis.kernel * axis.spread) for axis in axes)])
    return sliced(node, weight, {2 + i: range(axis.taps) for i, axis in enumerate(axes)})


def _padded(node: Node, value: Value, before: Sequence[int], after: Sequence[int]) -> Value:
    if not any((*before, *after)):
        return value
    return node.emit(PadOp, value, pads=ints([*before, *after]), value=number_attr(0.0, node.dtype_of(value)))


def _interleaved(node: Node, axes: Sequence[_Axis], value: Value, groups: int) -> Value:
    """[n, runs... * groups * phases... * filters, positions...] as [n, groups * filters, positions * runs * phases...].

    Filters are side by side, as they are behind it, so that blocks of them are moved as a whole.
    """
    rank, n, filters = len(axes), node.dims(0)[0], node.dims(1)[1]
    runs, together = [const(len(axis.runs)) for axis in axes], [const(axis.together) for axis in axes]
    value = node.reshape(value, [n, *runs, const(groups), *together, filters, *(axis.positions for axis in axes)])
    split = [first + i for i in range(rank) for first in (3 + 2 * rank, 1, 2 + rank)]
    value = node.emit(TransposeOp, value, permutation=ints([0, 1 + rank, 2 + 2 * rank, *split]))
    return node.reshape(value, [n, filters * groups, *(axis.positions * axis.stride for axis in axes)])


def _cut(node: Node, axes: Sequence[_Axis], value: Value) -> Value:
    """What of the computed elements belongs to the result."""
    kept: dict[int, range] = {}
    for i, axis in enumerate(axes, start=2):
        if axis.positions * axis.stride == axis.size:
            continue
        if axis.size.constant is None:
            value = section(node, value, i, const(0), axis.size)
        else:
            kept[i] = range(axis.size.constant)
    return sliced(node, value, kept) if kept else value


def _of_shape(node: Node, value: Value) -> Value:
    """Cut a value to the shape that is wanted along axes of which only the running model knows the length."""
    shape = node.attribute("output_shape")
    if shape is None:
        return value
    dims, rank = value_dims(value), len(shape)
    widths = [const(0)] * (2 * len(dims))
    for i, (size, wanted, extent) in enumerate(zip(dims[2:], shape, node.dims(0)[2:], strict=True)):
        if extent.constant is None:
            total = size - wanted
            front = total // 2 if node.attribute("auto_pad", "NOTSET") == "SAME_UPPER" else total - total // 2
            widths[2 + i], widths[4 + rank + i] = -front, front - total
    return padded(node, value, widths, 0.0)


# ---- Geometry --------------------------------------------------------------------------------------------------------


def _axes(node: Node) -> list[_Axis]:
    """The spatial axes, with the defaults of ONNX, and pads computed where sizes are wanted instead."""
    kernel = _kernel(node)
    rank = len(kernel)
    strides, dilations = (positive(node, name, rank) for name in ("strides", "dilations"))
    added, pads = (_not_negative(node, name, n) for name, n in (("output_padding", rank), ("pads", 2 * rank)))
    automatic = _wants_sizes(node, rank, pads)
    axes: list[_Axis] = []
    for i, extent in enumerate(node.dims(0)[2:]):
        excess = (kernel[i] - 1) * dilations[i] + 1 - strides[i] + added[i]  # without any pads
        front, behind = (0, 0) if automatic else (pads[i], pads[i + rank])
        if automatic and (extent.constant is not None or node.attribute("output_shape") is None):
            # below zero where more is wanted than there is: zeros are added
            total = excess - _wanted_excess(node, i, extent, strides[i])
            front = total // 2 if automatic == "SAME_UPPER" else total - total // 2
            behind = total - front
        axis = _Axis(extent, kernel[i], strides[i], dilations[i], front, excess - front - behind)
        if axis.size.constant is not None and axis.size.constant < 1:
            raise node.error(f"its pads leave nothing of axis {i + 2}")
        axes.append(axis)
    return axes


def _kernel(node: Node) -> list[int]:
    """The sizes of the window, which are constant. Raises TileworkError where input, weight and groups do not fit."""
    x, w, groups = node.dims(0), node.dims(1), node.attribute("group", 1)
    if len(x) != len(w) or len(x) < 2:
        raise node.error(f"input and weight are of one rank, at least 2, not {len(x)} and {len(w)}")
    node.require_equal(x[1], w[0], f"the input has {x[1]} channels, the weight is for {w[0]}")
    what = f"{x[1]} channels do not divide into {groups} groups"
    if groups < 1:
        raise node.error(what)
    node.quotient(x[1], groups, what)
    return [size.offset for size in w[2:]]


def _not_negative(node: Node, name: str, count: int) -> list[int]:
    given = list(node.attribute(name, [0] * count))
    if len(given) != count or min(given, default=0) < 0:
        raise node.error(f"{name} has {count} numbers that are not negative, not {given}")
    return given


def _wants_sizes(node: Node, rank: int, pads: Sequence[int]) -> str | None:
    """The value of auto_pad where pads follow from the sizes that are wanted; None where they are given."""
    shape, auto_pad = node.attribute("output_shape"), node.attribute("auto_pad", "NOTSET")
    if auto_pad not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise node.error(f"auto_pad '{auto_pad}' is not known")
    if auto_pad != "NOTSET" and any(pads):
        raise node.error(f"auto_pad '{auto_pad}' and pads {list(pads)} contradict each other")
    if shape is not None and len(shape) != rank:
        raise node.error(f"output_shape has {rank} numbers, not {len(shape)}")
    return auto_pad if shape is not None or auto_pad.startswith("SAME") else None


def _wanted_excess(node: Node, axis: int, extent: Expr, stride: int) -> int:
    """How much longer than stride times the input a spatial axis of the result is to be."""
    shape = node.attribute("output_shape")
    return 0 if shape is None else shape[axis] - extent.offset * stride
