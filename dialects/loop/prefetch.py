"""Asking for memory before it is needed."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, i64
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, to_expr
from tilework.dialects.loop.common import memref_of, resolve, verify_positions
from tilework.dialects.support.index_attr import (
    LoopIndexAttr,
    over_values,
    parse_expr_list,
    print_with_operands,
    to_operands,
)

SECOND_CACHE, ALL_CACHES = 2, 3
"""The localities that ask for the second cache, and for all."""


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Ask the caches for the line of one element. It changes nothing; subscripts may be out of bounds.

    Locality is LLVM's: 3 for all caches, 2 for all but the nearest.

    `loop.prefetch %x[%i + 4, 0] : memref<8x64xf32>`, `loop.prefetch %x[%i + 4, 0] locality 2 : memref<8x64xf32>`
    """

    name = "loop.prefetch"
    memref = operand_def(MemRefType)
    index_operands = var_operand_def(IndexType)
    indices = prop_def(LoopIndexAttr)
    locality = prop_def(IntegerAttr, default_value=IntegerAttr(ALL_CACHES, i64))

    def __init__(self, memref: SSAValue, indices: Sequence[ExprLike], locality: int = ALL_CACHES):
        """Subscripts are expressions over SSA values."""
        operands, exprs = to_operands([to_expr(e) for e in indices])
        super().__init__(
            operands=[memref, operands],
            properties={"indices": LoopIndexAttr(exprs), "locality": IntegerAttr(locality, i64)},
        )

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """The subscripts, over SSA values."""
        values = over_values(self.index_operands)
        return tuple(e.substitute(values) for e in self.indices)

    def verify_(self) -> None:
        rank = memref_of(self.memref).get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(f"{len(self.indices)} subscripts into {self.memref.type}")
        verify_positions(self.indices.data, len(self.index_operands))
        if self.locality.value.data not in (SECOND_CACHE, ALL_CACHES):
            raise VerifyException(f"locality {self.locality.value.data}: it is {SECOND_CACHE} or {ALL_CACHES}")

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        memref = parser.parse_unresolved_operand()
        unresolved: list[UnresolvedOperand] = []
        indices = parse_expr_list(parser, unresolved)
        locality = parser.parse_integer() if parser.parse_optional_keyword("locality") else ALL_CACHES
        parser.parse_punctuation(":")
        buffer = parser.resolve_operand(memref, parser.parse_type())
        values = over_values(resolve(parser, unresolved))
        return PrefetchOp(buffer, [e.substitute(values) for e in indices], locality)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        printer.print_string("[")
        print_with_operands(printer, ", ".join(map(str, self.indices)), self.index_operands)
        printer.print_string("]")
        if self.locality.value.data != ALL_CACHES:
            printer.print_string(f" locality {self.locality.value.data}")
        printer.print_string(" : ")
        printer.print_attribute(memref_of(self.memref))
