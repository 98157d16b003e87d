"""Operators of the standard by others: images put together of windows, and of elements that a pooling has chosen."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import MaxPoolIndicesOp
from tilework.frontends.onnx.convert_windows import given_pads, positive
from tilework.frontends.onnx.defined import STANDARD, defined
from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.values import Known, as_dims


@defined("Col2Im", STANDARD)
def column_to_image(node: Node) -> str:
    """Columns are the elements of a window at each position; where windows overlap, elements add up.

    That is a transposed convolution, by a weight for each element of the window that has a 1 at its place."""
    image, window = node.integers(1, "image shape"), node.integers(2, "window")
    rank, taps, dims = len(window), prod(window), node.dims(0)
    strides, dilations = positive(node, "strides", rank), positive(node, "dilations", rank)
    pads = given_pads(node, rank)
    if len(dims) != 3 or len(image) != rank or min(window, default=0) < 1:
        raise node.error(f"it makes images of [batch, elements, columns], not {image} of windows {window}")
    spans = [(k - 1) * d + 1 - pads[i] - pads[rank + i] for i, (k, d) in enumerate(zip(window, dilations, strict=True))]
    room = [size - span for size, span in zip(image, spans, strict=True)]
    positions = [r // stride + 1 for r, stride in zip(room, strides, strict=True)]
    what = f"windows {window} of {image} are {prod(positions)} columns of {taps} elements a channel"
    if min(room) < 0:
        raise node.error(what)
    node.require_equal(dims[2], const(prod(positions)), what)
    node.quotient(dims[1], taps, what)
    over = [r % stride for r, stride in zip(room, strides, strict=True)]
    return f"""
Col2Im <dilations, pads, strides> (X, image_shape, window) => (Y) {{
   by_window = Constant <value_ints = {[-1, taps, *positions]}> ()
   columns = Reshape (X, by_window)
   square = Constant <value_ints = {[taps, taps]}> ()
   zeros = ConstantOfShape (square)
   one_each = EyeLike (zeros)
   taps = Constant <value_ints = {[taps, 1, *window]}> ()
   weight_numbers = Reshape (one_each, taps)
   weight = CastLike (weight_numbers, X)
   images = ConvTranspose <dilations = {dilations}, output_padding = {over}, pads = {pads}, strides = {strides}>
      (columns, weight)
   batch = Shape <end = 1> (X)
   shape = Constant <value_ints = {[-1, *image]}> ()
   whole = Concat <axis = 0> (batch, shape)
   Y = Reshape (images, whole)
}}"""


@defined("MaxUnpool", STANDARD)
def max_unpool(node: Node) -> str:
    """Elements at their places in the image that was pooled, zeros elsewhere.

    How large that was is said by the windows, as if they had all fitted; a larger image asked for begins with it. But
    indices that a MaxPool of the model has made count in its own image, where that is the one asked for.
    """
    kernel = node.attribute("kernel_shape")
    rank = len(kernel)
    strides, pads = positive(node, "strides", rank), given_pads(node, rank)
    what = f"windows of {rank} axes are of an image with a channel, and each element has one index"
    if len(node.dims(0)) != rank + 2:
        raise node.error(what)
    node.require_dims(node.value(1), node.dims(0), what)
    spans = [k - front - back for k, front, back in zip(kernel, pads[:rank], pads[rank:], strict=True)]
    inner = [(size - 1) * s + span for size, s, span in zip(node.dims(0)[2:], strides, spans, strict=True)]
    fitted, ends = [*node.dims(0)[:2], *inner], [0] * (rank + 2)
    asked, own = as_dims(node.array(2, "output shape")) if node.has(2) else fitted, _pooled_image(node)
    counts_in_asked = own == asked
    if not counts_in_asked:
        _require_image(node, own, fitted)
        ends = _larger_by(node, asked, fitted)
    return f"""
MaxUnpool <kernel_shape, pads, strides> (X, indices, output_shape) => (Y) {{
   outer = Shape <end = 2> (X)
   positions = Shape <start = 2> (X)
   one = Constant <value_int = 1> ()
   strides = Constant <value_ints = {strides}> ()
   spans = Constant <value_ints = {spans}> ()
   steps = Sub (positions, one)
   begins = Mul (steps, strides)
   inner = Add (begins, spans)
   fitted = Concat <axis = 0> (outer, inner)
   shape = {"Identity (output_shape)" if counts_in_asked and node.has(2) else "Identity (fitted)"}
   count = ReduceProd (shape)
   number = Constant <value_float = 0.0> ()
   zero = CastLike (number, X)
   zeros = Expand (zero, count)
   row = Constant <value_ints = [-1]> ()
   places = Reshape (indices, row)
   elements = Reshape (X, row)
   all = ScatterElements (zeros, places, elements)
   image = Reshape (all, shape)
   ends = Constant <value_ints = {[0] * (rank + 2) + ends}> ()
   Y = Pad (image, ends)
}}"""


def _pooled_image(node: Node) -> list[Expr] | None:
    """The dimensions of the image in which a MaxPool of this model has found the indices; None for others."""
    indices = node.value(1)
    maker = None if isinstance(indices, Known) else indices.owner
    return list(maker.dims(0)) if isinstance(maker, MaxPoolIndicesOp) else None


def _require_image(node: Node, own: Sequence[Expr] | None, fitted: Sequence[Expr]) -> None:
    """Refuse indices that count in an image of another size, of which other places would be meant."""
    if own is not None and any((a - b).constant not in (0, None) for a, b in zip(own, fitted, strict=True)):
        sizes = [", ".join(map(str, dims)) for dims in (own, fitted)]
        raise node.error(f"its indices count in an image [{sizes[0]}], not [{sizes[1]}]: make that its output shape")


def _larger_by(node: Node, shape: Sequence[Expr], pooled: Sequence[Expr]) -> list[int]:
    """How much larger a shape is, axis by axis, than that of the image that was pooled."""
    if len(shape) == len(pooled):
        more = [(size - own).constant for size, own in zip(shape, pooled, strict=True)]
        if all(n is not None and n >= 0 for n in more):
            return cast("list[int]", more)
    asked, least = ([*map(str, sizes)] for sizes in (shape, pooled))
    raise node.error(f"its output shape [{', '.join(asked)}] is not [{', '.join(least)}], or larger by a constant")
