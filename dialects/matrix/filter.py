"""Which rows of a matrix are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, FunctionType, StringAttr, i1, i64
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, region_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import var
from tilework.dialects.matrix.base import Array, MatrixOp, matrix_of
from tilework.dialects.matrix.map import YieldOp
from tilework.dialects.matrix.types import MatrixType
from tilework.dialects.scalar_meaning import straight_line


@irdl_op_definition
class FilterOp(MatrixOp):
    """The rows for which a function of some of their elements is true; how many these are is called `rows`.

    %y = matrix.filter %x {reads = array<i64: 1>, rows = "K"} : (!matrix.matrix<N x 2 x f64, [age, pay]>)
        -> !matrix.matrix<K x 2 x f64, [age, pay]> {
    ^bb0(%pay: f64):
      %c = arith.constant 10.0 : f64
      %r = arith.cmpf ogt, %pay, %c : f64
      matrix.yield %r : i1
    }
    """

    name = "matrix.filter"
    input = operand_def(MatrixType)
    reads = prop_def(DenseArrayBase.constr(i64))
    rows = prop_def(StringAttr)
    result = result_def(MatrixType)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), Pure())

    @classmethod
    def holding(cls, x: SSAValue, reads: Sequence[int], rows: str, body: Region) -> Self:
        """The filter with this body."""
        properties = {"reads": DenseArrayBase.from_list(i64, list(reads)), "rows": StringAttr(rows)}
        type_ = matrix_of(x).with_rows(var(rows))
        return cls.create(operands=[x], properties=properties, result_types=[type_], regions=[body])

    def infer(self) -> Sequence[Attribute]:
        x = matrix_of(self.input)
        if out := [i for i in self.reads.get_values() if not 0 <= i < x.columns]:
            raise VerifyException(f"there is no column {out[0]} in a matrix of {x.columns} columns")
        return [x.with_rows(var(self.rows.data))]

    def verify_(self) -> None:
        super().verify_()
        wanted = [matrix_of(self.input).element_type] * len(self.reads)
        if list(self.body.block.arg_types) != wanted:
            found = ", ".join(map(str, self.body.block.arg_types))
            raise VerifyException(f"the function takes {', '.join(map(str, wanted))}, not {found}")
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or last.value.type != i1:
            raise VerifyException("the function of a filter ends in matrix.yield of one i1")

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        [kept] = straight_line(self.body.block, [x[:, i] for i in self.reads.get_values()])
        return x[np.broadcast_to(kept, x.shape[:1])]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        x = parser.parse_unresolved_operand()
        properties = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType):
            parser.raise_error("expected a function type", pos, parser.pos)
        operands = parser.resolve_operands([x], type_.inputs.data, pos)
        body = parser.parse_region()
        return cls.create(operands=operands, result_types=type_.outputs.data, properties=properties, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(" ")
        printer.print_attr_dict(self.properties)
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(list(self.operand_types), list(self.result_types)))
        printer.print_string(" ")
        printer.print_region(self.body)
