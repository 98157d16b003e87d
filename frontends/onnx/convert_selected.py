"""Converters: the largest elements of an axis, or the smallest."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, i64

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import TopKOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.frontends.onnx.axes import axis_from_front
from tilework.frontends.onnx.node import Node, converter, int_attr
from tilework.frontends.onnx.sizes import section
from tilework.frontends.onnx.values import Known, Value


@converter("TopK")
def top_k(node: Node) -> Sequence[Value]:
    """The k largest (or smallest) and their indices, in order, which `sorted=0` does not ask for but allows.

    Where data or sizes decide how many, all elements are put in order.
    """
    axis, k = axis_from_front(node, -1), node.attribute("k")
    extent = node.dims(0)[axis]
    wanted = _count(node, extent) if k is None else const(k)
    most = extent if wanted.constant is None else wanted
    if most == 0:
        nothing = section(node, node.emitter.tensor(node.value(0)), axis, const(0), const(0))
        return [nothing, node.cast(nothing, i64)]
    largest = BoolAttr.from_bool(bool(node.attribute("largest", 1)))
    count = DimsAttr.of([most]) if most.constant is None else int_attr(most.constant)
    made = node.emit_all(TopKOp, node.value(0), axis=int_attr(axis), count=count, largest=largest)
    return made if wanted == most else [section(node, value, axis, const(0), wanted, 1) for value in made]


def _count(node: Node, extent: Expr) -> Expr:
    """How many elements are taken: a number that is known, or a size of at most all of them."""
    value = node.value(1)
    if isinstance(value, Known) and not value.is_symbolic:
        return const(int(node.number(1, "k")))
    [size] = node.array(1, "k", extent).flat
    return size if isinstance(size, Expr) else const(int(size))
