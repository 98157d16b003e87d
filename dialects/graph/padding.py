"""How much operators add to the ends of axes: numbers, or expressions over symbols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import at_least
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import Array, GraphOp
from tilework.dialects.support.index_attr import WidthsAttr
from tilework.dialects.support.shapes import dims_of

Widths: TypeAlias = "DenseArrayBase[IntegerType] | WidthsAttr"
"""Those in front of every axis, then those behind every one."""


def widths_of(pads: Widths) -> tuple[Expr, ...]:
    """The widths as expressions."""
    return pads.data if isinstance(pads, WidthsAttr) else tuple(map(const, pads.get_values()))


def ends_of(pads: Widths) -> list[tuple[Expr, Expr]]:
    """The widths at both ends of every axis."""
    widths = widths_of(pads)
    return list(zip(widths[: len(widths) // 2], widths[len(widths) // 2 :], strict=True))


def padded_dims(op: GraphOp, pads: Widths) -> list[Expr]:
    """The dimensions of operand 0 with what is added. Raises VerifyException for widths that do not fit."""
    dims, widths = op.dims(0), widths_of(pads)
    if len(widths) != 2 * len(dims):
        raise VerifyException(f"{len(dims)} axes need {2 * len(dims)} pads, not {len(widths)}")
    padded = [d + (before + after) for d, (before, after) in zip(dims, ends_of(pads), strict=True)]
    if isinstance(pads, WidthsAttr):
        op.require_symbols_of_operands(widths)
        domain = Domain({key: (0, None) for width in widths for key in width.variables()})
        return [domain.simplify(d) for d in padded]
    if min(pads.get_values(), default=0) < 0:
        raise VerifyException(f"pads are not negative, {min(pads.get_values())} is; graph.slice removes elements")
    return padded


def padding_requirements(op: GraphOp) -> Iterator[Requirement]:
    """Requirements that an operator that pads takes away no more elements than there are."""
    for axis, dim in enumerate(dims_of(op.results[0].type)):
        yield Requirement.of(at_least(dim, 0), f"dimension {axis} of the result of {op.title} would be {dim}")


def padding_told(op: GraphOp, pads: Widths, inputs: Sequence[Array]) -> list[tuple[int, int]]:
    """The widths at both ends of every axis, for these operands."""
    told = op.evaluate_dims(widths_of(pads), inputs) if isinstance(pads, WidthsAttr) else list(pads.get_values())
    return list(zip(told[: len(told) // 2], told[len(told) // 2 :], strict=True))
