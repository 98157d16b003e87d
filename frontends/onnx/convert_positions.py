"""Converters for what depends on where an element stands: a triangle, sums and products up to each element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from xdsl.dialects.builtin import i64

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import AddOp, LessEqualOp, MulOp, WhereOp
from tilework.dialects.graph.accumulation import accumulator
from tilework.dialects.graph.base import GraphOp, numpy_dtype
from tilework.frontends.onnx.axes import from_front
from tilework.frontends.onnx.node import Node, converter, value_dims
from tilework.frontends.onnx.scans import scan
from tilework.frontends.onnx.sizes import repeated
from tilework.frontends.onnx.values import Known, Value, known

FAR = 1 << 40
"""Further than any axis is long."""

Number = TypeVar("Number", int, Expr)


@converter("Trilu", since=14)
def trilu(node: Node) -> Value:
    """Zero on one side of a diagonal, the second input, which may be absent and then is 0."""
    if len(node.dims(0)) < 2:
        raise node.error("a triangle needs rows and columns")
    rows, columns = (node.emitter.range(const(0), size, 1, node.title) for size in node.dims(0)[-2:])
    start = node.emit(AddOp, node.reshape(rows, [*value_dims(rows), const(1)]), _diagonal(node))
    ends = (start, columns) if node.attribute("upper", 1) else (columns, start)
    return node.emit(WhereOp, node.emit(LessEqualOp, *ends), node.value(0), node.scalar(0, node.value(0)))


def _diagonal(node: Node) -> Value:
    """How far to the right of the main diagonal a triangle begins."""
    if not node.has(1):
        return node.size(0)
    if not isinstance(node.value(1), Known):
        return node.cast(node.reshape(node.value(1), []), i64)
    diagonal = node.count(1, "diagonal")
    if diagonal.constant is not None:  # so far from the middle that it does not matter
        diagonal = const(max(-FAR, min(diagonal.constant, FAR)))
    return node.size(diagonal)


@converter("CumSum")
def cumulative_sum(node: Node) -> Value:
    """The sum of all elements along an axis up to each, from either end; without it where `exclusive`."""
    return _cumulative(node, AddOp, 0)


@converter("CumProd", since=26)
def cumulative_product(node: Node) -> Value:
    """The product of all elements along an axis up to each, from either end; without it where `exclusive`."""
    return _cumulative(node, MulOp, 1)


def _cumulative(node: Node, op: type[GraphOp], neutral: int) -> Value:
    """What the operator makes of all elements up to each, beginning with a neutral one."""
    rank = len(node.dims(0))
    [axis] = from_front(node, [int(node.number(1, "axis"))], rank)
    to_front = [axis, *(i for i in range(rank) if i != axis)]
    back = [to_front.index(i) for i in range(rank)]
    sequence = node.transposed(node.value(0), to_front)
    wide = accumulator(node.dtype(0))
    start = repeated(node, known(np.array(neutral, numpy_dtype(wide)), node.title), value_dims(sequence)[1:])
    is_exclusive = bool(node.attribute("exclusive", 0))

    def step(inside: Node, states: Sequence[Value], elements: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        total = inside.emit(op, states[0], inside.cast(elements[0], wide))
        return [total], [inside.cast(states[0] if is_exclusive else total, node.dtype(0))]

    _, [totals] = scan(node, [start], [sequence], step, reverse=bool(node.attribute("reverse", 0)))
    return node.transposed(totals, back)
