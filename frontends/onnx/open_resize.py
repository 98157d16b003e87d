"""Resize to sizes of which only the running program knows the ratio: elements are taken by computed numbers.

Element i along an axis stands at n / d of the input, integers that operators compute from i and both sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from xdsl.dialects.builtin import AnyFloat, f32, f64

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import AddOp, CastOp, DivOp, GatherOp, MaxOp, MinOp, MulOp, SubOp
from tilework.frontends.onnx.cubics import COEFFICIENT, cubic_weights
from tilework.frontends.onnx.node import Node, int_attr, value_dims
from tilework.frontends.onnx.values import Value

SHIFTS = {"floor": (0, 0), "ceil": (2, -1), "round_prefer_ceil": (1, 0), "round_prefer_floor": (1, -1)}
"""What is added to n, in halves of d and in ones, so that rounding down does what each rounding does."""


def resized_openly(node: Node, sizes: Mapping[int, Expr], how: str, rounding: str) -> Value:
    """Input 0 with other sizes along some axes, from the first one on, so that whole rows are blended."""
    value, mode = node.value(0), node.attribute("mode", "nearest")
    for axis, size in sorted(sizes.items()):
        extent = value_dims(value)[axis]
        numerators, divisor = _places(node, extent, size, how)
        if mode == "nearest":
            value = _nearest(node, value, axis, numerators, divisor, rounding)
        else:
            value = (_blended if mode == "linear" else _cubic)(node, value, axis, numerators, divisor)
    return value


def _places(node: Node, extent: Expr, size: Expr, how: str) -> tuple[Value, Value]:
    """n for every element of the result, and d, twice what they are in the standard's formulas: whole numbers."""
    numbers, old, new = node.emitter.range(const(0), size, 1, node.title), node.size(extent), node.size(size)
    two = node.size(2)
    if how == "align_corners":  # of one element, the first
        last = node.emit(SubOp, old, node.size(1))
        steps = node.emit(MaxOp, node.emit(SubOp, new, node.size(1)), node.size(1))
        return node.emit(MulOp, node.emit(MulOp, numbers, two), last), node.emit(MulOp, steps, two)
    ends = node.emit(MulOp, new, two)
    if how == "asymmetric":
        return node.emit(MulOp, node.emit(MulOp, numbers, two), old), ends
    middles = node.emit(AddOp, node.emit(MulOp, numbers, two), node.size(1))
    places = node.emit(MulOp, middles, old)
    centred = node.emit(SubOp, places, new)
    if how == "half_pixel":
        return centred, ends
    if how == "pytorch_half_pixel":  # of one element, the first
        is_several = node.emit(MinOp, node.emit(SubOp, new, node.size(1)), node.size(1))
        return node.emit(MulOp, centred, is_several), ends
    raise node.error(f"coordinates '{how}' are not supported where sizes are not constant")


def _nearest(node: Node, value: Value, axis: int, numerators: Value, divisor: Value, rounding: str) -> Value:
    if rounding not in SHIFTS:
        raise node.error(f"its nearest_mode is one of {', '.join(SHIFTS)}, it is not {rounding}")
    halves, ones = SHIFTS[rounding]
    half = node.emit(DivOp, divisor, node.size(2))
    shift = node.emit(AddOp, node.emit(MulOp, half, node.size(halves)), node.size(ones))
    shifted = _not_negative(node, node.emit(AddOp, numerators, shift))
    return _taken(node, value, axis, node.emit(DivOp, shifted, divisor))


def _blended(node: Node, value: Value, axis: int, numerators: Value, divisor: Value) -> Value:
    """The elements at both sides, weighted, in float at least; at an end both are that one."""
    wide = _wide(node, value)
    inside = _not_negative(node, numerators)
    before = node.emit(DivOp, inside, divisor)
    share = _share(node, value, axis, node.emit(SubOp, inside, node.emit(MulOp, before, divisor)), divisor)
    behind = node.emit(AddOp, before, node.size(1))
    first, second = (node.cast(_taken(node, value, axis, at), wide) for at in (before, behind))
    blend = node.emit(AddOp, first, node.emit(MulOp, node.emit(SubOp, second, first), share))
    return node.cast(blend, node.dtype_of(value))


def _cubic(node: Node, value: Value, axis: int, numerators: Value, divisor: Value) -> Value:
    """The mean of two elements at each side; beyond an end they are that one."""
    wide = _wide(node, value)
    ahead = node.emit(AddOp, numerators, divisor)  # which is not negative
    behind = node.emit(DivOp, ahead, divisor)
    share = _share(node, value, axis, node.emit(SubOp, ahead, node.emit(MulOp, behind, divisor)), divisor)
    weights = cubic_weights(node, share, node.attribute("cubic_coeff_a", COEFFICIENT))
    places = (_not_negative(node, node.emit(AddOp, behind, node.size(n))) for n in (-2, -1, 0, 1))
    elements = (node.cast(_taken(node, value, axis, at), wide) for at in places)
    terms = (node.emit(MulOp, element, weight) for element, weight in zip(elements, weights, strict=True))
    return node.cast(reduce(lambda a, b: node.emit(AddOp, a, b), terms), node.dtype_of(value))


def _wide(node: Node, value: Value) -> AnyFloat:
    """The type in which elements are weighted."""
    dtype = node.dtype_of(value)
    if not isinstance(dtype, AnyFloat):
        mode = node.attribute("mode")
        raise node.error(f"mode '{mode}' is for floating-point numbers where sizes are not constant")
    return dtype if dtype == f64 else f32


def _share(node: Node, value: Value, axis: int, rest: Value, divisor: Value) -> Value:
    """How far behind the element before, for each element along an axis."""
    wide = _wide(node, value)
    share = node.emit(DivOp, node.emit(CastOp, rest, to=wide), node.emit(CastOp, divisor, to=wide))
    return node.reshape(share, [*value_dims(share), *[const(1)] * (len(value_dims(value)) - axis - 1)])


def _taken(node: Node, value: Value, axis: int, numbers: Value) -> Value:
    """Elements along an axis; behind the last one it is the last."""
    return node.emit(GatherOp, value, numbers, axis=int_attr(axis))


def _not_negative(node: Node, numbers: Value) -> Value:
    return node.emit(MaxOp, numbers, node.size(0))
