"""Converters: sizes as numbers, and constants of sizes that are known at run time only."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IntegerType, f64, i64
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ceildiv, const
from tilework.dialects.graph import AddOp, CeilOp, DivOp, EqualOp, LessOp, MaxOp, MulOp, NotOp, SignOp, SubOp
from tilework.dialects.graph.joint_shapes import are_computed_alike, broadcast_dims
from tilework.frontends.onnx.node import Node, converter, value_dims
from tilework.frontends.onnx.sizes import repeated, require_sizes
from tilework.frontends.onnx.told_sizes import size_told
from tilework.frontends.onnx.values import Known, Value, as_dims


@converter("Range")
def range_(node: Node) -> Value:
    """Count from a start to a limit that is not reached, in steps that may be negative."""
    if isinstance(node.dtype(0), IntegerType):
        start, limit, step = (node.numbers(i, what)[0] for i, what in enumerate(("start", "limit", "step")))
        if isinstance(start, Expr) and isinstance(limit, Expr) and isinstance(step, Expr) and step.is_constant:
            return _counted(node, start, limit, step.offset)
    start, limit, step = (node.reshape(node.value(i), []) for i in range(3))
    number = node.emitter.range(const(0), _told_count(node, start, limit, step), 1, node.title)
    return node.emit(AddOp, start, node.emit(MulOp, node.cast(number, node.dtype(0)), step))


def _counted(node: Node, start: Expr, limit: Expr, step: int) -> Value:
    """Integers between sizes."""
    if step == 0:
        raise node.error("its step is 0")
    count = ceildiv(limit - start, step) if step > 0 else ceildiv(start - limit, -step)
    if count.constant is not None and count.constant < 0:
        count = const(0)
    return node.cast(node.emitter.range(start, count, step, node.title), node.dtype(0))


def _told_count(node: Node, start: Value, limit: Value, step: Value) -> Expr:
    """How many numbers there are, which data tell: none where the steps lead away from the limit."""
    if isinstance(step, Known) and not step.is_symbolic and step.array.item() == 0:
        raise node.error("its step is 0")
    is_zero = node.emit(EqualOp, step, node.scalar(0, step))
    node.emitter.ask_of_data(node.emit(NotOp, is_zero), f"{node.op_type} '{node.title}': its step is 0")
    zero, distance = Known(np.array(0), node.title), node.emit(SubOp, limit, start)
    if isinstance(node.dtype(0), IntegerType):
        wide, by = node.cast(distance, i64), node.cast(step, i64)
        whole = node.emit(DivOp, wide, by)  # cut off towards zero
        rest = node.emit(SubOp, wide, node.emit(MulOp, whole, by))
        is_begun = node.emit(LessOp, zero, node.emit(MulOp, node.emit(SignOp, rest), node.emit(SignOp, by)))
        count = node.emit(AddOp, whole, node.cast(is_begun, i64))
    else:
        count = node.cast(node.emit(CeilOp, node.emit(DivOp, *(node.cast(v, f64) for v in (distance, step)))), i64)
    return size_told(node.emitter, node.emit(MaxOp, count, zero), None, node.title)


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
