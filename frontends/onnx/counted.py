"""Converters call this for indices of which data decide how many there are."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import const
from tilework.dialects.graph import PositionsOp
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.sizes import section
from tilework.frontends.onnx.told_sizes import size_told
from tilework.frontends.onnx.values import Known, Value


def positions_of(node: Node, mask: SSAValue) -> Value:
    """The indices at which a vector of truth values holds; data decide how many there are."""
    [size] = value_dims(mask)
    if size == 0:
        return Known(np.zeros(0, np.int64), node.title)
    positions, count = node.emit_all(PositionsOp, mask)
    return section(node, positions, 0, const(0), size_told(node.emitter, count, size, node.title), 1)
