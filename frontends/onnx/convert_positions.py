"""Converters for what depends on where an element stands: a triangle, sums and products up to each element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from xdsl.dialects.builtin import i64

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import AddOp, LessEqualOp, MulOp, WhereOp
from tilework.dialects.graph.accumulation import accumulator
from tilework.dialects.graph.base import numpy_dtype
from tilework.dialects.te.prefix import NEUTRAL, Totals
from tilework.frontends.onnx.axes import from_front
from tilework.frontends.onnx.node import Node, converter, value_dims
from tilework.frontends.onnx.scans import scan
from tilework.frontends.onnx.sizes import repeated
from tilework.frontends.onnx.totals import totals
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
    return _cumulative(node, "+")


@converter("CumProd", since=26)
def cumulative_product(node: Node) -> Value:
    """The product of all elements along an axis up to each, from either end; without it where `exclusive`."""
    return _cumulative(node, "*")


def _cumulative(node: Node, join: str) -> Value:
    """What the operator makes of all elements up to each.

    A row of elements that are beside each other is gone through by one kernel. Elsewhere the steps of a scan are of all
    that is beside each other.
    """
    rank = len(node.dims(0))
    [axis] = from_front(node, [int(node.number(1, "axis"))], rank)
    how = Totals(
        join,
        accumulator(node.dtype(0)),
        NEUTRAL[join],
        exclusive=bool(node.attribute("exclusive", 0)),
        reverse=bool(node.attribute("reverse", 0)),
    )
    if axis == rank - 1:
        return totals(node, node.value(0), how, node.dtype(0))
    return _in_steps(node, axis, how)


def _in_steps(node: Node, axis: int, how: Totals) -> Value:
    """Running totals along any axis, by a scan."""
    rank = len(node.dims(0))
    to_front = [axis, *(i for i in range(rank) if i != axis)]
    back = [to_front.index(i) for i in range(rank)]
    sequence = node.transposed(node.value(0), to_front)
    neutral = known(np.array(how.start, numpy_dtype(how.wide)), node.title)
    start = repeated(node, neutral, value_dims(sequence)[1:])
    op = {"+": AddOp, "*": MulOp}[how.join]

    def step(inside: Node, states: Sequence[Value], elements: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        total = inside.emit(op, states[0], inside.cast(elements[0], how.wide))
        return [total], [inside.cast(states[0] if how.exclusive else total, node.dtype(0))]

    _, [made] = scan(node, [start], [sequence], step, reverse=how.reverse)
    return node.transposed(made, back)
