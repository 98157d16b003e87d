"""Converter: transposed convolution, as an ordinary one that computes all phases of its result at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import AddOp, ConvOp, PadOp, TransposeOp
from tilework.dialects.graph.base import ints
from tilework.frontends.onnx.axes import sliced
from tilework.frontends.onnx.convert_windows import positive
from tilework.frontends.onnx.node import Node, converter, int_attr, number_attr
from tilework.frontends.onnx.values import Value


@dataclass(frozen=True)
class _Axis:
    """One spatial axis of a transposed convolution, and of the convolution of stride 1 in its place.

    Element i of the input, by tap t of the weight, is added to element i * stride + t * dilation - front of the result,
    which is `excess` elements longer than stride times the input. So its element q * stride + phase - front is the sum
    over j of x[q - j] * w[j * stride + phase]: for each phase a filter of every stride-th tap, the last one first. With
    a stride of 1 there is one phase, and dilation stays what it is; else the taps that dilation jumps over are zeros.
    """

    extent: Expr
    kernel: int
    stride: int
    dilation: int
    front: int
    excess: int

    @property
    def size(self) -> Expr:
        """Of the result."""
        return self.extent * self.stride + self.excess

    @property
    def spread(self) -> int:
        """By how much taps are moved apart in the weight."""
        return self.dilation if self.stride > 1 else 1

    @property
    def spacing(self) -> int:
        """The dilation of the convolution of stride 1."""
        return self.dilation if self.stride == 1 else 1

    @property
    def taps(self) -> int:
        """Of the weight, zeros between them included."""
        return (self.kernel - 1) * self.spread + 1

    @property
    def lead(self) -> int:
        """Zeros in front of the taps: where no slice can remove what is computed in front of the result, there must be
        no such elements."""
        return -self.front % self.stride if self.extent.constant is None else 0

    @property
    def rows(self) -> int:
        """How many taps each phase has."""
        return -(-(self.lead + self.taps) // self.stride)

    @property
    def _reach(self) -> int:
        return (self.rows - 1) * self.spacing

    @property
    def _skipped(self) -> int:
        """Values of q that are never computed: all of their elements are in front of the result."""
        return min((self.front + self.lead) // self.stride, self._reach)

    @property
    def start(self) -> int:
        """How many elements are computed in front of the result."""
        return self.front + self.lead - self._skipped * self.stride

    @property
    def pads(self) -> tuple[int, int]:
        """The padding of the input."""
        return self._reach - self._skipped, max(0, self._skipped - (-(self.start + self.excess) // self.stride))

    @property
    def positions(self) -> Expr:
        """How many values of q are computed."""
        return self.extent + (sum(self.pads) - self._reach)


@converter("ConvTranspose")
def conv_transpose(node: Node) -> Value:
    """A convolution with a filter for every phase; its channels move between the positions, and the ends are cut."""
    axes, groups = _axes(node), node.attribute("group", 1)
    filters = _phase_filters(node, axes, groups)
    before, after = zip(*(axis.pads for axis in axes), strict=True) if axes else ((), ())
    result = node.emit(
        ConvOp,
        node.value(0),
        filters,
        strides=ints([1] * len(axes)),
        pads=ints([*before, *after]),
        dilations=ints(axis.spacing for axis in axes),
        groups=int_attr(groups),
    )
    result = _cut(node, axes, _interleaved(node, axes, result, node.dims(1)[1] * groups))
    if not node.has(2):
        return result
    if node.dims(2) != (node.dims(1)[1] * groups,):
        raise node.error(f"the bias is a vector over the {node.dims(1)[1] * groups} filters")
    return node.emit(AddOp, result, node.reshape(node.value(2), [*node.dims(2), *[const(1)] * len(axes)]))


def _phase_filters(node: Node, axes: Sequence[_Axis], groups: int) -> Value:
    """The weight [channels, filters / groups, taps...] as [filters * phases, channels / groups, rows...]."""
    channels, filters = node.dims(1)[:2]
    weight = _spread(node, axes, node.value(1))
    behind = [axis.rows * axis.stride - axis.lead - axis.taps for axis in axes]
    weight = _padded(node, weight, [0, 0, *(axis.lead for axis in axes)], [0, 0, *behind])
    share = channels // groups
    parts = [const(n) for axis in axes for n in (axis.rows, axis.stride)]
    weight = node.reshape(weight, [const(groups), share, filters, *parts])
    backwards = {3 + 2 * i: range(axis.rows - 1, -1, -1) for i, axis in enumerate(axes) if axis.rows > 1}
    weight = sliced(node, weight, backwards) if backwards else weight
    rows, phases = (list(range(first, 3 + 2 * len(axes), 2)) for first in (3, 4))
    weight = node.emit(TransposeOp, weight, permutation=ints([0, 2, *phases, 1, *rows]))
    outputs = filters * (groups * prod(axis.stride for axis in axes))
    return node.reshape(weight, [outputs, share, *(const(axis.rows) for axis in axes)])


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


def _interleaved(node: Node, axes: Sequence[_Axis], value: Value, channels: Expr) -> Value:
    """[n, channels * phases, positions...] as [n, channels, positions * phases...]."""
    outer = [node.dims(0)[0], channels]
    value = node.reshape(value, [*outer, *(const(a.stride) for a in axes), *(a.positions for a in axes)])
    pairs = [at for i in range(len(axes)) for at in (2 + len(axes) + i, 2 + i)]
    value = node.emit(TransposeOp, value, permutation=ints([0, 1, *pairs]))
    return node.reshape(value, [*outer, *(axis.positions * axis.stride for axis in axes)])


def _cut(node: Node, axes: Sequence[_Axis], value: Value) -> Value:
    """What of the computed elements belongs to the result."""
    kept: dict[int, range] = {}
    for i, axis in enumerate(axes, start=2):
        if axis.positions * axis.stride == axis.size:
            continue
        if (size := axis.size.constant) is None:
            raise node.error(f"only an axis of constant size is cut; axis {i} would have size {axis.size}")
        kept[i] = range(axis.start, axis.start + size)
    return sliced(node, value, kept) if kept else value


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
        front, behind = pads[i], pads[i + rank]
        if automatic:
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
    """The sizes of the window. Raises TileworkError where input, weight and groups do not fit together."""
    x, w, groups = node.dims(0), node.dims(1), node.attribute("group", 1)
    if len(x) != len(w) or len(x) < 2:
        raise node.error(f"input and weight are of one rank, at least 2, not {len(x)} and {len(w)}")
    if x[1] != w[0]:
        raise node.error(f"the input has {x[1]} channels, the weight is for {w[0]}")
    if groups < 1 or x[1].constant is None or x[1].constant % groups:
        raise node.error(f"{x[1]} channels do not divide into {groups} groups")
    kernel = [d.constant for d in w[2:]]
    if None in kernel:
        raise node.error("its window is of constant size")
    declared = list(node.attribute("kernel_shape", kernel))
    if declared != kernel:
        raise node.error(f"kernel_shape {declared} is not that of the weight, {kernel}")
    return declared


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
    if shape is None:
        return 0
    if extent.constant is None:
        raise node.error(f"output_shape needs an axis of constant size, not {extent}")
    return shape[axis] - extent.constant * stride
