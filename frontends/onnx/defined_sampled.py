"""Operators of the standard by others: samples between the elements of an image, from the four around each."""

from __future__ import annotations

from math import prod

from tilework.algebra.index_expr import const, to_expr
from tilework.frontends.onnx.convert_windows import given_pads, positive
from tilework.frontends.onnx.defined import STANDARD, defined, wide
from tilework.frontends.onnx.node import Node

_INTEGERS = """
   zero = Constant <value_int = 0> ()
   one = Constant <value_int = 1> ()
   columns = Shape <start = 3, end = 4> (X)
   behind = Constant <value_ints = [-1]> ()"""
"""Lines that define numbers which the texts below use."""


def _floats(**floats: float) -> str:
    """Lines that define numbers of the type of `numbers`."""
    return "".join(
        f"""
   {name}_float = Constant <value_float = {value}> ()
   {name} = CastLike ({name}_float, numbers)"""
        for name, value in floats.items()
    )


def _neighbours(name: str, axis: int) -> str:
    """Lines that define the two elements around `name`, a place along an axis: their indices and how they are weighted,
    not at all where they lie outside of the image."""
    of_each = "".join(
        f"""
   {name}_from_front{i} = Max ({name}_place{i}, zero)
   {name}_index{i} = Min ({name}_from_front{i}, {name}_last)
   {name}_is_inside{i} = Equal ({name}_place{i}, {name}_index{i})
   {name}_weight{i} = Where ({name}_is_inside{i}, {name}_share{i}, nothing)"""
        for i in (0, 1)
    )
    return f"""
   {name}_size = Shape <start = {axis}, end = {axis + 1}> (X)
   {name}_last = Sub ({name}_size, one)
   {name}_floor = Floor ({name})
   {name}_share1 = Sub ({name}, {name}_floor)
   {name}_share0 = Sub (whole, {name}_share1)
   {name}_place0 = Cast <to = 7> ({name}_floor)
   {name}_place1 = Add ({name}_place0, one)
{of_each}"""


def _corners(batch_axes: int) -> str:
    """Lines that define weighted elements around `y` and `x`: `corner00` to `corner11`, of the rows of a table that
    begin where `first` says."""
    return "".join(
        f"""
   row{i}{j} = Mul (y_index{i}, columns)
   inside{i}{j} = Add (row{i}{j}, x_index{j})
   number{i}{j} = Add (inside{i}{j}, first)
   index{i}{j} = Unsqueeze (number{i}{j}, behind)
   element{i}{j} = GatherND <batch_dims = {batch_axes}> (table, index{i}{j})
   weight{i}{j} = Mul (y_weight{i}, x_weight{j})
   weights{i}{j} = Unsqueeze (weight{i}{j}, behind)
   corner{i}{j} = Mul (element{i}{j}, weights{i}{j})"""
        for i in (0, 1)
        for j in (0, 1)
    )


# ---- Windows ---------------------------------------------------------------------------------------------------------


@defined("DeformConv", STANDARD)
def deformable_convolution(node: Node) -> str:
    """A convolution whose windows are of samples, each where its offset moves it to, and weighted by a mask.

    The samples of a position are a column, and groups of channels are moved apart."""
    dims, weight, offsets = node.dims(0), node.dims(1), node.dims(2)
    if len(dims) != 4 or len(weight) != 4 or len(offsets) != 4:
        raise node.error("it takes images with channels, and offsets for these")
    filters, channels, *kernel = (size.constant or 0 for size in weight)
    groups, parts = node.attribute("group", 1), node.attribute("offset_group", 1)
    if min(groups, parts, filters, channels, *kernel) < 1 or filters % groups or channels * groups % parts:
        raise node.error(f"{groups} groups and {parts} of offsets do not part its channels and filters")
    what = f"its images have {channels * groups} channels, not {dims[1]}"
    node.require_equal(dims[1], const(channels * groups), what)
    if list(node.attribute("kernel_shape", kernel)) != kernel:
        raise node.error(f"kernel_shape {node.attribute('kernel_shape')} is not that of the weight, {kernel}")
    strides, dilations = positive(node, "strides", 2), positive(node, "dilations", 2)
    pads, taps = given_pads(node, 2), prod(kernel)
    positions = [
        (size + (pads[i] + pads[i + 2] - (kernel[i] - 1) * dilations[i] - 1)) // strides[i] + 1
        for i, size in enumerate(dims[2:])
    ]
    for i, what, wanted in (
        (2, "offset", [dims[0], 2 * parts * taps, *positions]),
        (3, "bias", [filters]),
        (4, "mask", [dims[0], parts * taps, *positions]),
    ):
        if node.has(i):
            text = f"its {what} is of [{', '.join(map(str, wanted))}]"
            node.require_dims(node.value(i), [*map(to_expr, wanted)], text)
    return f"""
DeformConv <dilations, group, kernel_shape, offset_group, pads, strides> (X, W, offset, B, mask) => (Y) {{
   numbers = {wide(node)} (X)
   moves = {wide(node)} (offset)
{_INTEGERS}
{_floats(nothing=0.0, whole=1.0)}
   positions = Shape <start = 2> (offset)
   by_tap = Constant <value_ints = {[0, parts, *kernel, 2]}> ()
   by_move = Concat <axis = 0> (by_tap, positions)
   all_moves = Reshape (moves, by_move)
   both = Constant <value_ints = [4]> ()
   y_moves, x_moves = Split <axis = 4, num_outputs = 2> (all_moves)
   flat = Constant <value_ints = {[0, parts, -1]}> ()
{_taps("y", 0, kernel, strides, dilations, pads)}
{_taps("x", 1, kernel, strides, dilations, pads)}
{_neighbours("y", 2)}
{_neighbours("x", 3)}

   by_part = Constant <value_ints = {[0, parts, channels * groups // parts, -1]}> ()
   by_channel = Reshape (numbers, by_part)
   table = Transpose <perm = [0, 1, 3, 2]> (by_channel)
   first = Identity (zero)
{_corners(batch_axes=2)}
   all = Sum (corner00, corner01, corner10, corner11)
   each = Constant <value_ints = {[0, parts, -1, 1]}> ()        # if mask
   mask_numbers = CastLike (mask, numbers)                      # if mask
   weights = Reshape (mask_numbers, each)                       # if mask
   samples = Mul (all, weights)                                 # if mask
   samples = Identity (all)                                     # if no mask

   by_sample = Constant <value_ints = {[0, parts, taps, -1, channels * groups // parts]}> ()
   apart = Reshape (samples, by_sample)
   of_channels = Transpose <perm = [0, 1, 4, 2, 3]> (apart)
   by_group = Constant <value_ints = {[0, groups, channels * taps, -1]}> ()
   columns_of_group = Reshape (of_channels, by_group)
   of_group = Constant <value_ints = {[groups, filters // groups, channels * taps]}> ()
   W_numbers = CastLike (W, numbers)
   filters = Reshape (W_numbers, of_group)
   product = MatMul (filters, columns_of_group)
   by_filter = Constant <value_ints = {[0, filters]}> ()
   image = Concat <axis = 0> (by_filter, positions)
   convolved = Reshape (product, image)
   over_image = Constant <value_ints = [-1, 1, 1]> ()           # if B
   B_numbers = CastLike (B, numbers)                            # if B
   bias = Reshape (B_numbers, over_image)                       # if B
   y_numbers = Add (convolved, bias)                            # if B
   y_numbers = Identity (convolved)                             # if no B
   Y = CastLike (y_numbers, X)
}}"""


def _taps(name: str, axis: int, kernel: list[int], strides: list[int], dilations: list[int], pads: list[int]) -> str:
    """Lines that define where along an axis of an image the samples of all windows are: one row for each part."""
    taps = [tap * dilations[axis] - pads[axis] for tap in range(kernel[axis])]
    return f"""
   {name}_tap = Constant <value_ints = {taps}> ()
   {name}_apart = Constant <value_ints = {[-1, *[1] * (3 - axis)]}> ()
   {name}_taps = Reshape ({name}_tap, {name}_apart)
   {name}_extents = Shape <start = {axis + 2}, end = {axis + 3}> (offset)
   {name}_extent = Squeeze ({name}_extents)
   {name}_range = Range (zero, {name}_extent, one)
   {name}_stride = Constant <value_int = {strides[axis]}> ()
   {name}_window = Mul ({name}_range, {name}_stride)
   {name}_line = Constant <value_ints = {[-1, *[1] * (1 - axis)]}> ()
   {name}_windows = Reshape ({name}_window, {name}_line)
   {name}_fixed = Add ({name}_taps, {name}_windows)
   {name}_from = CastLike ({name}_fixed, numbers)
   {name}_move = Squeeze ({name}_moves, both)
   {name}_at = Add ({name}_move, {name}_from)
   {name} = Reshape ({name}_at, flat)"""
