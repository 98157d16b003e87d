"""A function of one number, on every element of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from xdsl.dialects.builtin import FunctionType, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.matrix.base import Array, MatrixOp, float_of, matrix_of, require_shape
from tilework.dialects.matrix.types import MatrixType
from tilework.dialects.scalar_meaning import straight_line
from tilework.dialects.te.builder import KernelBuilder, Scalar


@irdl_op_definition
class YieldOp(IRDLOperation):
    """What a function of an element makes.

    matrix.yield %r : f64
    """

    name = "matrix.yield"
    value = operand_def()
    assembly_format = "$value attr-dict `:` type($value)"
    traits = traits_def(IsTerminator())

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value])


@irdl_op_definition
class MapOp(MatrixOp):
    """The same function of each element, and of its column's element in each of the vectors.

    %y = matrix.map %x (%mean, %scale) : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2xf64>, tensor<2xf64>)
        -> !matrix.matrix<N x 2 x f64, [age, pay]> {
    ^bb0(%v: f64, %m: f64, %s: f64):
      %c = arith.subf %v, %m : f64
      %r = arith.divf %c, %s : f64
      matrix.yield %r : f64
    }
    """

    name = "matrix.map"
    input = operand_def(MatrixType)
    vectors = var_operand_def(TensorType)
    result = result_def(MatrixType)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), Pure())

    @classmethod
    def by(cls, x: SSAValue, vectors: Sequence[SSAValue], function: Callable[..., Scalar]) -> Self:
        """The map by `function(k, element, *of_vectors)`, which writes scalars with `k` as in te kernels."""
        block = Block(arg_types=[float_of(value) for value in (x, *vectors)])
        k = KernelBuilder("map")
        with k.inside(block):
            k.insert(YieldOp(function(k, *(Scalar(argument, k) for argument in block.args)).value))
        return cls.holding(x, vectors, Region(block))

    @classmethod
    def holding(cls, x: SSAValue, vectors: Sequence[SSAValue], body: Region) -> Self:
        """The map with this body."""
        return cls.create(operands=[x, *vectors], result_types=[x.type], regions=[body])

    def infer(self) -> Sequence[Attribute]:
        return [matrix_of(self.input)]

    def verify_(self) -> None:
        super().verify_()
        x, block = matrix_of(self.input), self.body.block
        for i, vector in enumerate(self.vectors):
            require_shape(vector, (x.columns,), float_of(vector), f"vector {i}")
        wanted = [float_of(value) for value in self.operands]
        if list(block.arg_types) != wanted:
            found = ", ".join(map(str, block.arg_types))
            raise VerifyException(f"the function takes {', '.join(map(str, wanted))}, not {found}")
        last = block.last_op
        if not isinstance(last, YieldOp) or last.value.type != x.element_type:
            raise VerifyException(f"the function ends in matrix.yield of one {x.element_type}")

    def evaluate(self, *inputs: Array) -> Array:
        return np.broadcast_to(straight_line(self.body.block, inputs)[0], inputs[0].shape)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        first = parser.parse_unresolved_operand()
        vectors = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        parser.parse_punctuation(":")
        pos = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType):
            parser.raise_error("expected a function type", pos, parser.pos)
        operands = parser.resolve_operands([first, *(vectors or [])], type_.inputs.data, pos)
        return cls.create(operands=operands, result_types=type_.outputs.data, regions=[parser.parse_region()])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        if self.vectors:
            printer.print_string(" (")
            printer.print_list(self.vectors, printer.print_ssa_value)
            printer.print_string(")")
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(list(self.operand_types), list(self.result_types)))
        printer.print_string(" ")
        printer.print_region(self.body)
