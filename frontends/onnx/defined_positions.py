"""Operators of the standard by others: along an axis, the largest element marked, and sequences reversed."""

from __future__ import annotations

from tilework.frontends.onnx.axes import axis_from_front, from_front
from tilework.frontends.onnx.defined import STANDARD, defined
from tilework.frontends.onnx.node import Node


@defined("Hardmax", STANDARD)
def hardmax(node: Node) -> str:
    """1 for the first of the largest along an axis, 0 elsewhere; before opset 13 all from that axis on is one row."""
    by_rows = node.opset < 13
    axis = axis_from_front(node, 1 if by_rows else -1)
    rows, along, result = "Identity (X)", axis, "Identity (marked)"
    if by_rows:
        rows, along, result = f"Flatten <axis = {axis}> (X)", 1, "Reshape (marked, shape)"
    return f"""
Hardmax <axis> (X) => (Y) {{
   rows = {rows}
   largest = ArgMax <axis = {along}, keepdims = 0> (rows)
   length = Shape <start = {along}, end = {along + 1}> (rows)
   numbers = Constant <value = float[2] {{0.0, 1.0}}> ()
   values = CastLike (numbers, X)
   marked = OneHot <axis = {along}> (largest, length, values)
   shape = Shape (X)
   Y = {result}
}}"""


@defined("ReverseSequence", STANDARD)
def reverse_sequence(node: Node) -> str:
    """Reverse as many elements of each sequence as its length says; those behind them stay."""
    rank = len(node.dims(0))
    time, batch = from_front(node, [node.attribute("time_axis", 0), node.attribute("batch_axis", 1)], rank)
    if {time, batch} != {0, 1}:
        raise node.error(f"its axes of time and batch are 0 and 1, not {time} and {batch}")
    what = f"it has a length for each of a batch of {node.dims(0)[batch]}"
    node.require_dims(node.value(1), node.dims(0)[batch : batch + 1], what)
    by_batch = f"Transpose <perm = {[batch, time, *range(2, rank)]}>"
    return f"""
ReverseSequence <batch_axis, time_axis> (X, lengths) => (Y) {{
   sequences = {by_batch} (X)
   extent = Shape <start = {time}, end = {time + 1}> (X)
   end = Squeeze (extent)
   zero = Constant <value_int = 0> ()
   one = Constant <value_int = 1> ()
   place = Range (zero, end, one)
   column = Constant <value_ints = [-1, 1]> ()
   length = Reshape (lengths, column)
   last = Sub (length, one)
   mirrored = Sub (last, place)
   is_reversed = Less (place, length)
   source = Where (is_reversed, mirrored, place)
   index = Constant <value_ints = [-1]> ()
   indices = Unsqueeze (source, index)
   reversed = GatherND <batch_dims = 1> (sequences, indices)
   Y = {by_batch} (reversed)
}}"""
