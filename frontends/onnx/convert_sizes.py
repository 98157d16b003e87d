"""Converters: sizes as numbers, and constants of sizes that are known at run time only."""

from __future__ import annotations

import numpy as np
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import ceildiv, const
from tilework.dialects.graph.joint_shapes import are_computed_alike, broadcast_dims
from tilework.frontends.onnx.node import Node, converter, value_dims
from tilework.frontends.onnx.sizes import repeated, require_sizes
from tilework.frontends.onnx.values import Known, Value, as_dims


@converter("Range")
def range_(node: Node) -> Value:
    """Count integers; the step is a constant."""
    start, limit, step = node.count(0, "start"), node.count(1, "limit"), int(node.number(2, "step"))
    if step == 0:
        raise node.error("its step is 0")
    count = ceildiv(limit - start, step) if step > 0 else ceildiv(start - limit, -step)
    if count.constant is not None and count.constant < 0:
        count = const(0)
    return node.cast(node.emitter.range(start, count, step, node.title), node.dtype(0))


@converter("ConstantOfShape")
def constant_of_shape(node: Node) -> Value:
    """Make a tensor of one number, repeated."""
    value = node.attribute("value", np.zeros(1, np.float32))
    dims = as_dims(node.array(0, "shape"))
    require_sizes(node, dims)
    return repeated(node, Known(value.reshape(()), node.title), dims)


@converter("Expand")
def expand(node: Node) -> Value:
    """Broadcast with a shape, in both directions."""
    target, value = as_dims(node.array(1, "shape")), node.value(0)
    require_sizes(node, target)
    for axis, (size, wanted) in enumerate(zip(reversed(node.dims(0)), reversed(target), strict=False), start=1):
        if are_computed_alike(wanted, size):
            at = len(node.dims(0)) - axis
            value = node.of_size(value, at, wanted, f"axis {at} has size {size}, not {wanted}")
    try:
        dims = broadcast_dims(value_dims(value), target)
    except VerifyException as error:
        raise node.error(str(error)) from error
    return value if dims == value_dims(value) else repeated(node, value, dims)
