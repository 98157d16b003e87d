"""Converters: reshape and its kin, transpose, concat, slice, split, pad, expand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.graph import BroadcastOp, ConcatOp, PadOp, SliceOp, TransposeOp
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.broadcast import broadcast_dims
from tilework.dialects.index_attr import DimsAttr
from tilework.frontends.onnx.folding import python_slice
from tilework.frontends.onnx.node import Node, converter, int_attr
from tilework.frontends.onnx.values import Value, as_dims


@converter("Reshape")
def reshape(node: Node) -> Value:
    """A 0 keeps the input's dimension (unless `allowzero`), a -1 is what is left."""
    dims = node.dims(0)
    target = as_dims(node.array(1, "shape")) if node.has(1) else [const(n) for n in node.required("shape")]
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
            raise node.error(f"-1 cannot be computed: {d} is no dimension of the input")
    elements = product(rest)
    quotient = elements // divisor if divisor > 0 else const(-1)
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
    axes = _axes(node)
    if axes is None:
        axes = [axis for axis, d in enumerate(dims) if d == 1]
    axes = _from_front(node, axes, len(dims))
    if wrong := [axis for axis in axes if dims[axis] != 1]:
        raise node.error(f"axis {wrong[0]} has size {dims[wrong[0]]}, not 1")
    return node.reshape(node.value(0), [d for axis, d in enumerate(dims) if axis not in axes])


@converter("Unsqueeze")
def unsqueeze(node: Node) -> Value:
    """Axes of size 1 appear, at positions counted in the result."""
    dims = list(node.dims(0))
    axes = _axes(node) or []
    for axis in sorted(_from_front(node, axes, len(dims) + len(axes))):
        dims.insert(axis, const(1))
    return node.reshape(node.value(0), dims)


def _axes(node: Node) -> list[int] | None:
    """Axes from the attribute (before opset 13) or from input 1."""
    given = node.attribute("axes")
    if given is not None:
        return list(given)
    return node.integers(1, "list of axes") if node.has(1) else None


def _from_front(node: Node, axes: Sequence[int], rank: int) -> list[int]:
    if wrong := [axis for axis in axes if not -rank <= axis < rank]:
        raise node.error(f"a tensor of rank {rank} has no axis {wrong[0]}")
    return [axis % rank for axis in axes]


@converter("Transpose")
def transpose(node: Node) -> Value:
    """Without `perm` the axes are reversed."""
    permutation = node.attribute("perm", list(reversed(range(len(node.dims(0))))))
    if list(permutation) == list(range(len(permutation))):
        return node.value(0)
    return node.emit(TransposeOp, node.value(0), permutation=ints(permutation))


@converter("Concat")
def concat(node: Node) -> Value:
    """Of one input: that input."""
    if len(node.inputs) == 1:
        return node.value(0)
    axis = _from_front(node, [node.attribute("axis", 1)], len(node.dims(0)))[0]
    return node.emit(ConcatOp, *(node.value(i) for i in range(len(node.inputs))), axis=int_attr(axis))


@converter("Split")
def split(node: Node) -> Sequence[Value]:
    """Slices behind one another along one axis: of the sizes given, or equal ones (the last may be smaller)."""
    axis = _from_front(node, [node.attribute("axis", 0)], len(node.dims(0)))[0]
    extent = node.dims(0)[axis].constant
    if extent is None:
        raise node.error(f"only an axis of constant size is split; axis {axis} has size {node.dims(0)[axis]}")
    sizes = node.attribute("split") or (node.integers(1, "list of sizes") if node.has(1) else None)
    if sizes is None:
        count = len(node.proto.output)
        each = -(-extent // count)
        sizes = [max(0, min(each, extent - each * i)) for i in range(count)]
    if sum(sizes) != extent:
        raise node.error(f"sizes {list(sizes)} do not add up to {extent}")
    starts = np.cumsum([0, *sizes]).tolist()
    return [
        _sliced(node, node.value(0), {axis: range(start, stop)})
        for start, stop in zip(starts[:-1], starts[1:], strict=True)
    ]


def _sliced(node: Node, value: Value, kept: dict[int, range]) -> Value:
    return node.emit(
        SliceOp,
        value,
        axes=ints(kept),
        starts=ints(taken.start for taken in kept.values()),
        stops=ints(taken.stop for taken in kept.values()),
        steps=ints(taken.step for taken in kept.values()),
    )


@converter("Slice")
def slice_by_attributes(node: Node) -> Value:
    """Bounds are attributes."""
    starts, ends = node.required("starts"), node.required("ends")
    axes = node.attribute("axes", list(range(len(starts))))
    return _slice(node, starts, ends, axes, [1] * len(axes))


@converter("Slice", since=10)
def slice_by_inputs(node: Node) -> Value:
    """Bounds are inputs, and there are steps."""
    starts, ends = node.integers(1, "list of starts"), node.integers(2, "list of ends")
    axes = node.integers(3, "list of axes") if node.has(3) else list(range(len(starts)))
    steps = node.integers(4, "list of steps") if node.has(4) else [1] * len(starts)
    return _slice(node, starts, ends, axes, steps)


def _slice(node: Node, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int], steps: Sequence[int]) -> Value:
    if len({len(starts), len(ends), len(axes), len(steps)}) > 1:
        raise node.error("starts, ends, axes and steps differ in number")
    dims = node.dims(0)
    kept: dict[int, range] = {}
    for axis, start, end, step in zip(_from_front(node, axes, len(dims)), starts, ends, steps, strict=True):
        if step == 0:
            raise node.error("a step is 0")
        extent = dims[axis].constant
        if extent is None:
            if (start, step) == (0, 1) and end >= 2**31 - 1:
                continue  # everything along this axis
            raise node.error(f"only an axis of constant size is sliced; axis {axis} has size {dims[axis]}")
        kept[axis] = range(*python_slice(start, end, step).indices(extent))
    if all(taken == range(dims[axis].offset) for axis, taken in kept.items()):
        return node.value(0)
    return _sliced(node, node.value(0), kept)


@converter("Pad")
def pad_by_attributes(node: Node) -> Value:
    """Widths and value are attributes."""
    return _pad(node, node.required("pads"), node.attribute("value", 0.0))


@converter("Pad", since=11)
def pad_by_inputs(node: Node) -> Value:
    """Widths, value and (from opset 18) axes are inputs."""
    pads = node.integers(1, "list of pads")
    value = float(node.array(2, "padding value").item()) if node.has(2) else 0.0
    rank = len(node.dims(0))
    if node.has(3):
        axes = _from_front(node, node.integers(3, "list of axes"), rank)
        given = dict(zip(axes, zip(pads[: len(axes)], pads[len(axes) :], strict=True), strict=True))
        pads = [given.get(axis, (0, 0))[end] for end in (0, 1) for axis in range(rank)]
    return _pad(node, pads, value)


def _pad(node: Node, pads: Sequence[int], value: float) -> Value:
    """Negative widths cut elements off; then the others add some."""
    if (mode := node.attribute("mode", "constant")) != "constant":
        raise node.error(f"padding mode '{mode}' is not supported, only 'constant'")
    dims = node.dims(0)
    if len(pads) != 2 * len(dims):
        raise node.error(f"{len(dims)} axes need {2 * len(dims)} pads, not {len(pads)}")
    result = node.value(0)
    cut: dict[int, range] = {}
    for axis, (before, after) in enumerate(zip(pads[: len(dims)], pads[len(dims) :], strict=True)):
        if min(before, after) < 0:
            if (extent := dims[axis].constant) is None:
                raise node.error(f"only an axis of constant size is cut; axis {axis} has size {dims[axis]}")
            cut[axis] = range(max(0, -before), extent - max(0, -after))
    if cut:
        result = _sliced(node, result, cut)
    if max(pads, default=0) > 0:
        result = node.emit(PadOp, result, pads=ints(max(0, n) for n in pads), value=FloatAttr(value, f32))
    return result


@converter("Expand")
def expand(node: Node) -> Value:
    """Broadcast with a shape, in both directions."""
    target = as_dims(node.array(1, "shape"))
    try:
        dims = broadcast_dims(node.dims(0), target)
    except VerifyException as error:
        raise node.error(str(error)) from error
    if dims == node.dims(0):
        return node.value(0)
    return node.emit(BroadcastOp, node.value(0), shape=DimsAttr.of(dims))


@converter("Gather")
def gather(node: Node) -> Value:
    """One known index along an axis of constant size: a slice without that axis."""
    indices = node.array(1, "list of indices")
    dims = node.dims(0)
    axis = _from_front(node, [node.attribute("axis", 0)], len(dims))[0]
    extent = dims[axis].constant
    if indices.size != 1 or extent is None:
        raise node.error("only a single element along an axis of constant size is gathered")
    index = int(indices.item())
    if not -extent <= index < extent:
        raise node.error(f"axis {axis} of size {extent} has no element {index}")
    index %= extent
    taken = _sliced(node, node.value(0), {axis: range(index, index + 1)})
    inner = [const(1)] * indices.ndim
    return node.reshape(taken, [*dims[:axis], *inner, *dims[axis + 1 :]])
