"""Operations whose result types follow from their operands and properties, and their custom syntax."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


class InferredOp(IRDLOperation, ABC):
    """Base of such operations. A subclass declares operands, properties and results, and says what `infer` makes.

    %y = dialect.name %x, %w {property = ...} : (type, type) -> type
    """

    @abstractmethod
    def infer(self) -> Sequence[Attribute]:
        """The result types from operand types and attributes. Raises VerifyException where they do not fit."""

    @classmethod
    def of(cls, *operands: SSAValue, **properties: Attribute) -> Self:
        """Build the operator and infer its result types. Absent optional operands are not supported here."""
        probe = cls.create(operands=operands, properties=properties)
        try:
            types = probe.infer()
        finally:
            probe.drop_all_references()  # else the operands would keep a use by an operation that is nowhere
        return cls.create(operands=operands, properties=properties, result_types=types)

    def on(self, *operands: SSAValue, **properties: Attribute) -> Self:
        """The same operator on other operands, and with some properties changed. Raises VerifyException as `infer`."""
        return type(self).of(*operands, **{**self.properties, **properties})

    def verify_(self) -> None:
        expected = tuple(self.infer())
        if tuple(self.result_types) != expected:
            found = ", ".join(map(str, self.result_types))
            raise VerifyException(f"{self.name} makes {', '.join(map(str, expected))}, not {found}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        properties = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType):
            parser.raise_error("expected a function type", pos, parser.pos)
        values = parser.resolve_operands(operands or [], type_.inputs.data, pos)
        declared = set(cls.get_irdl_definition().properties)
        return cls.create(
            operands=values,
            result_types=type_.outputs.data,
            properties={k: v for k, v in properties.items() if k in declared},
            attributes={k: v for k, v in properties.items() if k not in declared},
        )

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_ssa_value)
        attributes = {**self.properties, **self.attributes}
        if attributes:
            printer.print_string(" ")
            printer.print_attr_dict(attributes)
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(list(self.operand_types), list(self.result_types)))
