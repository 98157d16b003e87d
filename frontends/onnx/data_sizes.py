"""Sizes that data tell: numbers of the running model that become symbols. For converting."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import PositionsOp, SizeOp
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.sizes import section
from tilework.frontends.onnx.values import Value


def size_of_data(node: Node, number: Value, most: Expr | None, what: str) -> Expr:
    """A number, an integer without dimensions, as a size from 0 to a limit; the running model refuses another one."""
    value = node.emitter.tensor(node.cast(number, i64))
    symbol = node.emitter.fresh_symbol(f"{what}_{node.title}")
    carrier = node.emitter.insert(SizeOp(str(symbol), value, most), node.title)
    node.emitter.bind(symbol, carrier)
    return symbol


def positions_of(node: Node, mask: SSAValue, what: str) -> Value:
    """Where a vector of truth values holds: as many indices as data decide."""
    [size] = value_dims(mask)
    positions, count = node.emit_all(PositionsOp, mask)
    return section(node, positions, 0, const(0), size_of_data(node, count, size, what), 1)
