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
    """The k largest (or smallest) and their indices, in order, which `sorted=0` does not ask for but allows."""
    axis, k = axis_from_front(node, -1), node.attribute("k")
    wanted = _count(node, node.dims(0)[axis]) if k is None else const(k)
    if wanted == 0:
        nothing = section(node, node.emitter.tensor(node.value(0)), axis, const(0), const(0))
        return [nothing, node.cast(nothing, i64)]
    told = node.inputs_with_symbols(node.dims(0), [wanted])
    count = DimsAttr.of([wanted]) if wanted.constant is None else int_attr(wanted.constant)
    largest = BoolAttr.from_bool(bool(node.attribute("largest", 1)))
    return node.emit_all(TopKOp, node.value(0), *told, axis=int_attr(axis), count=count, largest=largest)


def _count(node: Node, extent: Expr) -> Expr:
    """How many elements are taken: a number that is known, or a size of at most all of them."""
    value = node.value(1)
    if isinstance(value, Known) and not value.is_symbolic:
        return const(int(node.number(1, "k")))
    [size] = node.array(1, "k", extent).flat
    return size if isinstance(size, Expr) else const(int(size))
