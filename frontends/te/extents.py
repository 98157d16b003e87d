"""How many iterations the axes of a stage have, where it computes all of its tensor."""

from __future__ import annotations

from tilework.algebra.index_expr import Expr, ceildiv, const
from tilework.dialects.schedule import Number, number_of
from tilework.dialects.schedule.knob import to_number
from tilework.frontends.te.index import IterVar, to_index


def extent_of(axis: IterVar) -> Expr:
    """How many iterations an axis of a stage has, where the stage computes all of its tensor."""
    assert axis.dom is not None
    return to_index(axis.dom.extent)


def split_extent(extent: Expr, number: Number, by_parts: bool) -> tuple[Expr, Expr]:
    """The extents of the axes that a split makes, outer and inner."""
    n = number_of(to_number(number))
    other = ceildiv(extent, n)
    if by_parts:
        return const(n), other
    return other, const(n) if extent.constant is None else const(max(1, min(n, extent.constant)))
