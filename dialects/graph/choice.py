"""One of two graphs, as data decide."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.graph.control import (
    CONDITION,
    ControlOp,
    parse_groups,
    parse_types,
    print_groups,
    verify_condition,
    yielded_by,
)


@irdl_op_definition
class IfOp(ControlOp):
    """What the first graph makes where the condition holds, elsewhere what the second one makes; the other is not run.

    %y = graph.if %c with (%x) : with (tensor<4xf32>) -> (tensor<4xf32>) {
    ^bb0(%a: tensor<4xf32>):
      ...
      graph.yield %r : tensor<4xf32>
    } else {
    ^bb0(%a: tensor<4xf32>):
      graph.yield %a : tensor<4xf32>
    }

    The condition is one truth value. Both graphs take what stands behind `with`, and yield results of the same types.
    """

    name = "graph.if"
    condition = operand_def(TensorType)
    constants = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    then_body = region_def("single_block")
    else_body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), Pure())

    def __init__(
        self,
        condition: SSAValue,
        constants: Sequence[SSAValue],
        output_types: Sequence[Attribute],
        then_body: Region,
        else_body: Region,
    ):
        super().__init__(operands=[condition, constants], result_types=[output_types], regions=[then_body, else_body])

    @property
    def bodies(self) -> Sequence[Block]:
        return [self.then_body.block, self.else_body.block]

    def verify_(self) -> None:
        verify_condition(self.condition, "the condition")
        for body in self.bodies:
            if list(body.arg_types) != list(self.constants.types):
                raise VerifyException("both regions take what stands behind 'with'")
            if list(yielded_by(body).values.types) != list(self.outputs.types):
                raise VerifyException("both regions yield the results")

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        condition = parser.parse_operand(CONDITION)
        [constants], outputs = parse_types(parser, parse_groups(parser, ["with"]))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        then_body = parser.parse_region()
        parser.parse_keyword("else")
        op = IfOp(condition, constants, outputs, then_body, parser.parse_region())
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        print_groups(printer, {"with": self.constants}, self.outputs.types)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.then_body)
        printer.print_string(" else ")
        printer.print_region(self.else_body)
