"""Converters: reshape and its kin, transpose, concat, slice, split, pad, tile, gather."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import StringAttr

from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.graph import ConcatOp, ExtendOp, GatherOp, PadOp, TransposeOp
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.extend import MODES
from tilework.frontends.onnx.axes import axis_from_front, from_front, given_axes, slice_bounds, slice_range, sliced
from tilework.frontends.onnx.node import Node, converter, int_attr, number_attr, value_dims
from tilework.frontends.onnx.open_axes import in_steps, padded
from tilework.frontends.onnx.requirements import Chosen, require_in_range
from tilework.frontends.onnx.same_sizes import find_same_sizes, find_same_symbols
from tilework.frontends.onnx.sizes import of_sizes, repeated, require_sizes, section
from tilework.frontends.onnx.values import Known, Value, as_dims


@converter("Reshape")
def reshape_by_attribute(node: Node) -> Value:
    """The shape is an attribute."""
    return _reshaped(node, [const(size) for size in node.attribute("shape", [])])


@converter("Reshape", since=5)
def reshape_by_input(node: Node) -> Value:
    """The shape is an input."""
    return _reshaped(node, as_dims(node.array(1, "shape")))


def _reshaped(node: Node, target: Sequence[Expr]) -> Value:
    """A 0 keeps the input's dimension (unless `allowzero`), a -1 is what is left."""
    dims = node.dims(0)
    if not node.attribute("allowzero", 0):
        if any(d == 0 and axis >= len(dims) for axis, d in enumerate(target)):
            raise node.error(
                f"its shape [{', '.join(map(str, target))}] keeps a dimension that the input does not have"
            )
        target = [dims[axis] if d == 0 else d for axis, d in enumerate(target)]
    if -1 in target:
        at = target.index(const(-1))
        others = [*target[:at], *target[at + 1 :]]
        target = [*target[:at], _left_over(node, dims, others), *target[at + 1 :]]
    require_sizes(node, target)
    find_same_sizes(product(dims), product(target))
    return node.reshape(node.value(0), target)


def _left_over(node: Node, dims: Sequence[Expr], others: Sequence[Expr]) -> Expr:
    """The elements of `dims` divided by those of `others`, exactly."""
    rest = list(dims)
    divisor = 1
    for d in others:
        if d.constant is not None:
            divisor *= d.constant
        elif d in rest:
            rest.remove(d)
        else:
            for size in rest:  # a guess, which is checked when the program runs: without it -1 is no expression
                find_same_symbols(d, size)
            raise node.error(f"-1 cannot be computed: {d} is no dimension of the input")
    if divisor == 0:
        raise node.error("-1 cannot be computed: the other dimensions hold no elements")
    elements = product(rest)
    quotient = elements // divisor
    if quotient * divisor != elements:
        raise node.error(f"-1 cannot be computed: {divisor} does not divide {elements}")
    return quotient


@converter("Flatten")
def flatten(node: Node) -> Value:
    """To a matrix: the axes before `axis` become rows."""
    dims = node.dims(0)
    axis = node.attribute("axis", 1)
    if not -len(dims) <= axis <= len(dims):
        raise node.error(f"a tensor of rank {len(dims)} cannot be flattened at axis {axis}")
    axis = axis + len(dims) if axis < 0 else axis
    return node.reshape(node.value(0), [product(dims[:axis]), product(dims[axis:])])


@converter("Squeeze")
def squeeze(node: Node) -> Value:
    """Axes of size 1 disappear; all of them where none is named."""
    dims = node.dims(0)
    axes = given_axes(node)
    if axes is None:
        axes = [axis for axis, d in enumerate(dims) if d == 1]
    axes = from_front(node, axes, len(dims))
    for axis in axes:
        find_same_sizes(dims[axis], const(1))
    if wrong := [axis for axis in axes if dims[axis] != 1]:
        raise node.error(f"axis {wrong[0]} has size {dims[wrong[0]]}, not 1")
    return node.reshape(node.value(0), [d for axis, d in enumerate(dims) if axis not in axes])


@converter("Unsqueeze")
def unsqueeze(node: Node) -> Value:
    """Axes of size 1 appear, at positions counted in the result."""
    dims = list(node.dims(0))
    given = given_axes(node) or []
    axes = from_front(node, given, len(dims) + len(given))
    if len(set(axes)) < len(axes):
        raise node.error(f"axes {axes} name one axis twice")
    for axis in sorted(axes):
        dims.insert(axis, const(1))
    return node.reshape(node.value(0), dims)


@converter("Transpose")
def transpose(node: Node) -> Value:
    """Without `perm` the axes are reversed."""
    rank = len(node.dims(0))
    permutation = node.attribute("perm", list(reversed(range(rank))))
    if list(permutation) == list(range(rank)):
        return node.value(0)
    return node.emit(TransposeOp, node.value(0), permutation=ints(permutation))


@converter("Concat")
def concat(node: Node) -> Value:
    """Of one input: that input."""
    axis = axis_from_front(node, 1)
    if len(node.inputs) == 1:
        return node.value(0)
    return concatenated(node, [node.value(i) for i in range(len(node.inputs))], axis)


def concatenated(node: Node, values: Sequence[Value], axis: int) -> Value:
    """Tensors one behind the other along an axis; the others are as the first one has them."""
    first = value_dims(values[0])
    beside = [of_sizes(node, v, [*first[:axis], *value_dims(v)[axis : axis + 1], *first[axis + 1 :]]) for v in values]
    return node.emit(ConcatOp, *beside, axis=int_attr(axis))


@converter("Split")
def split(node: Node) -> Sequence[Value]:
    """Slices behind one another along one axis: of the sizes given, or equal ones (the last may be smaller)."""
    if node.opset < 2 and node.attribute("axis") is None:
        raise node.error("it does not say along which axis, for which opset 1 has no default")
    axis, count = axis_from_front(node, 0), len(node.proto.output)
    sizes = node.attribute("split") or (node.integers(1, "list of sizes") if node.has(1) else None)
    if sizes is not None:
        find_same_sizes(node.dims(0)[axis], const(sum(sizes)))
    extent = node.dims(0)[axis].constant
    if extent is None:
        raise node.error(f"only an axis of constant size is split; axis {axis} has size {node.dims(0)[axis]}")
    if node.attribute("num_outputs", count) != count:
        raise node.error(f"it has {count} outputs, and num_outputs={node.attribute('num_outputs')}")
    if sizes is None:
        each = -(-extent // count)
        sizes = [max(0, min(each, extent - each * i)) for i in range(count)]
    if len(sizes) != count:
        raise node.error(f"it has {count} outputs, but {len(sizes)} sizes")
    if sum(sizes) != extent or min(sizes) < 0:
        raise node.error(f"sizes {list(sizes)} do not add up to {extent}")
    starts = np.cumsum([0, *sizes]).tolist()
    return [
        sliced(node, node.value(0), {axis: range(start, stop)})
        for start, stop in zip(starts[:-1], starts[1:], strict=True)
    ]


@converter("Slice")
def slice_(node: Node) -> Value:
    """Bounds are attributes, from opset 10 on inputs."""
    dims, value = node.dims(0), node.value(0)
    kept: dict[int, range] = {}
    for axis, start, end, step in slice_bounds(node):
        extent = dims[axis].constant
        if extent is not None and isinstance(start, int) and isinstance(end, int):
            kept[axis] = slice_range(start, end, step, extent)
        elif step == 1:
            value = section(node, value, axis, start, end)
        elif isinstance(start, int) and isinstance(end, int):
            value = in_steps(node, value, axis, start, end, step)
        else:
            raise node.error(f"steps of {step} between bounds {start} and {end} that are open are not supported")
    if all(taken == range(dims[axis].offset) for axis, taken in kept.items()):
        return value
    return sliced(node, value, kept)


@converter("Pad")
def pad_by_attributes(node: Node) -> Value:
    """Widths and value are attributes."""
    if node.attribute("paddings") is not None:
        raise node.error("in which order opset 1 has the paddings of several axes, the standard says in two ways")
    return _pad(node, node.attribute("pads"), node.attribute("value", 0.0))


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
    if all(width.is_constant for width in widths):
        return _pad(node, [width.offset for width in widths], value)
    if node.attribute("mode", "constant") != "constant":
        raise node.error("pads that depend on symbolic dimensions are of mode 'constant'")
    return padded(node, node.value(0), widths, node.scalar(value, node.value(0)))


def _require_pads(node: Node, pads: Sequence[object], axes: int) -> None:
    if len(pads) != 2 * axes:
        raise node.error(f"{axes} axes need {2 * axes} pads, not {len(pads)}")


def _pad(node: Node, pads: Sequence[int], value: float) -> Value:
    """Element i is the input's element i less the width in front, or the value where the input has none.

    So a negative width cuts elements off, and where these run out, what the other end adds.
    """
    dims = node.dims(0)
    _require_pads(node, pads, len(dims))
    if (mode := node.attribute("mode", "constant")) != "constant":
        return _extended(node, pads, mode)
    added = list(pads)
    cut: dict[int, range] = {}
    for axis, (before, after) in enumerate(zip(pads[: len(dims)], pads[len(dims) :], strict=True)):
        if min(before, after) < 0:
            if (extent := dims[axis].constant) is None:
                raise node.error(f"only an axis of constant size is cut; axis {axis} has size {dims[axis]}")
            total = extent + before + after
            if total < 0:
                raise node.error(
                    f"pads of {before} and {after} leave less than nothing of axis {axis}, of size {extent}"
                )
            start = min(max(0, -before), extent)
            cut[axis] = range(start, max(start, extent - max(0, -after)))
            added[axis] = min(max(0, before), total)
            added[axis + len(dims)] = total - len(cut[axis]) - added[axis]
    result = sliced(node, node.value(0), cut) if cut else node.value(0)
    if max(added, default=0) > 0:
        result = node.emit(PadOp, result, pads=ints(added), value=number_attr(value, node.dtype(0)))
    return result


def _extended(node: Node, pads: Sequence[int], mode: str) -> Value:
    if mode == "wrap" and node.opset >= 19:
        return _wrapped(node, pads)
    if mode not in MODES:
        raise node.error(f"padding mode '{mode}' is not supported, only 'constant', 'edge' and 'reflect'")
    return node.emit(ExtendOp, node.value(0), pads=ints(pads), mode=StringAttr(mode))


def _wrapped(node: Node, pads: Sequence[int]) -> Value:
    """Continued from the other end of what negative pads leave, as often as it takes."""
    value, rank = node.value(0), len(node.dims(0))
    for axis, (before, after) in enumerate(zip(pads[:rank], pads[rank:], strict=True)):
        if before == after == 0:
            continue
        extent = node.dims(0)[axis].constant
        if extent is None:
            raise node.error(f"mode 'wrap' continues axes of constant size; axis {axis} has size {node.dims(0)[axis]}")
        kept = np.arange(extent)[max(-before, 0) : max(extent + min(after, 0), 0)]
        if not len(kept):
            raise node.error(f"pads of {before} and {after} leave nothing of axis {axis}, of size {extent}")
        numbers = kept.take(np.arange(-max(before, 0), len(kept) + max(after, 0)), mode="wrap")
        value = node.emit(GatherOp, value, Known(numbers, f"{node.title}.numbers"), axis=int_attr(axis))
    return value


@converter("Tile")
def tile_along_one_axis(node: Node) -> Value:
    """The input repeated along one axis."""
    [axis] = from_front(node, [int(node.number(2, "axis"))], len(node.dims(0)))
    times = int(node.number(1, "number of tiles"))
    return _tiled(node, [const(times if i == axis else 1) for i in range(len(node.dims(0)))])


@converter("Tile", since=6)
def tile(node: Node) -> Value:
    """The input repeated along every axis."""
    return _tiled(node, as_dims(node.array(1, "list of repeats")))


def _tiled(node: Node, repeats: Sequence[Expr]) -> Value:
    """Before each axis one of size 1 is broadcast, and both become one."""
    dims = node.dims(0)
    require_sizes(node, repeats, "repeats")
    if len(repeats) != len(dims):
        raise node.error(f"{len(dims)} axes need {len(dims)} repeats, not {len(repeats)}")
    pairs = list(zip(repeats, dims, strict=True))
    apart = node.reshape(node.value(0), [size for _, d in pairs for size in (const(1), d)])
    copies = repeated(node, apart, [size for pair in pairs for size in pair])
    return node.reshape(copies, [times * d for times, d in pairs])


@converter("Gather")
def gather(node: Node) -> Value:
    """One known index along an axis of constant size is a slice without that axis."""
    axis = axis_from_front(node, 0)
    indices, extent = node.value(1), node.dims(0)[axis].constant
    require_in_range(node, Chosen(indices, axis, node.dims(0)[axis]))
    if isinstance(indices, Known) and not indices.is_symbolic and extent is not None and indices.array.size == 1:
        return _element(node, axis, int(indices.array.item()) % extent, indices.array.ndim)
    return node.emit(GatherOp, node.value(0), indices, axis=int_attr(axis))


def _element(node: Node, axis: int, index: int, rank: int) -> Value:
    """One element along an axis, which becomes `rank` axes of size 1."""
    dims = node.dims(0)
    taken = sliced(node, node.value(0), {axis: range(index, index + 1)})
    return node.reshape(taken, [*dims[:axis], *[const(1)] * rank, *dims[axis + 1 :]])
