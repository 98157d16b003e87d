"""Converters call this for running totals."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from tilework.dialects.graph.kernel import KernelOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.dialects.te.prefix import Totals, running_totals
from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.values import Value


def totals(node: Node, x: Value, how: Totals, dtype: Attribute) -> SSAValue:
    """The totals of all elements [..., count] up to each along the last axis [..., count], of type `dtype`."""
    given, k = node.emitter.tensor(x), KernelBuilder("running_totals")
    made = KernelOp.holding(k.finish([running_totals(k, k.argument(given.type, "x"), how, dtype)]), [given])
    node.emitter.insert(made, node.title)
    return made.results[0]
