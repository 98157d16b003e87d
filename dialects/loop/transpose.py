"""Vectors as the rows of a matrix, and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

LANES = range(4, 17)
"""How many lanes vectors that are transposed have, and how many those that are stored: so many rows fill a machine's
registers."""


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """The columns of a matrix whose rows these vectors are: lane `r` of column `c` is lane `c` of row `r`.

    `%c0, %c1, %c2, %c3 = loop.transpose %r0, %r1 : vector<4xf32>`: each column has two lanes.
    """

    name = "loop.transpose"
    rows = var_operand_def(VectorType)
    columns = var_result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(self, rows: Sequence[SSAValue]):
        row = cast("VectorType[Attribute]", rows[0].type)
        column = VectorType(row.element_type, [len(rows)])
        super().__init__(operands=[rows], result_types=[[column] * row.get_shape()[0]])

    def verify_(self) -> None:
        if not self.rows:
            raise VerifyException("expected rows")
        row = cast("VectorType[Attribute]", self.rows[0].type)
        for other in self.rows:
            if other.type != row:
                raise VerifyException(f"a row of {other.type} beside one of {row}")
        if row.get_num_dims() != 1:
            raise VerifyException(f"a row of {row}: it has one dimension")
        [lanes], column = row.get_shape(), VectorType(row.element_type, [len(self.rows)])
        if [r.type for r in self.columns] != [column] * lanes:
            given = ", ".join(str(r.type) for r in self.columns)
            raise VerifyException(f"{len(self.rows)} rows of {row} have {lanes} columns of {column}, not {given}")

    @classmethod
    def parse(cls, parser: Parser) -> TransposeOp:
        rows = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        parser.parse_punctuation(":")
        place = parser.pos
        row = parser.parse_type()
        if not isinstance(row, VectorType) or row.get_num_dims() != 1:
            parser.raise_error(f"expected a vector of one dimension, got {row}", place)
        return TransposeOp([parser.resolve_operand(r, cast(Attribute, row)) for r in rows])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.rows, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_attribute(self.rows[0].type)
