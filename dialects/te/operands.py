"""Index expressions inside computes: over axis names and symbols, and over values, which become operands.

In an attribute an operand is written `op$0`, `op$1`, ...; in the custom syntax it stands in its place: `[i, %j]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from tilework.algebra.index_expr import Expr, Key, var
from tilework.algebra.parse import parse_expr, parse_predicate
from tilework.algebra.predicate import Predicate
from tilework.dialects.support.index_attr import Indexed, ParserTokens

INDEX = IndexType()
_OPERAND = re.compile(r"\bop\$(\d+)")


class TeTokens(ParserTokens):
    """Tokens of a parser whose variables are names, or values, collected in order of appearance."""

    def __init__(self, parser: Parser):
        super().__init__(parser)
        self._values: dict[tuple[str, int], UnresolvedOperand] = {}

    def variable(self) -> Expr | None:
        name = super().variable()
        if name is not None:
            return name
        assert isinstance(self.parser, Parser)
        operand = self.parser.parse_optional_unresolved_operand()
        if operand is None:
            return None
        self._values.setdefault((operand.operand_name, operand.index), operand)
        return var(operand_name(list(self._values).index((operand.operand_name, operand.index))))

    def resolve(self) -> dict[Key, Expr]:
        """The values seen, by the names that stand for them in the expressions read."""
        assert isinstance(self.parser, Parser)
        parser = self.parser
        return over_values([parser.resolve_operand(u, INDEX) for u in self._values.values()])


def operand_name(i: int) -> str:
    """What stands for operand `i` in an attribute."""
    return f"op${i}"


def parse_exprs(parser: Parser) -> list[Expr]:
    """`[expr, ...]` over names and values."""
    tokens = TeTokens(parser)
    exprs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_expr(tokens))
    values = tokens.resolve()
    return [e.substitute(values) for e in exprs]


def parse_predicates(parser: Parser) -> list[Predicate]:
    """`[expr >= 0, ...]` over names and values."""
    tokens = TeTokens(parser)
    predicates = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_predicate(tokens))
    values = tokens.resolve()
    return [p.substitute(values) for p in predicates]


def print_indexed(printer: Printer, text: str, operands: Sequence[SSAValue]) -> None:
    """Print an expression with the operands in their places."""
    at = 0
    for match in _OPERAND.finditer(text):
        printer.print_string(text[at : match.start()])
        printer.print_ssa_value(operands[int(match.group(1))])
        at = match.end()
    printer.print_string(text[at:])


def to_operands(items: Sequence[Indexed]) -> tuple[list[SSAValue], tuple[Indexed, ...]]:
    """Split expressions over names and values into operands and expressions over names alone."""
    values: dict[SSAValue, None] = {}
    for item in items:
        expr = item.expr if isinstance(item, Predicate) else item
        values.update({key: None for key in expr.variables() if isinstance(key, SSAValue)})
    names: dict[Key, Expr] = {v: var(operand_name(i)) for i, v in enumerate(values)}
    return list(values), tuple(item.substitute(names) for item in items)


def over_values(operands: Sequence[SSAValue]) -> dict[Key, Expr]:
    """The substitution that turns the names of operands into expressions over them."""
    return {operand_name(i): var(v) for i, v in enumerate(operands)}
