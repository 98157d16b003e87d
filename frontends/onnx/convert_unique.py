"""Converter: the different elements of a tensor, or its different slices along an axis, as many as data decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import BoolAttr, StringAttr, i1, i8, i64
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import const, product
from tilework.dialects.graph import (
    AndOp,
    EqualOp,
    GatherOp,
    MaxOp,
    MinOp,
    NotOp,
    OrOp,
    ReduceMaxOp,
    ScatterOp,
    SubOp,
    TopKOp,
    WhereOp,
)
from tilework.dialects.graph.base import ints, is_float, numpy_dtype
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.te.prefix import Totals
from tilework.frontends.onnx.axes import axis_from_front
from tilework.frontends.onnx.counted import positions_of
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.scans import scan
from tilework.frontends.onnx.totals import totals
from tilework.frontends.onnx.values import Known, Value


@converter("Unique", since=11)
def unique(node: Node) -> Sequence[Value]:
    """What there is, where it is first, which of it each element is, and how often it is there.

    In ascending order, or, unless `sorted`, in the order in which it is first found. NaN is equal to NaN.
    """
    if node.attribute("axis") is None:
        rows, moved = node.reshape(node.value(0), [product(node.dims(0)), const(1)]), None
    else:
        rank, axis = len(node.dims(0)), axis_from_front(node, 0)
        moved = [axis, *(i for i in range(rank) if i != axis)]
        front = node.transposed(node.value(0), moved)
        rows = node.reshape(front, [value_dims(front)[0], product(value_dims(front)[1:])])
    count = value_dims(rows)[0]
    if count == 0:
        raise node.error("it is given nothing, of which there is nothing different")
    order = _order(node, rows)
    begins = _begins(node, _rows(node, rows, order))
    positions = positions_of(node, begins)
    first = _rows(node, order, positions)
    runs = totals(node, begins, Totals("+", i64, start=-1), i64)
    number = node.emit(ScatterOp, runs, order, runs, axis=int_attr(0), combine=StringAttr("replace"))
    times = _lengths(node, positions, node.size(count))
    if not node.attribute("sorted", 1):
        found = _ascending(node, first)
        first, times = _rows(node, first, found), _rows(node, times, found)
        number = _rows(node, _ascending(node, found), number)
    made = _rows(node, rows, first)
    if moved is None:
        return [node.reshape(made, value_dims(made)[:1]), first, number, times]
    shape = [value_dims(made)[0], *(node.dims(0)[axis] for axis in moved[1:])]
    back = [moved.index(axis) for axis in range(len(moved))]
    return [node.transposed(node.reshape(made, shape), back), first, number, times]


def _rows(node: Node, table: Value, places: Value) -> SSAValue:
    """The elements, or rows, of a table at these places."""
    return node.emit(GatherOp, table, places, axis=int_attr(0))


def _ascending(node: Node, numbers: Value) -> SSAValue:
    """The places of numbers in ascending order; equal ones stay as they stand."""
    numbers = node.cast(numbers, i8) if node.dtype_of(numbers) == i1 else numbers
    no, count = BoolAttr.from_bool(False), DimsAttr.of(value_dims(numbers))
    return node.emit_all(TopKOp, numbers, axis=int_attr(0), count=count, largest=no)[1]


def _order(node: Node, rows: Value) -> Value:
    """The places of rows in ascending order: of the first column, where that is equal of the second one, and so on."""
    count, columns = value_dims(rows)
    if columns == 1:
        return _ascending(node, node.reshape(rows, [count]))

    def step(inside: Node, states: Sequence[Value], elements: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        [before], [column] = states, elements
        return [_rows(inside, before, _ascending(inside, _rows(inside, column, before)))], []

    begun = node.emitter.range(const(0), count, 1, node.title)
    [order], _ = scan(node, [begun], [node.transposed(rows, [1, 0])], step, reverse=True)
    return order


def _begins(node: Node, rows: Value) -> SSAValue:
    """Whether each row differs from the one before, as the first one does."""
    count, columns = value_dims(rows)
    places = node.emitter.range(const(0), count, 1, node.title)
    before = node.emit(MaxOp, node.emit(SubOp, places, _integer(node, 1)), _integer(node, 0))
    other = _rows(node, rows, before)
    same = node.emit(EqualOp, rows, other)
    if is_float(numpy_dtype(node.dtype_of(rows))):
        missing = [node.emit(NotOp, node.emit(EqualOp, v, v)) for v in (rows, other)]
        same = node.emit(OrOp, same, node.emit(AndOp, *missing))
    differs = node.cast(node.emit(NotOp, same), i8)
    along = {"axes": ints([1]), "keep_dims": BoolAttr.from_bool(False)}
    any_differs = differs if columns == 1 else node.emit(ReduceMaxOp, differs, **along)
    is_first = node.emit(EqualOp, places, _integer(node, 0))
    return node.emit(OrOp, is_first, node.cast(node.reshape(any_differs, [count]), i1))


def _lengths(node: Node, begins: Value, end: Value) -> SSAValue:
    """How far it is from each place to the next one, and from the last one to the end."""
    [count] = value_dims(begins)
    last = node.emit(SubOp, node.size(count), _integer(node, 1))
    places = node.emitter.range(const(0), count, 1, node.title)
    behind = node.emit(MinOp, node.emit(SubOp, places, _integer(node, -1)), last)
    following = node.emit(WhereOp, node.emit(EqualOp, places, last), end, _rows(node, begins, behind))
    return node.emit(SubOp, following, begins)


def _integer(node: Node, number: int) -> Known:
    return Known(np.array(number), node.title)
