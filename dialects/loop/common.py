"""What the operations of the loop dialect share: subscripts, groups of arguments, dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    MemRefType,
    NoneAttr,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.parse import parse_expr
from tilework.dialects.support.index_attr import (
    DimsAttr,
    ParserTokens,
    over_values,
    parse_expr_list,
)

INDEX = IndexType()


def integers(array: DenseArrayBase) -> tuple[int, ...]:
    """The elements of an integer array."""
    return cast(tuple[int, ...], cast(Any, array).get_values())


def memref_of(value: SSAValue) -> MemRefType[Attribute]:
    """The type of a value that is a memref."""
    type_: Attribute = value.type
    assert isinstance(type_, MemRefType)
    return cast("MemRefType[Attribute]", type_)


def buffer_type(element: Attribute, dims: Sequence[Expr], layout: Attribute | None = None) -> MemRefType[Attribute]:
    """The type of a buffer of these sizes; without a layout, one that has no gaps."""
    shape = [DYNAMIC_INDEX if e.constant is None else e.constant for e in dims]
    return MemRefType(element, shape, cast(NoneAttr, layout or NoneAttr()))


def verify_positions(exprs: Sequence[Expr], operands: int) -> None:
    """Check that expressions use `d0, d1, ...` as many as there are operands."""
    used = {k for e in exprs for k in e.variables()}
    expected = {f"d{i}" for i in range(operands)}
    if used != expected:
        raise VerifyException(f"expressions use {sorted(map(str, used))} where the operands are {sorted(expected)}")


def verify_dims(type_: Attribute, dims: DimsAttr) -> None:
    """Check that dimensions fit the shape of a memref."""
    if not isinstance(type_, MemRefType):
        raise VerifyException(f"expected a memref, got {type_}")
    shape = type_.get_shape()
    fits = len(shape) == len(dims) and all(
        e.constant is None if s == DYNAMIC_INDEX else e == s for s, e in zip(shape, dims, strict=True)
    )
    if not fits:
        raise VerifyException(f"dims [{', '.join(map(str, dims))}] do not fit {type_}")


def static_dims(parser: Parser, type_: Attribute) -> tuple[Expr, ...]:
    """The dimensions of a memref type that are all numbers; a parse error for another."""
    if not isinstance(type_, MemRefType):
        parser.raise_error(f"expected a memref, got {type_}")
    if DYNAMIC_INDEX in type_.get_shape():
        parser.raise_error(f"{type_} has dynamic dimensions: expected their expressions, as in [N, 64]")
    return tuple(map(const, type_.get_shape()))


def resolve(parser: Parser, unresolved: Sequence[UnresolvedOperand]) -> list[SSAValue]:
    """Operands of type index."""
    return [parser.resolve_operand(u, INDEX) for u in unresolved]


def parse_pair(parser: Parser) -> tuple[int, int]:
    """`input -> output`"""
    first = parser.parse_integer()
    parser.parse_punctuation("->")
    return first, parser.parse_integer()


class TouchedLanes(TypedDict):
    """How far apart lanes lie in memory, the first that is touched, and the end; None where that is not said."""

    stride: int | None
    first: Expr | None
    count: Expr | None


def parse_access(parser: Parser) -> tuple[UnresolvedOperand, list[Expr], TouchedLanes]:
    """`%m[subscripts] stride 2 from 1 count %n`: the memref, the subscripts over SSA values, the lanes."""

    def bound(keyword: str) -> Expr | None:
        return parse_expr(ParserTokens(parser, unresolved)) if parser.parse_optional_keyword(keyword) else None

    memref = parser.parse_unresolved_operand()
    unresolved: list[UnresolvedOperand] = []
    indices = parse_expr_list(parser, unresolved)
    stride = parser.parse_integer() if parser.parse_optional_keyword("stride") else None
    first, count = bound("from"), bound("count")
    values = over_values(resolve(parser, unresolved))
    first, count = (None if e is None else e.substitute(values) for e in (first, count))
    return memref, [e.substitute(values) for e in indices], {"stride": stride, "first": first, "count": count}


def print_vector_type(printer: Printer, accessed: Attribute) -> None:
    """`, vector<16xf32>` behind the memref's type; nothing for a scalar, whose type that tells."""
    if isinstance(accessed, VectorType):
        printer.print_string(", ")
        printer.print_attribute(cast(Attribute, accessed))
