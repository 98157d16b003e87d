"""Symbols that the host function binds while it runs."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.dialects.loop.common import INDEX
from tilework.dialects.support.index_attr import DimsAttr, parse_expr_list


@irdl_op_definition
class SymbolOp(IRDLOperation):
    """A number that is a symbol from here on: dimensions of buffers are expressions over it.

    %K = loop.symbol "K" = %count at most [4 * N]

    What it is at most, over other symbols, is what memory is planned for; without that, memory is allocated when the
    number is known. That the number is from 0 to there was checked before.
    """

    name = "loop.symbol"
    sym_name = prop_def(StringAttr)
    value = operand_def(IndexType)
    limit = opt_prop_def(DimsAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, name: str, value: SSAValue, most: Expr | None = None):
        super().__init__(
            operands=[value],
            properties={"sym_name": StringAttr(name), "limit": None if most is None else DimsAttr.of([most])},
            result_types=[INDEX],
        )
        self.result.name_hint = name

    @property
    def most(self) -> Expr | None:
        """What the number is at most, where something is known of that."""
        return None if self.limit is None else self.limit.data[0]

    def verify_(self) -> None:
        if self.limit is not None and len(self.limit) != 1:
            raise VerifyException("a limit is one number")

    @classmethod
    def parse(cls, parser: Parser) -> SymbolOp:
        name = parser.parse_str_literal()
        parser.parse_punctuation("=")
        value = parser.parse_operand(INDEX)
        op = SymbolOp(name, value)
        if parser.parse_optional_keyword("at") is not None:
            parser.parse_keyword("most")
            op.properties["limit"] = DimsAttr(parse_expr_list(parser))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.sym_name.data)
        printer.print_string(" = ")
        printer.print_ssa_value(self.value)
        if self.limit is not None:
            printer.print_string(f" at most [{', '.join(map(str, self.limit))}]")
