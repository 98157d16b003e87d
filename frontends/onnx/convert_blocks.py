"""Converters: blocks of an image that become channels, and back."""

from __future__ import annotations

from collections.abc import Sequence

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.graph import TransposeOp
from tilework.dialects.graph.base import ints
from tilework.frontends.onnx.node import Node, converter
from tilework.frontends.onnx.values import Value

DEPTH_LAST = "DCR"
"""Channels count positions in the block first, then the depth of what is in space; the other order is CRD."""


@converter("DepthToSpace")
def depth_to_space(node: Node) -> Value:
    """Channels become blocks of size b x b."""
    (n, c, h, w), b = _image(node)
    kept = node.quotient(c, b * b, f"the number of channels, {c}, is no multiple of {b * b}")
    if _mode(node) == DEPTH_LAST:  # n, y, x, c, h, w -> n, c, h, y, w, x
        apart, permutation = [n, const(b), const(b), kept, h, w], [0, 3, 4, 1, 5, 2]
    else:  # n, c, y, x, h, w -> n, c, h, y, w, x
        apart, permutation = [n, kept, const(b), const(b), h, w], [0, 1, 4, 2, 5, 3]
    return _rearranged(node, apart, permutation, [n, kept, h * b, w * b])


@converter("SpaceToDepth")
def space_to_depth(node: Node) -> Value:
    """Blocks of size b x b become channels."""
    (n, c, h, w), b = _image(node)
    rows = node.quotient(h, b, f"the height, {h}, is no multiple of {b}")
    columns = node.quotient(w, b, f"the width, {w}, is no multiple of {b}")
    apart = [n, c, rows, const(b), columns, const(b)]  # n, c, h, y, w, x
    permutation = [0, 3, 5, 1, 2, 4] if _mode(node) == DEPTH_LAST else [0, 1, 3, 5, 2, 4]
    return _rearranged(node, apart, permutation, [n, c * (b * b), rows, columns])


def _mode(node: Node) -> str:
    mode = node.attribute("mode", DEPTH_LAST)
    if mode not in (DEPTH_LAST, "CRD"):
        raise node.error(f"its mode is DCR or CRD, it is not {mode}")
    return mode


def _image(node: Node) -> tuple[tuple[Expr, ...], int]:
    dims, block = node.dims(0), node.attribute("blocksize")
    if len(dims) != 4:
        raise node.error(f"it takes images: tensors of rank 4, not {len(dims)}")
    if block < 1:
        raise node.error(f"its block size is positive, it is not {block}")
    return dims, block


def _rearranged(node: Node, apart: Sequence[Expr], permutation: Sequence[int], dims: Sequence[Expr]) -> Value:
    split = node.reshape(node.value(0), apart)
    return node.reshape(node.emit(TransposeOp, split, permutation=ints(permutation)), dims)
