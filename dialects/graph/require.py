"""Conditions on the sizes of a function's inputs."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.requirement import Requirement
from tilework.dialects.support.index_attr import GraphWhenAttr, parse_predicate_list


@irdl_op_definition
class RequireOp(IRDLOperation):
    """At least one of these conditions on symbols holds when the function is called; else it fails with the text.

    graph.require [N mod 2 == 0] "Split 'halves' makes 2 equal parts of an axis of size N"
    """

    name = "graph.require"
    any_of = prop_def(GraphWhenAttr)
    text = prop_def(StringAttr)

    def __init__(self, requirement: Requirement):
        super().__init__(properties={"any_of": GraphWhenAttr(requirement.any_of), "text": StringAttr(requirement.text)})

    @property
    def requirement(self) -> Requirement:
        """The conditions and the text."""
        return Requirement(self.any_of.data, self.text.data)

    def verify_(self) -> None:
        if not self.any_of.data:
            raise VerifyException("no condition can be met where there is none")

    @classmethod
    def parse(cls, parser: Parser) -> RequireOp:
        conditions = parse_predicate_list(parser)
        return RequireOp(Requirement(conditions, parser.parse_str_literal()))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" [{', '.join(map(str, self.any_of))}] ")
        printer.print_string_literal(self.text.data)
