"""Steps that each go on from what the one before has made: recurrent layers, loops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.dialects.graph.control import (
    RepeatedOp,
    element_of,
    parse_groups,
    parse_types,
    print_groups,
    sequence_of,
    verify_told_outside,
)
from tilework.dialects.support.shapes import dims_of


@irdl_op_definition
class ScanOp(RepeatedOp):
    """A step for every element of sequences, each step with the states that the one before has left.

    %end, %all = graph.scan from (%h) over (%xs) with (%k)
        : from (tensor<2x8xf32>) over (tensor<35x2x4xf32>) with (tensor<8xf32>)
        -> (tensor<2x8xf32>, tensor<35x2x8xf32>) {
    ^bb0(%state: tensor<2x8xf32>, %x: tensor<2x4xf32>, %same: tensor<8xf32>):
      ...
      graph.yield %next, %y : tensor<2x8xf32>, tensor<2x8xf32>
    }

    A step sees the states, its element of every sequence, taken along axis 0, and `with`, what is the same for all; of
    what lies outside it sees nothing else but parameters, which it names itself. It yields the next states, and
    elements of new sequences. Results are the states after the last step, those given where there is no step, and the
    new sequences. With `reverse` the last element of every sequence, new ones too, belongs to the first step.
    As in ONNX's Scan and JAX's lax.scan.
    """

    name = "graph.scan"
    states = var_operand_def(TensorType)
    sequences = var_operand_def(TensorType)
    constants = var_operand_def(TensorType)
    reverse = opt_prop_def(UnitAttr)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsolatedFromAbove(), Pure())

    def __init__(
        self,
        states: Sequence[SSAValue],
        sequences: Sequence[SSAValue],
        constants: Sequence[SSAValue],
        output_types: Sequence[Attribute],
        body: Region,
        reverse: bool = False,
    ):
        super().__init__(
            operands=[states, sequences, constants],
            result_types=[output_types],
            properties={"reverse": UnitAttr()} if reverse else {},
            regions=[body],
        )

    @property
    def steps(self) -> Expr:
        """How many steps there are."""
        return dims_of(self.sequences[0].type)[0]

    def verify_(self) -> None:
        if not self.sequences:
            raise VerifyException("a scan goes over one sequence at least")
        if any(not dims_of(v.type) for v in self.sequences):
            raise VerifyException("a sequence has an axis at least")
        lengths = dict.fromkeys(dims_of(v.type)[0] for v in self.sequences)
        if len(lengths) > 1:
            raise VerifyException(f"sequences of different lengths: {', '.join(map(str, lengths))}")
        states = list(self.states.types)
        expected = [*states, *map(element_of, self.sequences.types), *self.constants.types]
        if list(self.body.block.arg_types) != expected:
            raise VerifyException("the region takes the states, an element of each sequence, and what is constant")
        yielded = list(self.yielded.values.types)
        if yielded[: len(states)] != states:
            raise VerifyException("the region yields the next states, of the same types, first")
        sequences = [sequence_of(type_, self.steps) for type_ in yielded[len(states) :]]
        verify_told_outside(self.body.block, sequences)
        if list(self.outputs.types) != [*states, *sequences]:
            raise VerifyException("the results are the states, and sequences of what else the region yields")

    @classmethod
    def parse(cls, parser: Parser) -> ScanOp:
        reverse = parser.parse_optional_keyword("reverse") is not None
        groups = parse_groups(parser, ["from", "over", "with"])
        [states, sequences, constants], outputs = parse_types(parser, groups)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = ScanOp(states, sequences, constants, outputs, parser.parse_region(), reverse)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        if self.reverse is not None:
            printer.print_string(" reverse")
        groups = {"from": self.states, "over": self.sequences, "with": self.constants}
        print_groups(printer, groups, self.outputs.types)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)
