"""Converters: convolution and pooling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, ceildiv, const, maximum, product
from tilework.algebra.predicate import at_least
from tilework.dialects.graph import (
    AddOp,
    AveragePoolOp,
    ConvOp,
    DivOp,
    MaxOp,
    MaxPoolIndicesOp,
    MaxPoolOp,
    ModOp,
    MulOp,
    ReduceMaxOp,
    ReduceMeanOp,
    SubOp,
)
from tilework.dialects.graph.base import GraphOp, extremes, ints, numpy_dtype
from tilework.frontends.onnx.convert_padding import padded
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.sizes import repeated
from tilework.frontends.onnx.values import Value


@converter("Conv")
def conv(node: Node) -> Value:
    """The bias is added, one number a filter."""
    result = convolution(node, node.value(0), node.value(1))
    return node.emit(AddOp, result, bias_of(node, 2, 1)) if node.has(2) else result


def bias_of(node: Node, bias: int, weight: int) -> Value:
    """An input that has a number for each filter of another one, over the channels of images like input 0."""
    filters = node.dims(weight)[:1]
    vector = node.of_dims(node.value(bias), filters, f"the bias is a vector over the {filters[0]} filters")
    return node.reshape(vector, [*filters, *[const(1)] * (len(node.dims(0)) - 2)])


def convolution(node: Node, x: Value, weight: Value) -> Value:
    """With what the attributes say of windows; without a bias."""
    weight, kernel = with_window(node, weight)
    geometry = _geometry(node, kernel)
    image = geometry.padded(node, x, 0.0)
    return node.emit(ConvOp, image, weight, **geometry.attributes, groups=int_attr(node.attribute("group", 1)))


def with_window(node: Node, weight: Value) -> tuple[Value, list[int]]:
    """A weight, and the size of its window: `kernel_shape` where that is given, which is required of an open one."""
    dims = value_dims(weight)
    said, window = node.attribute("kernel_shape"), ", ".join(map(str, dims[2:]))
    if said is not None:
        what = f"kernel_shape {list(said)} is not that of the weight, [{window}]"
        weight = node.of_dims(weight, [*dims[:2], *map(const, said)], what)
    kernel = [d.constant for d in value_dims(weight)[2:] if d.constant is not None]
    if len(kernel) < len(dims) - 2:
        raise node.error(f"its window is of constant size, or kernel_shape says which, not of [{window}]")
    return weight, kernel


@converter("MaxPool")
def max_pool(node: Node) -> Sequence[Value]:
    """The largest elements, and where they are if that is asked for."""
    geometry = _pooling(node)
    least = extremes(numpy_dtype(node.dtype(0)))[0].item()
    x = geometry.padded(node, node.value(0), least)
    largest = node.emit(MaxPoolOp, x, **geometry.attributes)
    if not any(node.proto.output[1:]):
        return [largest]
    column_major = bool(node.attribute("storage_order", 0))
    order = BoolAttr.from_bool(column_major and not geometry.is_open)
    places = node.emit(MaxPoolIndicesOp, x, largest, **geometry.attributes, column_major=order)
    if geometry.is_open:
        places = _places_without_padding(node, places, value_dims(x), geometry.open_pads, column_major)
    return [largest, places]


def _places_without_padding(
    node: Node, places: Value, padded_dims: Sequence[Expr], pads: Sequence[Expr], column_major: bool
) -> Value:
    """The numbers that elements have in the image, from those that they have, in memory order, in the padded one.

    Where all of a window is as small as the padding is, its first element may be one of the padding. In place of that
    stands the nearest element of the image, which is the first one of the window that is in the image.
    """
    extents, padded_extents = node.dims(0)[2:], padded_dims[2:]
    rest, count = places, len(extents)
    strides = [product(extents[:i] if column_major else extents[i + 1 :]) for i in range(count)]
    plane = node.emit(DivOp, places, node.size(product(padded_extents)))
    number = node.emit(MulOp, plane, node.size(product(extents)))
    for i in reversed(range(count)):
        size = node.size(padded_extents[i])
        at = node.emit(SubOp, node.emit(ModOp, rest, size), node.size(pads[i]))
        inside = node.emit(MaxOp, at, node.size(0))
        number = node.emit(AddOp, number, node.emit(MulOp, inside, node.size(strides[i])))
        rest = node.emit(DivOp, rest, size)
    return number


@converter("AveragePool")
def average_pool(node: Node) -> Value:
    """Average over windows, in which padding counts on request."""
    counts = bool(node.attribute("count_include_pad", 0))
    geometry = _pooling(node)
    if counts or not geometry.is_open:
        return _mean(node, geometry, node.value(0), counts)
    # taps inside the image are the mean of as many ones and zeros around them
    x, channel = node.widened(node.value(0)), [const(1), const(1), *node.dims(0)[2:]]
    ones = repeated(node, node.scalar(1.0, x), channel)
    mean = node.emit(DivOp, _mean(node, geometry, x, True), _mean(node, geometry, ones, True))
    return node.narrowed(mean)


def _mean(node: Node, geometry: _Geometry, x: Value, counts: bool) -> Value:
    image, count_padding = geometry.padded(node, x, 0.0), BoolAttr.from_bool(counts)
    return node.emit(AveragePoolOp, image, **geometry.attributes, count_padding=count_padding)


def _pooling(node: Node) -> _Geometry:
    kernel = node.attribute("kernel_shape")
    geometry = _geometry(node, kernel)
    ceil_mode = BoolAttr.from_bool(bool(node.attribute("ceil_mode", 0)))
    return replace(geometry, attributes={"kernel": ints(kernel), **geometry.attributes, "ceil_mode": ceil_mode})


@converter("GlobalAveragePool")
def global_average_pool(node: Node) -> Value:
    """The mean over all spatial axes."""
    return _global(node, ReduceMeanOp)


@converter("GlobalMaxPool")
def global_max_pool(node: Node) -> Value:
    """The maximum over all spatial axes."""
    return _global(node, ReduceMaxOp)


def _global(node: Node, op: type[GraphOp]) -> Value:
    axes = ints(range(2, len(node.dims(0))))
    return node.emit(op, node.value(0), axes=axes, keep_dims=BoolAttr.from_bool(True))


# ---- Geometry --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Geometry:
    """Strides, dilations and pads of an operator; `open_pads` are those that sizes decide; images get them before."""

    attributes: Mapping[str, Attribute]
    open_pads: Sequence[Expr]

    @property
    def is_open(self) -> bool:
        """Whether sizes decide how much padding there is."""
        return bool(self.open_pads)

    def padded(self, node: Node, image: Value, number: float) -> Value:
        """An image with the padding that the operator does not add itself."""
        rank = len(self.open_pads) // 2
        zeros = [const(0)] * (len(value_dims(image)) - rank)
        widths = [*zeros, *self.open_pads[:rank], *zeros, *self.open_pads[rank:]]
        return padded(node, image, widths, number) if self.is_open else image


def _geometry(node: Node, kernel: Sequence[int]) -> _Geometry:
    """The geometry of windows, with the defaults of ONNX, and `auto_pad` computed."""
    rank = len(kernel)
    if rank != len(node.dims(0)) - 2:
        raise node.error(f"the input has rank {len(node.dims(0))}; windows of {rank} axes slide over rank {rank + 2}")
    strides, dilations = (positive(node, name, rank) for name in ("strides", "dilations"))
    attributes: dict[str, Attribute] = {"strides": ints(strides), "dilations": ints(dilations)}
    pads = _pads(node, kernel, strides, dilations)
    numbers = [width.constant for width in pads if width.constant is not None]
    if len(numbers) == len(pads):
        return _Geometry({**attributes, "pads": ints(numbers)}, ())
    return _Geometry({**attributes, "pads": ints([0] * len(pads))}, pads)


def positive(node: Node, name: str, rank: int) -> list[int]:
    """An attribute of a positive number for every spatial axis, by default 1."""
    given = list(node.attribute(name, [1] * rank))
    if len(given) != rank or min(given, default=1) < 1:
        raise node.error(f"the {name} are {rank} positive numbers, not {given}")
    return given


def given_pads(node: Node, rank: int) -> list[int]:
    """The attribute of a padding in front of every spatial axis and behind it, by default 0."""
    given = list(node.attribute("pads", [0] * (2 * rank)))
    if len(given) != 2 * rank or min(given, default=0) < 0:
        raise node.error(f"the pads are {2 * rank} numbers that are not negative, not {given}")
    return given


def _pads(node: Node, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> list[Expr]:
    auto_pad, pads = node.attribute("auto_pad", "NOTSET"), list(node.attribute("pads", [0] * (2 * len(kernel))))
    if auto_pad == "NOTSET":
        return [const(width) for width in pads]
    if any(pads):
        raise node.error(f"auto_pad '{auto_pad}' and pads {pads} contradict each other")
    if auto_pad == "VALID":
        return [const(0)] * (2 * len(kernel))
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        raise node.error(f"auto_pad '{auto_pad}' is not known")
    before: list[Expr] = []
    after: list[Expr] = []
    for extent, k, s, d in zip(node.dims(0)[2:], kernel, strides, dilations, strict=True):
        total = _same_padding(extent, (k - 1) * d + 1, s)
        small = Domain({key: (0, None) for key in total.variables()}).simplify(total // 2)
        large = total - small
        before.append(small if auto_pad == "SAME_UPPER" else large)
        after.append(large if auto_pad == "SAME_UPPER" else small)
    return before + after


def _same_padding(extent: Expr, span: int, stride: int) -> Expr:
    """How much padding makes `extent / stride` windows, rounded up.

    In this form, not that of a remainder, there are visibly as many windows of what is padded.
    """
    domain = Domain({key: (0, None) for key in extent.variables()})
    missing = (ceildiv(extent, stride) - 1) * stride + span - extent
    return missing if domain.proves(at_least(missing, 0)) else domain.simplify(maximum(missing, 0))
