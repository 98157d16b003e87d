"""Sizes that data tell."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, TensorType, i1, i64
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, var
from tilework.dialects.graph.control import BindsSymbol
from tilework.dialects.support.index_attr import DimsAttr, parse_expr_list
from tilework.dialects.support.locations import source_name
from tilework.dialects.support.shapes import tensor_type


@irdl_op_definition
class SizeOp(IRDLOperation, BindsSymbol):
    """A number of the running program that is a size from here on: a symbol in the types of tensors.

    %k = graph.size "K" = %count at most [4 * N] : tensor<i64>

    The result has as many elements, which nobody reads: it is for operators that take sizes from their operands. The
    number has to be from 0 to the limit, which may be over symbols that are bound before; else the call fails. Memory
    is planned for the limit; where there is none, it is allocated when the number is known. The operator stays though
    nobody reads the result, for the sake of types that have the symbol.
    """

    name = "graph.size"
    symbol = prop_def(StringAttr)
    number = operand_def(TensorType)
    limit = opt_prop_def(DimsAttr)
    result = result_def(TensorType)

    def __init__(self, symbol: str, number: SSAValue, most: Expr | None = None):
        super().__init__(
            operands=[number],
            properties={"symbol": StringAttr(symbol), "limit": None if most is None else DimsAttr.of([most])},
            result_types=[tensor_type([var(symbol)], i1)],
        )

    @property
    def bound_symbol(self) -> str:
        return self.symbol.data

    @property
    def size(self) -> Expr:
        """The symbol."""
        return var(self.symbol.data)

    @property
    def most(self) -> Expr | None:
        """What the number is at most, where something is known of that."""
        return None if self.limit is None else self.limit.data[0]

    @property
    def refusal(self) -> str:
        """What is wrong where the number is no such size."""
        source = source_name(self.location)
        title = "graph.size" if source is None else f"'{source}'"
        upper = "is less than 0" if self.most is None else f"is not from 0 to {self.most}"
        return f"{title}: the size {self.symbol.data}, which data tell, {upper}"

    def verify_(self) -> None:
        if self.number.type != tensor_type([], i64):
            raise VerifyException(f"a size is one number, a tensor<i64>, not {self.number.type}")
        if self.limit is not None and len(self.limit) != 1:
            raise VerifyException("a limit is one number")
        if self.result.type != tensor_type([self.size], i1):
            raise VerifyException(f"the result has {self.size} elements of type i1")

    @classmethod
    def parse(cls, parser: Parser) -> SizeOp:
        symbol = parser.parse_str_literal()
        parser.parse_punctuation("=")
        number, limit = parser.parse_unresolved_operand(), None
        if parser.parse_optional_keyword("at") is not None:
            parser.parse_keyword("most")
            limit = DimsAttr(parse_expr_list(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = SizeOp(symbol, parser.resolve_operand(number, parser.parse_type()))
        if limit is not None:
            op.properties["limit"] = limit
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.symbol.data)
        printer.print_string(" = ")
        printer.print_ssa_value(self.number)
        if self.limit is not None:
            printer.print_string(f" at most [{', '.join(map(str, self.limit))}]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.number.type)
