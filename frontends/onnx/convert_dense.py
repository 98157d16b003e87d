"""Converters: products of matrices."""

from __future__ import annotations

from tilework.algebra.index_expr import const
from tilework.dialects.graph import AddOp, DenseOp, MatmulOp, MulOp
from tilework.frontends.onnx.node import Node, converter, value_dims
from tilework.frontends.onnx.sizes import of_shape
from tilework.frontends.onnx.values import Value


@converter("Gemm")
def gemm(node: Node) -> Value:
    """alpha * A' B' + beta * C, where ' may transpose."""
    for i in (0, 1):
        if len(node.dims(i)) != 2:
            raise node.error(f"input {i} is not a matrix")
    a, b = node.value(0), node.value(1)
    a = node.transposed(a, [1, 0]) if node.attribute("transA", 0) else a
    b = b if node.attribute("transB", 0) else node.transposed(b, [1, 0])
    result = _scaled(node, node.emit(DenseOp, a, b), node.attribute("alpha", 1.0))
    if not node.has(2) or (beta := node.attribute("beta", 1.0)) == 0:
        return result
    added = of_shape(node, node.value(2), value_dims(result), "what is added does not broadcast to the product")
    return node.emit(AddOp, result, _scaled(node, added, beta))


def _scaled(node: Node, value: Value, factor: float) -> Value:
    return value if factor == 1 else node.emit(MulOp, value, node.scalar(factor, value))


@converter("MatMul")
def matmul(node: Node) -> Value:
    """Multiply matrices as numpy's matmul does."""
    return matrix_product(node, node.value(0), node.value(1))


def matrix_product(node: Node, a: Value, b: Value) -> Value:
    """A vector on the left is a row, on the right a column, and the result lacks that axis."""
    row, column = value_dims(a), value_dims(b)
    if not row or not column:
        raise node.error("a number is not a matrix")
    if len(row) == 1:
        a = node.reshape(a, [const(1), *row])
    if len(column) == 1:
        b = node.reshape(b, [*column, const(1)])
    result = node.emit(MatmulOp, a, b)
    if len(row) > 1 and len(column) > 1:
        return result
    batch = (row if len(row) > 1 else column)[:-2]
    return node.reshape(result, [*batch, *(row[-2:-1]), *(column[-1:] if len(column) > 1 else ())])
