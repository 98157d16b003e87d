"""Converters: reductions, and where the extremum is that one finds."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import AnyFloat, BoolAttr, IntegerType, Signedness, f64, i1, i64

from tilework.algebra.index_expr import product
from tilework.dialects.graph import (
    AbsOp,
    AddOp,
    ArgMaxOp,
    ArgMinOp,
    ClipOp,
    DivOp,
    ExpOp,
    LogOp,
    MulOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    SqrtOp,
    SubOp,
)
from tilework.dialects.graph.base import GraphOp, ints, numpy_dtype
from tilework.dialects.te.builder_scalars import is_unsigned
from tilework.frontends.onnx.axes import axis_from_front, reduced_axes
from tilework.frontends.onnx.node import Node, converter, int_attr, number_attr, value_dims
from tilework.frontends.onnx.values import Value

REDUCTIONS: dict[str, type[GraphOp]] = {
    "ReduceMax": ReduceMaxOp,
    "ReduceMin": ReduceMinOp,
    "ReduceProd": ReduceProdOp,
    "ReduceSum": ReduceSumOp,
}

UNSIGNED, UNSIGNED_LONG = (IntegerType(bits, Signedness.UNSIGNED) for bits in (8, 64))


def reduction(node: Node) -> Value:
    """The graph operator of the same meaning; of truth values, those of 0 and 1."""
    if node.dtype(0) == i1:
        return node.cast(_reduce(node, REDUCTIONS[node.op_type], node.cast(node.value(0), UNSIGNED)), i1)
    return _reduce(node, REDUCTIONS[node.op_type], node.value(0))


for _name in REDUCTIONS:
    converter(_name)(reduction)


@converter("ReduceMean")
def reduce_mean(node: Node) -> Value:
    """The mean; of integers, which are added up in 64 bits, cut off towards zero."""
    if isinstance(node.dtype(0), AnyFloat):
        return _reduce(node, ReduceMeanOp, node.value(0))
    axes = reduced_axes(node, len(node.dims(0)))
    count = node.size(product(node.dims(0)[axis] for axis in axes))
    widest = UNSIGNED_LONG if is_unsigned(node.dtype(0)) else i64
    total = _reduce(node, ReduceSumOp, node.cast(node.value(0), widest))
    return node.narrowed(node.emit(DivOp, total, node.cast(count, widest)))


@converter("ReduceL1")
def reduce_l1(node: Node) -> Value:
    """The sum of magnitudes."""
    return _reduce(node, ReduceSumOp, node.emit(AbsOp, node.value(0)))


@converter("ReduceL2")
def reduce_l2(node: Node) -> Value:
    """The root of the sum of squares."""
    return node.narrowed(node.emit(SqrtOp, _sum_of_squares(node, _real(node))))


@converter("ReduceSumSquare")
def reduce_sum_square(node: Node) -> Value:
    """The sum of squares."""
    return node.narrowed(_sum_of_squares(node, node.widened(node.value(0))))


def _sum_of_squares(node: Node, x: Value) -> Value:
    return _reduce(node, ReduceSumOp, node.emit(MulOp, x, x))


def _real(node: Node) -> Value:
    """Input 0 as numbers that roots and logarithms are computed of: integers in double precision."""
    return node.widened(node.value(0)) if isinstance(node.dtype(0), AnyFloat) else node.cast(node.value(0), f64)


@converter("ReduceLogSum")
def reduce_log_sum(node: Node) -> Value:
    """The logarithm of the sum."""
    return node.narrowed(node.emit(LogOp, _reduce(node, ReduceSumOp, _real(node))))


@converter("ReduceLogSumExp")
def reduce_log_sum_exp(node: Node) -> Value:
    """The logarithm of the sum of exponentials, as m + log(sum of exp(x - m)), which does not overflow.

    m is the maximum, but a number: of an infinite one the difference to itself is none.
    """
    x = _real(node)
    axes = reduced_axes(node, len(node.dims(0)))
    dtype = node.dtype_of(x)
    if not axes:
        return node.value(0)
    highest = float(np.finfo(numpy_dtype(dtype)).max)
    bounds = {"low": number_attr(-highest, dtype), "high": number_attr(highest, dtype)}
    kept = node.emit(ClipOp, node.emit(ReduceMaxOp, x, axes=ints(axes), keep_dims=BoolAttr.from_bool(True)), **bounds)
    sums = _reduce(node, ReduceSumOp, node.emit(ExpOp, node.emit(SubOp, x, kept)))
    top = node.reshape(kept, value_dims(sums))
    return node.narrowed(node.emit(AddOp, top, node.emit(LogOp, sums)))


@converter("ArgMax")
def arg_max(node: Node) -> Value:
    """The index of the largest element."""
    return _argument(node, ArgMaxOp)


@converter("ArgMin")
def arg_min(node: Node) -> Value:
    """The index of the smallest element."""
    return _argument(node, ArgMinOp)


def _argument(node: Node, op: type[GraphOp]) -> Value:
    keep, last = (BoolAttr.from_bool(bool(node.attribute(*a))) for a in (("keepdims", 1), ("select_last_index", 0)))
    return node.emit(op, node.value(0), axis=int_attr(axis_from_front(node, 0)), keep_dims=keep, last=last)


def _reduce(node: Node, op: type[GraphOp], x: Value) -> Value:
    """Reduce over the axes of the attribute or (later opsets) of input 1; over all where there are none."""
    axes = reduced_axes(node, len(node.dims(0)))
    keep = BoolAttr.from_bool(bool(node.attribute("keepdims", 1)))
    return node.emit(op, x, axes=ints(axes), keep_dims=keep) if axes else x
