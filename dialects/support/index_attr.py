"""Attributes that hold index expressions, and their syntax inside operations.

`#graph.dims<[N, 64]>` are the dimensions of a tensor over named symbols. At te the variables of an index are axis names
(`#te.index<[n, y + r - 1]>`); at loop they are an operation's operands, `d0, d1, ...` in the attribute and `%y` in
the custom syntax. Conditions (`#te.when<[y - 1 ge 0]>`) are conjunctions. Inside attributes `ge` and `eq` stand for
`>=` and `==`, because MLIR balances angle brackets in attributes of dialects that it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from xdsl.ir import Data, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, to_expr, var
from tilework.algebra.parse import parse_expr, parse_predicate
from tilework.algebra.predicate import Predicate

Element = TypeVar("Element", Expr, Predicate)


class ParserTokens:
    """Tokens of an xDSL parser: variables are identifiers, or operands `%x` collected in order of appearance."""

    def __init__(self, parser: AttrParser, operands: list[UnresolvedOperand] | None = None):
        self.parser = parser
        self.operands = operands

    def accept(self, text: str) -> bool:
        if text.isalpha():
            return self.parser.parse_optional_keyword(text) is not None
        return self.parser.parse_optional_punctuation(text) is not None  # pyright: ignore[reportArgumentType]

    def integer(self) -> int | None:
        return self.parser.parse_optional_integer(allow_boolean=False, allow_negative=False)

    def variable(self) -> Expr | None:
        if self.operands is None:
            name = self.parser.parse_optional_identifier()
            return None if name is None else var(name)
        assert isinstance(self.parser, Parser)
        operand = self.parser.parse_optional_unresolved_operand()
        if operand is None:
            return None
        for i, known in enumerate(self.operands):
            if (known.operand_name, known.index) == (operand.operand_name, operand.index):
                return var(f"d{i}")
        self.operands.append(operand)
        return var(f"d{len(self.operands) - 1}")

    def fail(self, expected: str) -> ParseError:
        self.parser.raise_error(f"expected {expected}")


class _ListAttr(Data[tuple[Element, ...]], Generic[Element]):
    """A bracketed list of expressions or predicates."""

    @classmethod
    def _element(cls, parser: AttrParser) -> Element:
        raise NotImplementedError

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Element, ...]:
        with parser.in_angle_brackets():
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: cls._element(parser)))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<[{', '.join(_attribute_text(e) for e in self.data)}]>")

    def __iter__(self):
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


def _attribute_text(e: Expr | Predicate) -> str:
    return str(e).replace(" >= ", " ge ").replace(" == ", " eq ")


class _IndexAttr(_ListAttr[Expr]):
    @classmethod
    def _element(cls, parser: AttrParser) -> Expr:
        return parse_expr(ParserTokens(parser))

    @classmethod
    def of(cls, exprs: Iterable[ExprLike]):
        """The attribute for these expressions; integers are constants."""
        return cls(tuple(map(to_expr, exprs)))


class _WhenAttr(_ListAttr[Predicate]):
    @classmethod
    def _element(cls, parser: AttrParser) -> Predicate:
        expr = parse_expr(ParserTokens(parser))
        kind = {"ge": ">=", "eq": "=="}[parser.parse_keyword_in(("ge", "eq"))]
        if parser.parse_integer() != 0:
            parser.raise_error("expected 0")
        return Predicate(expr, kind)


@irdl_attr_definition
class DimsAttr(_IndexAttr):
    """`#graph.dims<[N, 64]>`: the dimensions of a tensor, affine over named symbols."""

    name = "graph.dims"

    def verify(self) -> None:
        for d in self.data:
            if d.constant is not None and d.constant < 0:
                raise VerifyException(f"{d} is no size, in [{', '.join(map(str, self.data))}]")


@irdl_attr_definition
class WidthsAttr(_IndexAttr):
    """`#graph.widths<[0, N mod 8 - 1]>`: how much is added to the ends of axes, below zero for what is taken away."""

    name = "graph.widths"


@irdl_attr_definition
class GraphWhenAttr(_WhenAttr):
    """`#graph.when<[N mod 2 eq 0]>`: conditions over named symbols, one of which holds."""

    name = "graph.when"


@irdl_attr_definition
class TeIndexAttr(_IndexAttr):
    """`#te.index<[n, y + r - 1]>`: indices over axis names."""

    name = "te.index"


@irdl_attr_definition
class TeWhenAttr(_WhenAttr):
    """`#te.when<[y - 1 ge 0]>`: a conjunction over axis names."""

    name = "te.when"


@irdl_attr_definition
class LoopIndexAttr(_IndexAttr):
    """`#loop.index<[14 * d0 + d1]>`: indices over an operation's index operands."""

    name = "loop.index"


@irdl_attr_definition
class LoopWhenAttr(_WhenAttr):
    """`#loop.when<[d0 - 1 ge 0]>`: a conjunction over an operation's index operands."""

    name = "loop.when"


# -- syntax inside operations

_POSITION = re.compile(r"\bd(\d+)\b")


def print_with_operands(printer: Printer, text: str, operands: Sequence[SSAValue]) -> None:
    """Print an expression over `d0, d1, ...` with the operands in their places."""
    at = 0
    for match in _POSITION.finditer(text):
        printer.print_string(text[at : match.start()])
        printer.print_ssa_value(operands[int(match.group(1))])
        at = match.end()
    printer.print_string(text[at:])


def parse_expr_list(parser: AttrParser, operands: list[UnresolvedOperand] | None = None) -> tuple[Expr, ...]:
    """`[expr, ...]`; with `operands`, variables are SSA values and are appended to it."""
    return tuple(
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_expr(ParserTokens(parser, operands)))
    )


def parse_predicate_list(parser: AttrParser, operands: list[UnresolvedOperand] | None = None) -> tuple[Predicate, ...]:
    """`[expr >= 0, ...]`; with `operands`, variables are SSA values and are appended to it."""
    return tuple(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_predicate(ParserTokens(parser, operands))
        )
    )


Indexed = TypeVar("Indexed", Expr, Predicate)


def to_operands(items: Sequence[Indexed]) -> tuple[list[SSAValue], tuple[Indexed, ...]]:
    """Split expressions over SSA values into operands and the same expressions over `d0, d1, ...`."""
    values: dict[SSAValue, None] = {}
    for item in items:
        expr = item.expr if isinstance(item, Predicate) else item
        for key in expr.variables():
            assert isinstance(key, SSAValue), f"{key} is not an SSA value"
            values[key] = None
    names = {v: var(f"d{i}") for i, v in enumerate(values)}
    return list(values), tuple(item.substitute(names) for item in items)


def over_values(operands: Sequence[SSAValue]) -> dict[str, Expr]:
    """The substitution that turns `d0, d1, ...` into expressions over SSA values."""
    return {f"d{i}": var(v) for i, v in enumerate(operands)}
