"""Asking for memory before it is needed."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, to_expr
from tilework.dialects.index_attr import (
    LoopIndexAttr,
    over_values,
    parse_expr_list,
    print_with_operands,
    to_operands,
)
from tilework.dialects.loop.common import memref_of, resolve, verify_positions


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Ask the cache for the line of one element. It changes nothing; subscripts may be out of bounds.

    `loop.prefetch %x[%i + 4, 0] : memref<8x64xf32>`
    """

    name = "loop.prefetch"
    memref = operand_def(MemRefType)
    index_operands = var_operand_def(IndexType)
    indices = prop_def(LoopIndexAttr)

    def __init__(self, memref: SSAValue, indices: Sequence[ExprLike]):
        """Subscripts are expressions over SSA values."""
        operands, exprs = to_operands([to_expr(e) for e in indices])
        super().__init__(operands=[memref, operands], properties={"indices": LoopIndexAttr(exprs)})

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """The subscripts, over SSA values."""
        return tuple(e.substitute(over_values(self.index_operands)) for e in self.indices)

    def verify_(self) -> None:
        rank = memref_of(self.memref).get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(f"{len(self.indices)} subscripts into {self.memref.type}")
        verify_positions(self.indices.data, len(self.index_operands))

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        memref = parser.parse_unresolved_operand()
        unresolved: list[UnresolvedOperand] = []
        indices = parse_expr_list(parser, unresolved)
        parser.parse_punctuation(":")
        buffer = parser.resolve_operand(memref, parser.parse_type())
        values = over_values(resolve(parser, unresolved))
        return PrefetchOp(buffer, [e.substitute(values) for e in indices])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        printer.print_string("[")
        print_with_operands(printer, ", ".join(map(str, self.indices)), self.index_operands)
        printer.print_string("] : ")
        printer.print_attribute(memref_of(self.memref))
