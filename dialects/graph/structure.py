"""The operations that hold a graph together: parameters, fused groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint, TensorType
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, OpTrait, Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.graph.base import GraphOp


@irdl_op_definition
class ParameterOp(IRDLOperation):
    """A trained parameter by name; its bytes lie in a side file, never in the text.

    %w = graph.parameter @conv1.weight : tensor<64x3x7x7xf32>

    With `{device = "npu0"}` the bytes are in the memory of that device before the program runs.
    """

    name = "graph.parameter"
    sym_name = prop_def(SymbolNameConstraint())
    result = result_def(TensorType)
    assembly_format = "$sym_name attr-dict `:` type($result)"
    traits = traits_def(Pure())

    def __init__(self, name: str, type_: Attribute):
        super().__init__(properties={"sym_name": StringAttr(name)}, result_types=[type_])


@irdl_op_definition
class CopyOp(IRDLOperation):
    """The same tensor in the memory of another device, or of the host.

    %d = graph.copy %x to "npu0" : tensor<4xf32>
    """

    T: ClassVar = VarConstraint("T", base(TensorType))

    name = "graph.copy"
    source = operand_def(T)
    device = prop_def(StringAttr)
    result = result_def(T)
    assembly_format = "$source `to` $device attr-dict `:` type($source)"
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, device: str):
        super().__init__(operands=[source], properties={"device": StringAttr(device)}, result_types=[source.type])


@irdl_op_definition
class DefineParameterOp(IRDLOperation):
    """Define, in @prepare, the parameter of that name as the value. Each one is evaluated on its own.

    graph.define_parameter @conv1.folded, %w : tensor<64x3x7x7xf32>
    """

    name = "graph.define_parameter"
    sym_name = prop_def(SymbolNameConstraint())
    value = operand_def(TensorType)
    assembly_format = "$sym_name `,` $value attr-dict `:` type($value)"

    def __init__(self, name: str, value: SSAValue):
        super().__init__(operands=[value], properties={"sym_name": StringAttr(name)})


@irdl_op_definition
class FusedOp(IRDLOperation):
    """A group of operators that becomes one kernel, on the host or on the `device` that its attributes name.

    The region sees its operands as block arguments only.

    %y = graph.fused "conv_relu" (%x, %w) : (tensor<...>, tensor<...>) -> tensor<...> {
    ^bb0(%a: tensor<...>, %b: tensor<...>):
      ...
      graph.yield %r : tensor<...>
    }
    """

    name = "graph.fused"
    label = prop_def(StringAttr)
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), Pure())

    def __init__(self, label: str, inputs: Sequence[SSAValue], output_types: Sequence[Attribute], body: Region):
        super().__init__(
            operands=[inputs], result_types=[output_types], properties={"label": StringAttr(label)}, regions=[body]
        )

    def verify_(self) -> None:
        block = self.body.block
        if tuple(block.arg_types) != tuple(self.inputs.types):
            raise VerifyException("the region's arguments differ from the operands")
        if inner := next((op.name for op in block.ops if op.regions and not isinstance(op, GraphOp)), None):
            raise VerifyException(f"the region holds {inner}, which is no operator of a kernel")
        if not isinstance(block.last_op, YieldOp) or tuple(block.last_op.values.types) != tuple(self.outputs.types):
            raise VerifyException("the region ends in graph.yield of the results")

    @classmethod
    def parse(cls, parser: Parser) -> FusedOp:
        label = parser.parse_str_literal()
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        parser.parse_punctuation(":")
        pos = parser.pos
        inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        parser.parse_punctuation("->")
        outputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        values = parser.resolve_operands(operands, inputs, pos)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = FusedOp(label, values, outputs, parser.parse_region())
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.print_string(" (")
        printer.print_list(self.inputs, printer.print_ssa_value)
        printer.print_string(") : (")
        printer.print_list(self.inputs.types, printer.print_attribute)
        printer.print_string(") -> (")
        printer.print_list(self.outputs.types, printer.print_attribute)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)


def _yield_traits() -> tuple[OpTrait, ...]:
    from tilework.dialects.graph.choice import IfOp  # they need this module
    from tilework.dialects.graph.iteration import WhileOp
    from tilework.dialects.graph.scan import ScanOp

    return (IsTerminator(), HasParent(FusedOp, ScanOp, IfOp, WhileOp))


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The results of a fused group, or of a side of a graph.if; of the body of a graph.scan, or a graph.while.

    In a body these are the next states, and the elements of new sequences; in front of them, in a graph.while, whether
    it is run again.
    """

    name = "graph.yield"
    values = var_operand_def(TensorType)
    assembly_format = "($values^)? attr-dict (`:` type($values)^)?"
    traits = lazy_traits_def(_yield_traits)

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])
