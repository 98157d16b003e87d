"""Operators of the standard by others: norms of an axis, of windows and of whole images."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tilework.frontends.onnx.axes import axis_from_front
from tilework.frontends.onnx.convert_windows import given_pads, positive
from tilework.frontends.onnx.defined import STANDARD, defined, wide
from tilework.frontends.onnx.node import Node


@defined("LpNormalization", STANDARD)
def lp_normalization(node: Node) -> str:
    """Divided by the norm along an axis; zeros stay zeros."""
    axis, p = axis_from_front(node, -1), node.attribute("p", 2)
    if p not in (1, 2):
        raise node.error(f"it divides by the first norm or the second (p), not by norm {p}")
    return f"""
LpNormalization <axis, p> (X) => (Y) {{
   x = {wide(node)} (X)
   axis = Constant <value_ints = [{axis}]> ()
   norm = ReduceL{p} (x, axis)
   nothing = Constant <value_float = 0.0> ()
   one = Constant <value_float = 1.0> ()
   zero = CastLike (nothing, norm)
   whole = CastLike (one, norm)
   is_zero = Equal (norm, zero)
   divisor = Where (is_zero, whole, norm)
   y = Div (x, divisor)
   Y = CastLike (y, X)
}}"""


@defined("GlobalLpPool", STANDARD)
def global_lp_pool(node: Node) -> str:
    """The norm over all spatial axes."""
    axes = list(range(2, len(node.dims(0))))
    if not axes:
        raise node.error("it takes images with channels")
    return f"""
GlobalLpPool <p> (X) => (Y) {{
{_powers(node)}
   axes = Constant <value_ints = {axes}> ()
   total = ReduceSum (power, axes)
{_root(node)}
}}"""


@defined("LpPool", STANDARD)
def lp_pool(node: Node) -> str:
    """The norm of each window: of the mean of its powers, padding among them, as many times as there are powers."""
    kernel, auto_pad = node.attribute("kernel_shape"), node.attribute("auto_pad", "NOTSET")
    if kernel is None:
        raise node.error("it does not say how large its windows are (kernel_shape)")
    pads = given_pads(node, len(kernel))
    if auto_pad not in ("NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID"):
        raise node.error(f"auto_pad '{auto_pad}' is not known")
    image = "   image = Identity (power)"
    if node.attribute("ceil_mode", 0) and (auto_pad == "NOTSET" or auto_pad == "VALID" and not any(pads)):
        if len(node.dims(0)) != len(kernel) + 2:
            raise node.error(f"windows of {len(kernel)} axes do not slide over images of {len(node.dims(0)) - 2}")
        if any(size.constant is None for size in node.dims(0)[2:]):
            image, pads = _padded_openly(node, kernel, pads), [0] * len(pads)
        else:
            pads = _rounded_up(node, kernel, pads)
        auto_pad = "NOTSET"
    return f"""
LpPool <auto_pad, ceil_mode, dilations, kernel_shape, p, pads, strides> (X) => (Y) {{
{_powers(node)}
{image}
   mean = AveragePool <auto_pad = "{auto_pad}", count_include_pad = 1, dilations: ints = @dilations,
                       kernel_shape: ints = @kernel_shape, pads = {pads}, strides: ints = @strides> (image)
   taps = Constant <value_float = {float(prod(kernel))}> ()
   count = CastLike (taps, mean)
   total = Mul (mean, count)
{_root(node)}
}}"""


def _powers(node: Node) -> str:
    """Lines that define `power`, of each element's distance from 0."""
    p = node.attribute("p", 2)
    if p < 1:
        raise node.error(f"the p of its norm is positive, it is not {p}")
    raised = f"""
   distance = Abs (x)
   number = Constant <value_float = {float(p)}> ()
   p = CastLike (number, x)
   power = Pow (distance, p)"""
    return f"""
   x = {wide(node)} (X)
{ {1: "   power = Abs (x)", 2: "   power = Mul (x, x)"}.get(p, raised) }"""


def _root(node: Node) -> str:
    """Lines that define the result, the root of `total`."""
    raised = """
   exponent = Reciprocal (p)
   y = Pow (total, exponent)"""
    return f"""
{ {1: "   y = Identity (total)", 2: "   y = Sqrt (total)"}.get(node.attribute("p", 2), raised) }
   Y = CastLike (y, X)"""


def _rounded_up(node: Node, kernel: Sequence[int], pads: Sequence[int]) -> list[int]:
    """The padding with which there are as many whole windows as there are, rounded up, that begin in the image."""
    rank, dims = len(kernel), node.dims(0)[2:]
    strides, dilations = positive(node, "strides", rank), positive(node, "dilations", rank)
    after: list[int] = []
    for i, size in enumerate(dims):
        whole = pads[i] + size.offset
        room = whole + pads[rank + i] - ((kernel[i] - 1) * dilations[i] + 1)
        last = min(-(-room // strides[i]), (whole - 1) // strides[i])
        after.append(max(pads[rank + i] + last * strides[i] - room, 0))
    return [*pads[:rank], *after]


def _padded_openly(node: Node, kernel: Sequence[int], pads: Sequence[int]) -> str:
    """Lines that define `image`, `power` with that padding, computed from sizes that only the running model knows."""
    rank = len(kernel)
    strides, dilations = positive(node, "strides", rank), positive(node, "dilations", rank)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    return f"""
   sizes = Shape <start = 2> (X)
   before = Constant <value_ints = {list(pads[:rank])}> ()
   after = Constant <value_ints = {list(pads[rank:])}> ()
   spans = Constant <value_ints = {spans}> ()
   strides = Constant <value_ints = {strides}> ()
   one = Constant <value_int = 1> ()
   none = Constant <value_int = 0> ()
   outer = Constant <value_ints = [0, 0]> ()
   whole = Add (sizes, before)
   padded = Add (whole, after)
   room = Sub (padded, spans)
   less = Sub (room, one)
   more = Add (less, strides)
   up = Div (more, strides)
   end = Sub (whole, one)
   inside = Div (end, strides)
   last = Min (up, inside)
   reached = Mul (last, strides)
   missing = Sub (reached, room)
   added = Add (missing, after)
   behind = Max (added, none)
   widths = Concat <axis = 0> (outer, before, outer, behind)
   image = Pad (power, widths)"""
