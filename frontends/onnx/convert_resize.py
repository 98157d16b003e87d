"""Converters: Resize, and Upsample as older models have it.

Every way to compute coordinates makes a linear function of the position, slope * i + start, of exact fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, gcd, lcm

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import ResizeOp
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.resize import MODES, Coordinates
from tilework.dialects.support.diagnostics import TileworkError
from tilework.dialects.support.index_attr import DimsAttr
from tilework.frontends.onnx.axes import from_front
from tilework.frontends.onnx.cubics import COEFFICIENT
from tilework.frontends.onnx.given import DependsOnInputs
from tilework.frontends.onnx.node import Node, converter, float_attr
from tilework.frontends.onnx.open_resize import resized_openly
from tilework.frontends.onnx.sizes import repeated, require_sizes
from tilework.frontends.onnx.tabled_resize import CROP, Place, resized_by_tables
from tilework.frontends.onnx.values import Value, as_dims

HALF = Fraction(1, 2)
SIMPLE = 4096
"""A scale that is a fraction of a smaller denominator is meant to be that one: 0.6 is 3/5, not 5033165/8388608."""

NEEDS_SIZES = ("align_corners", "half_pixel_symmetric", "pytorch_half_pixel")
"""Coordinates that depend on both sizes, not only on their ratio."""

WHOLE = (Fraction(0), Fraction(1))
"""Where the part of an axis that is resized begins and ends, from 0 to 1."""


@dataclass(frozen=True)
class _Axis:
    """What becomes of one axis, or of a part of it: its size before and after, and the ratio that is asked for."""

    extent: Expr
    size: Expr
    scale: Fraction
    part: tuple[Fraction, Fraction] = WHOLE

    @property
    def stays(self) -> bool:
        """Whether it is what it was."""
        return self.scale == 1 and self.size == self.extent and self.part == WHOLE


@converter("Upsample")
def upsample_rows_and_columns(node: Node) -> Value:
    """An image, by two attributes."""
    return _upsampled(node, [1.0, 1.0, node.attribute("height_scale"), node.attribute("width_scale")])


@converter("Upsample", since=7)
def upsample_by_attribute(node: Node) -> Value:
    """Scales are an attribute."""
    return _upsampled(node, node.attribute("scales"))


@converter("Upsample", since=9)
def upsample(node: Node) -> Value:
    """Scales are an input."""
    return _upsampled(node, _numbers(node, 1, "list of scales"))


def _upsampled(node: Node, scales: Sequence[float]) -> Value:
    return _resized(node, _by_scales(node, range(len(node.dims(0))), scales), "asymmetric", "floor")


@converter("Resize", since=10)
def resize_by_scales(node: Node) -> Value:
    """Resize as Upsample does, but also to smaller images."""
    scales = _numbers(node, 1, "list of scales")
    return _resized(node, _by_scales(node, range(len(node.dims(0))), scales), "asymmetric", "floor")


@converter("Resize", since=11)
def resize(node: Node) -> Value:
    """Resize by scales or to sizes, along all axes or some; what takes known sizes is compiled for those given."""
    try:
        return _resize(node)
    except TileworkError as error:
        sizes = node.value(3) if node.has(3) else None
        names = node.emitter.inputs_read(sizes) if isinstance(sizes, SSAValue) else frozenset[str]()
        if names:
            raise DependsOnInputs(str(error), names) from error
        raise


def _resize(node: Node) -> Value:
    """Resize to sizes, which data may tell where the coordinates do not need them beforehand."""
    rank = len(node.dims(0))
    axes = from_front(node, node.attribute("axes", range(rank)), rank)
    how = node.attribute("coordinate_transformation_mode", "half_pixel")
    rounding = node.attribute("nearest_mode", "round_prefer_floor")
    mode = _require_mode(node)
    if mode == "nearest" and node.attribute("antialias", 0):
        raise node.error("what is nearest is not smoothed (antialias)")
    parts = _parts(node, axes) if how == CROP else {}
    if node.has(2) and node.dims(2) != (const(0),):
        resized = _by_scales(node, axes, _numbers(node, 2, "list of scales"))
    else:
        sizes = as_dims(node.array(3, "list of sizes"))
        changed = _changed(node, axes, sizes)
        if node.attribute("keep_aspect_ratio_policy", "stretch") == "stretch" and _are_open(node, changed):
            require_sizes(node, sizes, "list of sizes")
            if node.attribute("antialias", 0):
                raise node.error(NEEDS_CONSTANTS.format(SMOOTHING))
            if mode == "cubic" and node.attribute("exclude_outside", 0):
                raise node.error(NEEDS_CONSTANTS.format(EXCLUDING))
            return resized_openly(node, changed, how, rounding)
        resized = _to_sizes(node, axes, sizes)
    for axis, part in parts.items():
        extent = node.dims(0)[axis]
        resized[axis] = replace(resized.get(axis, _Axis(extent, extent, Fraction(1))), part=part)
    if what := _why_tables(node, resized, how):
        return _by_tables(node, resized, how, rounding, what)
    return _resized(node, resized, how, rounding)


# ---- Sizes -----------------------------------------------------------------------------------------------------------


def _numbers(node: Node, i: int, what: str) -> list[float]:
    return [float(number) for number in node.array(i, what).flat]


def _parts(node: Node, axes: Sequence[int]) -> dict[int, tuple[Fraction, Fraction]]:
    """The parts of the axes of a region."""
    ends = _numbers(node, 1, "region")
    if len(ends) != 2 * len(axes) or not np.isfinite(ends).all():
        raise node.error(f"a region of {len(axes)} axes is {2 * len(axes)} finite numbers, not {ends}")
    starts, stops = (map(_fraction, half) for half in (ends[: len(axes)], ends[len(axes) :]))
    return dict(zip(axes, zip(starts, stops, strict=True), strict=True))


def _by_scales(node: Node, axes: Sequence[int], scales: Sequence[float]) -> dict[int, _Axis]:
    _require_count(node, "scales", scales, axes)
    if wrong := [scale for scale in scales if not 0 < scale < float("inf")]:
        raise node.error(f"scales are positive, {wrong[0]} is not")
    return {axis: _scaled(node.dims(0)[axis], scale) for axis, scale in zip(axes, scales, strict=True)}


def _scaled(extent: Expr, scale: float) -> _Axis:
    ratio = _fraction(scale)
    if extent.constant is None:
        return _Axis(extent, extent * ratio.numerator // ratio.denominator, ratio)
    return _Axis(extent, const(int(np.float32(extent.constant) * np.float32(scale))), ratio)


def _fraction(scale: float) -> Fraction:
    exact = Fraction(scale)
    simple = exact.limit_denominator(SIMPLE)
    return simple if np.float32(float(simple)) == np.float32(scale) else exact


def _to_sizes(node: Node, axes: Sequence[int], sizes: Sequence[Expr]) -> dict[int, _Axis]:
    """An axis that keeps its size may be of any; the others are of constant sizes."""
    changed = _changed(node, axes, sizes)
    extents = [_number(node, axis, node.dims(0)[axis]) for axis in changed]
    wanted = [_number(node, axis, size) for axis, size in changed.items()]
    if min(wanted, default=1) < 1 or 0 in extents:
        raise node.error(f"it cannot make sizes {wanted} of {extents}")
    scales = [Fraction(size, extent) for size, extent in zip(wanted, extents, strict=True)]
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    if policy in ("not_larger", "not_smaller"):
        if len(changed) < len(axes):
            scales.append(Fraction(1))  # that of the axes which keep their sizes
        return _in_proportion(node, axes, min(scales) if policy == "not_larger" else max(scales))
    if policy != "stretch":
        raise node.error(f"its keep_aspect_ratio_policy is stretch, not_larger or not_smaller, it is not {policy}")
    made = zip(changed, extents, wanted, scales, strict=True)
    return {axis: _Axis(const(extent), const(size), scale) for axis, extent, size, scale in made}


def _changed(node: Node, axes: Sequence[int], sizes: Sequence[Expr]) -> dict[int, Expr]:
    """The new sizes of the axes that get some."""
    _require_count(node, "sizes", sizes, axes)
    return {axis: size for axis, size in zip(axes, sizes, strict=True) if size != node.dims(0)[axis]}


def _are_open(node: Node, sizes: Mapping[int, Expr]) -> bool:
    """Whether it is not known by how much an axis is scaled."""
    return any(size.constant is None or node.dims(0)[axis].constant is None for axis, size in sizes.items())


def _in_proportion(node: Node, axes: Sequence[int], scale: Fraction) -> dict[int, _Axis]:
    """All axes scaled alike, to the nearest size."""
    extents = [_number(node, axis, node.dims(0)[axis]) for axis in axes]
    made = zip(axes, extents, strict=True)
    return {axis: _Axis(const(extent), const(floor(scale * extent + HALF)), scale) for axis, extent in made}


def _require_count(node: Node, what: str, given: Sequence[object], axes: Sequence[int]) -> None:
    if len(given) != len(axes) or len(set(axes)) < len(axes):
        raise node.error(f"{len(axes)} different axes have as many {what}, not {len(given)}")


def _number(node: Node, axis: int, size: Expr) -> int:
    if size.constant is None:
        raise node.error(f"sizes before and after differ and have to be constant; axis {axis} has size {size}")
    return size.constant


# ---- Tables ----------------------------------------------------------------------------------------------------------

NEEDS_CONSTANTS = "{} is not supported where sizes are not constant"
SMOOTHING = "smoothing (antialias)"
EXCLUDING = "a mean of what is inside (exclude_outside)"


def _why_tables(node: Node, resized: Mapping[int, _Axis], how: str) -> str:
    """What there is of which only tables are made; nothing where it is nothing."""
    if how == CROP:
        return f"a region ({CROP})"
    if node.attribute("antialias", 0) and any(axis.scale < 1 for axis in resized.values()):
        return SMOOTHING
    is_cubic = node.attribute("mode", "nearest") == "cubic"
    return EXCLUDING if is_cubic and node.attribute("exclude_outside", 0) else ""


def _by_tables(node: Node, resized: Mapping[int, _Axis], how: str, rounding: str, what: str) -> Value:
    places: dict[int, Place] = {}
    for axis, one in resized.items():
        if one.stays:
            continue
        extent, size = one.extent.constant, one.size.constant
        if extent is None or size is None:
            raise node.error(NEEDS_CONSTANTS.format(what))
        slope, start = _coordinate(node, one, how)
        is_nearest = node.attribute("mode", "nearest") == "nearest"
        shift = _rounded_down(node, slope, start, rounding) - start if is_nearest else Fraction(0)
        spread = max(1 / one.scale, Fraction(1)) if node.attribute("antialias", 0) else Fraction(1)
        places[axis] = Place(extent, size, slope, start, shift, spread)
    return resized_by_tables(node, places)


# ---- Coordinates -----------------------------------------------------------------------------------------------------


def _require_mode(node: Node) -> str:
    mode: str = node.attribute("mode", "nearest")
    if node.opset < 7 and mode == "bilinear":
        return "linear"
    modes = MODES if node.op_type == "Resize" and node.opset >= 11 else MODES[:2]
    if mode not in modes:
        raise node.error(f"mode '{mode}' is not supported, only {', '.join(modes)}")
    return mode


def _resized(node: Node, resized: Mapping[int, _Axis], how: str, rounding: str) -> Value:
    mode = _require_mode(node)
    dims = list(node.dims(0))
    coordinates = [Coordinates(1, 0, 1)] * len(dims)
    for axis, one in resized.items():
        if one.stays:
            continue
        slope, start = _coordinate(node, one, how)
        if mode == "nearest":
            start = _rounded_down(node, slope, start, rounding)
        dims[axis], coordinates[axis] = one.size, _integers(slope, start)
    axes = list(zip(node.dims(0), dims, coordinates, strict=True))
    if mode == "nearest" and all((c.step, c.offset) == (1, 0) and size == d * c.divisor for d, size, c in axes):
        return _repeated(node, [c.divisor for c in coordinates])
    steps, offsets, divisors = (ints(column) for column in zip(*coordinates, strict=True))
    return node.emit(
        ResizeOp,
        node.value(0),
        shape=DimsAttr.of(dims),
        steps=steps,
        offsets=offsets,
        divisors=divisors,
        mode=StringAttr(mode),
        coefficient=float_attr(node.attribute("cubic_coeff_a", COEFFICIENT)) if mode == "cubic" else None,
    )


def _repeated(node: Node, factors: Sequence[int]) -> Value:
    """Every element so many times in a row: an axis of size 1 behind its own is broadcast, and both become one."""
    pairs = list(zip(node.dims(0), factors, strict=True))
    apart = node.reshape(node.value(0), [size for d, n in pairs for size in ((d, const(1)) if n > 1 else (d,))])
    copies = repeated(node, apart, [size for d, n in pairs for size in ((d, const(n)) if n > 1 else (d,))])
    return node.reshape(copies, [d * n for d, n in pairs])


def _coordinate(node: Node, axis: _Axis, how: str) -> tuple[Fraction, Fraction]:
    """Slope and start of the coordinates of one axis."""
    slope = 1 / axis.scale
    centred = HALF * slope - HALF
    if how in (*NEEDS_SIZES, CROP):
        extent, size = axis.extent.constant, axis.size.constant
        if extent is None or size is None:
            raise node.error(f"coordinates '{how}' need constant sizes, not {axis.extent}")
        if how == CROP:
            first, last = (end * (extent - 1) for end in axis.part)
            return ((last - first) / (size - 1), first) if size > 1 else (Fraction(0), (first + last) / 2)
        if how == "half_pixel_symmetric":
            return slope, (extent - size * slope) / 2 + centred
        if size == 1:
            return Fraction(0), Fraction(0)
        return (Fraction(extent - 1, size - 1), Fraction(0)) if how == "align_corners" else (slope, centred)
    starts = {"half_pixel": centred, "asymmetric": Fraction(0), "tf_half_pixel_for_nn": HALF * slope}
    if how not in starts:
        raise node.error(f"coordinates '{how}' are not supported, only {', '.join([*starts, *NEEDS_SIZES, CROP])}")
    return slope, starts[how]


def _rounded_down(node: Node, slope: Fraction, start: Fraction, rounding: str) -> Fraction:
    """The start for which rounding down does what `rounding` does: numbers lie apart by 1/step at least."""
    step = lcm(slope.denominator, start.denominator, 2)
    shifts = {
        "floor": Fraction(0),
        "ceil": 1 - Fraction(1, step),
        "round_prefer_ceil": HALF,
        "round_prefer_floor": HALF - Fraction(1, step),
    }
    if rounding not in shifts:
        raise node.error(f"its nearest_mode is one of {', '.join(shifts)}, it is not {rounding}")
    return start + shifts[rounding]


def _integers(slope: Fraction, start: Fraction) -> Coordinates:
    divisor = lcm(slope.denominator, start.denominator)
    step, offset = int(slope * divisor), int(start * divisor)
    common = gcd(step, offset, divisor)
    return Coordinates(step // common, offset // common, divisor // common)
