"""A graph that is run again as long as data say so."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
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

from tilework.algebra.index_expr import Expr, var
from tilework.dialects.graph.control import (
    CONDITION,
    BindsSymbol,
    RepeatedOp,
    parse_groups,
    parse_types,
    print_groups,
    sequence_of,
    verify_condition,
    verify_told_outside,
)
from tilework.dialects.support.index_attr import DimsAttr, parse_expr_list


@irdl_op_definition
class WhileOp(RepeatedOp, BindsSymbol):
    """A graph that is run again and again on the states that it has left, as long as the condition holds.

    %end, %all = graph.while %go at most [N] counting "K" from (%x) with (%k)
        : from (tensor<8xf32>) with (tensor<8xf32>) -> (tensor<8xf32>, tensor<?x8xf32, #graph.dims<[K, 8]>>) {
    ^bb0(%state: tensor<8xf32>, %same: tensor<8xf32>):
      ...
      graph.yield %again, %next, %y : tensor<i1>, tensor<8xf32>, tensor<8xf32>
    }

    The graph yields whether it is run once more, the next states, and elements of new sequences, which need `at most`,
    a limit, and `counting`: the symbol that the number of runs is bound to. It runs no more often than the limit says.
    Results are the last states, those given where it never runs, and the new sequences. As in ONNX's Loop.
    """

    name = "graph.while"
    condition = operand_def(TensorType)
    states = var_operand_def(TensorType)
    constants = var_operand_def(TensorType)
    limit = opt_prop_def(DimsAttr)
    count = opt_prop_def(StringAttr)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsolatedFromAbove(), Pure())

    def __init__(
        self,
        condition: SSAValue,
        states: Sequence[SSAValue],
        constants: Sequence[SSAValue],
        output_types: Sequence[Attribute],
        body: Region,
        limit: Expr | None = None,
        count: str | None = None,
    ):
        super().__init__(
            operands=[condition, states, constants],
            result_types=[output_types],
            properties={
                "limit": None if limit is None else DimsAttr.of([limit]),
                "count": None if count is None else StringAttr(count),
            },
            regions=[body],
        )

    @property
    def most(self) -> Expr | None:
        """How often it runs at most, where there is a limit."""
        return None if self.limit is None else self.limit.data[0]

    @property
    def bound_symbol(self) -> str | None:
        return None if self.count is None else self.count.data

    @property
    def steps(self) -> Expr:
        """How often it runs: a symbol, for one that makes sequences."""
        assert self.count is not None
        return var(self.count.data)

    def verify_(self) -> None:
        verify_condition(self.condition, "the condition")
        states = list(self.states.types)
        if list(self.body.block.arg_types) != [*states, *self.constants.types]:
            raise VerifyException("the region takes the states, and what is constant")
        if not self.yielded.values:
            raise VerifyException("the region yields first whether it is run again")
        again, *yielded = self.yielded.values
        verify_condition(again, "what the region yields first")
        if [v.type for v in yielded[: len(states)]] != states:
            raise VerifyException("behind that the region yields the next states, of the same types")
        if self.limit is not None and len(self.limit) != 1:
            raise VerifyException("a limit is one number")
        if [v.type for v in self.end_states] != states:
            raise VerifyException("the first results are the states")
        self._verify_sequences([v.type for v in yielded[len(states) :]])

    def _verify_sequences(self, elements: Sequence[Attribute]) -> None:
        made = [v.type for v in self.new_sequences]
        verify_told_outside(self.body.block, made)
        if not elements and not made:
            return
        if self.count is None or self.limit is None:
            raise VerifyException("new sequences need 'at most', a limit, and 'counting', a symbol")
        if made != [sequence_of(element, self.steps) for element in elements]:
            raise VerifyException(f"the results behind the states are sequences of {self.steps} elements")

    @classmethod
    def parse(cls, parser: Parser) -> WhileOp:
        condition, limit, count = parser.parse_operand(CONDITION), None, None
        if parser.parse_optional_keyword("at") is not None:
            parser.parse_keyword("most")
            limit = DimsAttr(parse_expr_list(parser))
        if parser.parse_optional_keyword("counting") is not None:
            count = parser.parse_str_literal()
        [states, constants], outputs = parse_types(parser, parse_groups(parser, ["from", "with"]))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = WhileOp(condition, states, constants, outputs, parser.parse_region(), None, count)
        if limit is not None:
            op.properties["limit"] = limit
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        if self.limit is not None:
            printer.print_string(f" at most [{', '.join(map(str, self.limit))}]")
        if self.count is not None:
            printer.print_string(" counting ")
            printer.print_string_literal(self.count.data)
        print_groups(printer, {"from": self.states, "with": self.constants}, self.outputs.types)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)
