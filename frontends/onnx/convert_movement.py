"""Converters: reshape and its kin, transpose, concat, slice, split, tile, gather."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tilework.algebra.bounds import Domain
from tilework.algebra.exact_division import without_rounding
from tilework.algebra.index_expr import Expr, ceildiv, const, minimum, product
from tilework.algebra.predicate import at_least, equal
from tilework.dialects.graph import ConcatOp, GatherOp, TransposeOp
from tilework.dialects.graph.base import ints
from tilework.frontends.onnx.axes import axis_from_front, from_front, given_axes, slice_bounds, slice_range, sliced
from tilework.frontends.onnx.data_requirements import Chosen, require_in_range
from tilework.frontends.onnx.node import Node, converter, int_attr
from tilework.frontends.onnx.sizes import parts_of, repeated, require_sizes, sliced_openly
from tilework.frontends.onnx.told_bounds import shape_told
from tilework.frontends.onnx.values import Known, Value, as_dims


@converter("Reshape")
def reshape_by_attribute(node: Node) -> Value:
    """The shape is an attribute."""
    return _reshaped(node, [const(size) for size in node.attribute("shape", [])])


@converter("Reshape", since=5)
def reshape_by_input(node: Node) -> Value:
    """The shape is an input."""
    given, keeps = node.numbers(1, "shape"), not node.attribute("allowzero", 0)
    return _reshaped(node, shape_told(node, given, node.dims(0), keeps))


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
        others = product([*target[:at], *target[at + 1 :]])
        target = [*target[:at], _left_over(node, product(dims), others), *target[at + 1 :]]
    require_sizes(node, target)
    return node.reshape(node.value(0), target)


def _left_over(node: Node, elements: Expr, others: Expr) -> Expr:
    """How large the dimension is that is not said: all elements divided by those of the others, exactly.

    If that is seen only where sizes that were divided fit, the reshape that is made requires that they do.
    """
    if others == 0:
        raise node.error("-1 cannot be computed: the other dimensions hold no elements")
    for whole, part in ((elements, others), (without_rounding(elements), without_rounding(others))):
        if part * (whole // part) == whole:
            return whole // part
    return node.quotient(elements, others, f"-1 cannot be computed: {others} does not divide {elements}")


@converter("Flatten")
def flatten(node: Node) -> Value:
    """Reshape to a matrix: the axes before `axis` become rows."""
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
        axes = _axes_of_one(node, dims)
    axes = from_front(node, axes, len(dims))
    for axis in axes:
        node.require_equal(dims[axis], const(1), f"axis {axis} has size {dims[axis]}, not 1")
    return node.reshape(node.value(0), [d for axis, d in enumerate(dims) if axis not in axes])


def _axes_of_one(node: Node, dims: Sequence[Expr]) -> list[int]:
    """The axes of size 1: all open ones are where the model declares as few axes, else none is; that is required."""
    found = [axis for axis, d in enumerate(dims) if d == 1]
    open_axes = [axis for axis, d in enumerate(dims) if d.constant is None]
    if open_axes and node.declared_ranks() == [len(dims) - len(found) - len(open_axes)]:
        return sorted([*found, *open_axes])
    for axis in open_axes:
        what = f"it names no axes, so that axis {axis} is one of the result only where its size, {dims[axis]}, is not 1"
        node.require(what, at_least(dims[axis], 2), equal(dims[axis], 0))
    return found


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
    """Join inputs along an axis; one input alone is the result."""
    axis = axis_from_front(node, 1)
    if len(node.inputs) == 1:
        return node.value(0)
    return concatenated(node, [node.value(i) for i in range(len(node.inputs))], axis)


def concatenated(node: Node, values: Sequence[Value], axis: int) -> Value:
    """Tensors one behind the other along an axis."""
    return node.emit(ConcatOp, *values, axis=int_attr(axis))


@converter("Split")
def split(node: Node) -> Sequence[Value]:
    """Slices behind one another along one axis: of the sizes given, or equal ones (the last may be smaller)."""
    if node.opset < 2 and node.attribute("axis") is None:
        raise node.error("it does not say along which axis, for which opset 1 has no default")
    axis, count = axis_from_front(node, 0), len(node.proto.output)
    if node.attribute("num_outputs", count) != count:
        raise node.error(f"it has {count} outputs, and num_outputs={node.attribute('num_outputs')}")
    given = node.attribute("split") or (node.array(1, "list of sizes") if node.has(1) else None)
    if given is None:
        return parts_of(node, node.value(0), axis, _equal_parts(node, node.dims(0)[axis], count))
    sizes = as_dims(np.asarray(given))
    if len(sizes) != count:
        raise node.error(f"it has {count} outputs, but {len(sizes)} sizes")
    return parts_of(node, node.value(0), axis, sizes)


def _equal_parts(node: Node, extent: Expr, count: int) -> list[Expr]:
    """The sizes of so many parts. From opset 18 on the last one may be smaller, and others if there are too few."""
    if extent.constant is None and node.opset < 18:
        return [node.quotient(extent, count, f"it makes {count} equal parts of an axis of size {extent}")] * count
    domain = Domain({key: (0, None) for key in extent.variables()})
    ends = [domain.simplify(minimum(ceildiv(extent, count) * i, extent)) for i in range(count + 1)]
    return [end - start for start, end in pairwise(ends)]


@converter("Slice")
def slice_(node: Node) -> Value:
    """Bounds are attributes, from opset 10 on inputs."""
    dims, value = node.dims(0), node.value(0)
    kept: dict[int, range] = {}
    for axis, start, end, step in slice_bounds(node):
        extent = dims[axis].constant
        if extent is not None and isinstance(start, int) and isinstance(end, int):
            kept[axis] = slice_range(start, end, step, extent)
        else:
            value = sliced_openly(node, value, axis, start, end, step)
    if all(taken == range(dims[axis].offset) for axis, taken in kept.items()):
        return value
    return sliced(node, value, kept)


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
