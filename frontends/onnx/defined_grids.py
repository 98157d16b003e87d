"""Operators of the standard by others: grids of places at which images are read."""

from __future__ import annotations

from tilework.frontends.onnx.defined import STANDARD, defined, wide
from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.values import as_dims


@defined("AffineGrid", STANDARD)
def affine_grid(node: Node) -> str:
    """For each element of an image its place, from -1 to 1 along each axis, moved by the affine map of its batch.

    With `align_corners` the outermost elements are at -1 and 1; an only one is at -1, as onnx's evaluator has it.
    """
    maps, sizes = node.dims(0), node.dims(1)
    rank = (sizes[0].constant or 0) - 2 if len(sizes) == 1 else 0
    if rank not in (2, 3) or [d.constant for d in maps[1:]] != [rank, rank + 1]:
        raise node.error("it takes maps of 2 by 3 for sizes [N, C, H, W], or of 3 by 4 for [N, C, D, H, W]")
    batch = as_dims(node.array(1, "size"))[0]
    if (maps[0] - batch).constant not in (0, None):
        raise node.error(f"its size is of a batch of {batch}, and there are {maps[0]} maps")
    axes, aligned = "xyz"[:rank], bool(node.attribute("align_corners", 0))
    terms = ", ".join(f"{axis}_term" for axis in axes)
    return f"""
AffineGrid <align_corners> (theta, size) => (grid) {{
   numbers = {wide(node)} (theta)
   zero = Constant <value_int = 0> ()
   one = Constant <value_int = 1> ()
   whole_float = Constant <value_float = 1.0> ()
   whole = CastLike (whole_float, numbers)
   two = Add (whole, whole)
   {", ".join(f"{axis}_column" for axis in axes)}, moves = Split <axis = 2, num_outputs = {rank + 1}> (numbers)
   of_image = Constant <value_ints = {[-1, *[1] * rank, rank]}> ()
   moved = Reshape (moves, of_image)
{"".join(_term(axis, i, rank, aligned) for i, axis in enumerate(axes))}
   places = Sum ({terms}, moved)
   grid = CastLike (places, theta)
}}"""


def _term(axis: str, i: int, rank: int, aligned: bool) -> str:
    """Lines that define what the places along one axis, number `i` from the last, add to the result."""
    if aligned:
        share = f"""
   {axis}_spans = Sub ({axis}_whole, whole)
   {axis}_span = Max ({axis}_spans, whole)
   {axis}_twice = Mul ({axis}_steps, two)
   {axis}_share = Div ({axis}_twice, {axis}_span)"""
    else:
        share = f"""
   {axis}_twice = Mul ({axis}_steps, two)
   {axis}_middle = Add ({axis}_twice, whole)
   {axis}_share = Div ({axis}_middle, {axis}_whole)"""
    return f"""
   {axis}_at = Constant <value_int = {rank + 1 - i}> ()
   {axis}_count = Gather (size, {axis}_at)
   {axis}_whole = CastLike ({axis}_count, numbers)
   {axis}_range = Range (zero, {axis}_count, one)
   {axis}_steps = CastLike ({axis}_range, numbers){share}
   {axis}_place = Sub ({axis}_share, whole)
   {axis}_along = Constant <value_ints = {[-1, *[1] * (i + 1)]}> ()
   {axis}_places = Reshape ({axis}_place, {axis}_along)
   {axis}_map = Reshape ({axis}_column, of_image)
   {axis}_term = Mul ({axis}_places, {axis}_map)"""
