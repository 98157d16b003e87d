"""How large tensors and loops are, where symbols stand in their extents: numbers to estimate with."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Expr
from tilework.dialects.support.shapes import dims_of, element_type

LARGE = 1 << 20
"""Stands for a symbolic extent."""

USUAL = 200
"""What a symbol is taken for where that matters: a multiple of few spans, so that rows leave something, as is usual."""


def size_of(axes: Sequence[tuple[object, Expr]]) -> int:
    """The product of the extents, LARGE for each symbol in them."""
    return prod(_estimate(e, LARGE) for _, e in axes)


def usual_size(axes: Sequence[tuple[object, Expr]]) -> int:
    """The product of the extents as it usually is."""
    return prod(_estimate(e, USUAL) for _, e in axes)


def size_for(axes: Sequence[tuple[object, Expr]], symbol: int) -> int:
    """The product of the extents where each symbol in them is `symbol`."""
    return prod(max(_evaluated(e, symbol), 0) for _, e in axes)


def _estimate(extent: Expr, symbol: int) -> int:
    """An extent where each symbol in it is `symbol`, which also stands for one that would vanish, such as N - K."""
    value = _evaluated(extent, symbol)
    return max(value, 0) if value > 0 or extent.is_constant else symbol


def _evaluated(extent: Expr, symbol: int) -> int:
    return extent.evaluate(dict.fromkeys(extent.variables(), symbol))


def count_of(extent: Expr) -> int:
    """An extent, LARGE if it is not known."""
    return LARGE if extent.constant is None else extent.constant


def bits_of(tensor: Attribute) -> int:
    """The width of a tensor's elements in registers, a byte at least; 32 where the type does not say."""
    element = element_type(tensor)
    return max(8, element.bitwidth) if isinstance(element, FixedBitwidthType) else 32


def bytes_of(tensor: Attribute) -> int:
    """The memory that a tensor takes, with large numbers for symbols."""
    return size_of([("", e) for e in dims_of(tensor)]) * bits_of(tensor) // 8
