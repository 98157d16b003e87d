"""Converters: padding."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const, maximum
from tilework.algebra.predicate import at_least
from tilework.dialects.graph import AddOp, ExtendOp, GatherOp, ModOp, PadOp
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.extend import MODES
from tilework.dialects.graph.padding import Widths
from tilework.dialects.support.index_attr import WidthsAttr
from tilework.frontends.onnx.axes import from_front, sliced
from tilework.frontends.onnx.node import Node, converter, int_attr, number_attr, value_dims
from tilework.frontends.onnx.sizes import section
from tilework.frontends.onnx.values import Value, as_dims


@converter("Pad")
def pad_by_attributes(node: Node) -> Value:
    """Widths and value are attributes."""
    if node.attribute("paddings") is not None:
        raise node.error("in which order opset 1 has the paddings of several axes, the standard says in two ways")
    return _pad(node, [const(width) for width in node.attribute("pads")], node.attribute("value", 0.0))


@converter("Pad", since=11)
def pad_by_inputs(node: Node) -> Value:
    """Widths, value and (from opset 18) axes are inputs."""
    widths = as_dims(node.array(1, "list of pads"))
    value = node.number(2, "padding value") if node.has(2) else 0.0
    rank = len(node.dims(0))
    if node.has(3):
        axes = from_front(node, node.integers(3, "list of axes"), rank)
        _require_pads(node, widths, len(axes))
        if len(set(axes)) < len(axes):
            raise node.error(f"axes {axes} name one axis twice")
        given = dict(zip(axes, zip(widths[: len(axes)], widths[len(axes) :], strict=True), strict=True))
        widths = [given.get(axis, (const(0), const(0)))[end] for end in (0, 1) for axis in range(rank)]
    return _pad(node, widths, value)


def _require_pads(node: Node, pads: Sequence[object], axes: int) -> None:
    if len(pads) != 2 * axes:
        raise node.error(f"{axes} axes need {2 * axes} pads, not {len(pads)}")


def _pad(node: Node, pads: Sequence[Expr], value: float) -> Value:
    """Element i is the input's element i less the width in front, or something else where the input has none."""
    _require_pads(node, pads, len(node.dims(0)))
    domain = Domain({key: (0, None) for width in pads for key in width.variables()})
    pads = [domain.simplify(width) for width in pads]
    mode = node.attribute("mode", "constant")
    if mode == "constant":
        return padded(node, node.value(0), pads, value)
    if mode == "wrap" and node.opset >= 19:
        return _wrapped(node, pads)
    if mode not in MODES:
        raise node.error(f"padding mode '{mode}' is not supported, only 'constant', 'edge' and 'reflect'")
    told = node.inputs_with_symbols(node.dims(0), pads)
    return node.emit(ExtendOp, node.value(0), *told, pads=_widths(pads), mode=StringAttr(mode))


def _widths(pads: Sequence[Expr]) -> Widths:
    """An operator's attribute for widths."""
    numbers = [width.constant for width in pads if width.constant is not None]
    return ints(numbers) if len(numbers) == len(pads) and min(numbers, default=0) >= 0 else WidthsAttr.of(pads)


def padded(node: Node, value: Value, pads: Sequence[Expr], number: float) -> Value:
    """A value with a number in front of each axis, and behind it, so often.

    A negative width cuts elements off, and where these run out, what the other end adds.
    """
    dims = value_dims(value)
    rank, added, cut = len(dims), list(pads), dict[int, range]()
    for axis, extent in enumerate(dims):
        ends = [e.constant for e in (extent, pads[axis], pads[axis + rank])]
        extent_, before, after = ends
        if extent_ is None or before is None or after is None or min(before, after) >= 0:
            continue
        total = extent_ + before + after
        if total < 0:
            raise node.error(f"pads of {before} and {after} leave less than nothing of axis {axis}, of size {extent}")
        start = min(max(0, -before), extent_)
        cut[axis] = range(start, max(start, extent_ - max(0, -after)))
        front = min(max(0, before), total)
        added[axis], added[axis + rank] = const(front), const(total - len(cut[axis]) - front)
    value = sliced(node, value, cut) if cut else value
    if all(width == 0 for width in added):
        return value
    fill, told = number_attr(number, node.dtype_of(value)), node.inputs_with_symbols(value_dims(value), added)
    return node.emit(PadOp, value, *told, pads=_widths(added), value=fill)


def _wrapped(node: Node, pads: Sequence[Expr]) -> Value:
    """Continued from the other end of what negative pads leave, as often as it takes."""
    value, rank = node.value(0), len(node.dims(0))
    for axis, (before, after) in enumerate(zip(pads[:rank], pads[rank:], strict=True)):
        if before == after == 0:
            continue
        extent = node.dims(0)[axis]
        cut = [maximum(-width, 0) for width in (before, after)]
        kept = extent - cut[0] - cut[1]
        node.require(f"pads of {before} and {after} leave nothing of axis {axis}, of size {extent}", at_least(kept, 1))
        value = section(node, value, axis, cut[0], kept)
        front = maximum(before, 0)
        numbers = node.emitter.range(const(0), kept + front + maximum(after, 0), 1, node.title)
        # ModOp is never negative where its divisor is positive
        moved = node.emit(AddOp, numbers, node.size(-front))
        value = node.emit(GatherOp, value, node.emit(ModOp, moved, node.size(kept)), axis=int_attr(axis))
    return value
