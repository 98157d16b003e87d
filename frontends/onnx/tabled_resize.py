"""Resize of constant sizes by tables: along each axis every element is a sum of others, each times its own weight.

So are images that are smoothed (antialias), means of what is inside (exclude_outside), and regions of images.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil, floor

import numpy as np
from xdsl.dialects.builtin import AnyFloat, BoolAttr

from tilework.dialects.graph import AddOp, GatherOp, MulOp, ReduceSumOp, WhereOp
from tilework.dialects.graph.base import ints, numpy_dtype
from tilework.frontends.onnx.cubics import COEFFICIENT
from tilework.frontends.onnx.node import Node, int_attr, value_dims
from tilework.frontends.onnx.values import Array, Known, Value

CROP = "tf_crop_and_resize"
"""The coordinates of a region; outside of the image is another number."""

MOST = 32
"""So many terms are an expression, more a reduction."""

LARGEST = 1 << 24
"""Weights of the largest table that is made."""


@dataclass(frozen=True)
class Place:
    """Element i of `size` along an axis stands at slope * i + start of `extent`.

    The nearest one is found `shift` further, rounded down. Weights of others reach `spread` times as far as usual.
    """

    extent: int
    size: int
    slope: Fraction
    start: Fraction
    shift: Fraction
    spread: Fraction

    def reach(self, mode: str) -> int:
        """How many elements at each side are weighted."""
        return ceil((2 if mode == "cubic" else 1) * self.spread)

    def coordinates(self) -> list[Fraction]:
        """The places in the input from which the elements of the result are taken."""
        return [self.slope * i + self.start for i in range(self.size)]


def resized_by_tables(node: Node, places: Mapping[int, Place]) -> Value:
    """Input 0 read at other places along some axes."""
    mode, value = node.attribute("mode", "nearest"), node.value(0)
    if mode != "nearest":
        if not isinstance(node.dtype(0), AnyFloat):
            raise node.error(f"mode '{mode}' is for floating-point numbers, not for {node.dtype(0)}")
        value = node.widened(value)
    for axis, place in sorted(places.items()):
        if (weights := 2 * place.reach(mode) * place.size) > LARGEST:
            raise node.error(f"its table of {weights} weights is more than is computed beforehand")
        value = _nearest(node, value, axis, place) if mode == "nearest" else _mean(node, value, axis, place)
    value = node.narrowed(value)
    is_part = node.attribute("coordinate_transformation_mode", "half_pixel") == CROP
    return _with_surroundings(node, value, places) if is_part else value


def _nearest(node: Node, value: Value, axis: int, place: Place) -> Value:
    numbers = np.array([floor(x + place.shift) for x in place.coordinates()], np.int64)
    return _taken(node, value, axis, place, numbers)


def _mean(node: Node, value: Value, axis: int, place: Place) -> Value:
    """A term for each of the elements around, from the one that is furthest in front on."""
    numbers, weights = _table(node, place)
    dtype, behind = numpy_dtype(node.dtype_of(value)), [1] * (len(value_dims(value)) - axis - 1)
    if len(numbers) > MOST:
        taken, table = _taken(node, value, axis, place, numbers.T), weights.T.reshape(*weights.T.shape, *behind)
        terms = node.emit(MulOp, taken, Known(table.astype(dtype), f"{node.title}.weights"))
        return node.emit(ReduceSumOp, terms, axes=ints([axis + 1]), keep_dims=BoolAttr.from_bool(False))
    return reduce(
        lambda a, b: node.emit(AddOp, a, b),
        (
            node.emit(
                MulOp,
                _taken(node, value, axis, place, row),
                Known(weight.reshape(-1, *behind).astype(dtype), f"{node.title}.weights"),
            )
            for row, weight in zip(numbers, weights, strict=True)
        ),
    )


def _table(node: Node, place: Place) -> tuple[Array, Array]:
    """Numbers and weights of the elements around: a row for each of them, a column for each element of the result."""
    coordinates = place.coordinates()
    before = np.array([floor(x) for x in coordinates], np.int64)
    share = np.array([float(x - floor(x)) for x in coordinates])
    reach = place.reach(node.attribute("mode"))
    steps = np.arange(1 - reach, reach + 1).reshape(-1, 1)
    numbers, weights = before + steps, _weights(node, np.abs(steps - share) / float(place.spread))
    if node.attribute("exclude_outside", 0):
        weights = np.where((numbers >= 0) & (numbers < place.extent), weights, 0.0)
    total = weights.sum(axis=0)
    kept = weights.any(axis=1) | (steps[:, 0] == 0)
    return numbers[kept], weights[kept] / np.where(total == 0, 1.0, total)


def _weights(node: Node, distance: Array) -> Array:
    """The weights of elements so far away."""
    if node.attribute("mode") == "linear":
        return np.maximum(1.0 - distance, 0.0)
    a = node.attribute("cubic_coeff_a", COEFFICIENT)
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = (((distance - 5) * distance + 8) * distance - 4) * a
    return np.select([distance <= 1, distance < 2], [near, far], 0.0)


def _taken(node: Node, value: Value, axis: int, place: Place, numbers: Array) -> Value:
    """Elements along an axis; outside of it is the element at its end."""
    within = Known(numbers.clip(0, place.extent - 1), f"{node.title}.numbers")
    return node.emit(GatherOp, value, within, axis=int_attr(axis))


def _with_surroundings(node: Node, value: Value, places: Mapping[int, Place]) -> Value:
    """Another number wherever an element stands outside of the image."""
    number = node.scalar(node.attribute("extrapolation_value", 0.0), value)
    for axis, place in sorted(places.items()):
        is_outside = np.array([not 0 <= x <= place.extent - 1 for x in place.coordinates()], bool)
        if is_outside.any():
            column = is_outside.reshape(-1, *[1] * (len(value_dims(value)) - axis - 1))
            value = node.emit(WhereOp, Known(column, f"{node.title}.outside"), number, value)
    return value
