"""Numbers in a schedule, and knobs: numbers with the other values that a tuner may give them.

%yo, %yi = schedule.split %y factor #schedule.knob<"tile_y", [4, 8, 16], 8>
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.support.diagnostics import UsageError


@irdl_attr_definition
class KnobAttr(ParametrizedAttribute):
    """`#schedule.knob<"tile_y", [4, 8, 16], 8>`: a name, the values to choose from, and the one chosen."""

    name = "schedule.knob"
    knob: StringAttr
    choices: ArrayAttr[IntegerAttr]
    chosen: IntegerAttr

    @staticmethod
    def of(name: str, choices: Sequence[int], chosen: int) -> KnobAttr:
        """The knob of that name. Raises VerifyException where `chosen` is not among the choices."""
        return KnobAttr(StringAttr(name), ArrayAttr(IntegerAttr(c, i64) for c in choices), IntegerAttr(chosen, i64))

    @property
    def values(self) -> tuple[int, ...]:
        """The values to choose from."""
        return tuple(c.value.data for c in self.choices)

    def verify(self) -> None:
        if len(set(self.values)) != len(self.values):
            raise VerifyException(f"knob '{self.knob.data}' lists a choice twice")
        if self.chosen.value.data not in self.values:
            listed = ", ".join(map(str, self.values))
            raise VerifyException(f"knob '{self.knob.data}' is {self.chosen.value.data}, not one of {listed}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            name = parser.parse_str_literal()
            parser.parse_punctuation(",")
            choices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
            parser.parse_punctuation(",")
            chosen = parser.parse_integer()
        return [StringAttr(name), ArrayAttr(IntegerAttr(c, i64) for c in choices), IntegerAttr(chosen, i64)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.knob.data)
            printer.print_string(f", [{', '.join(map(str, self.values))}], {self.chosen.value.data}")


NumberAttr: TypeAlias = IntegerAttr | KnobAttr
Number: TypeAlias = int | KnobAttr


def to_number(value: Number) -> NumberAttr:
    """The attribute of a number."""
    return value if isinstance(value, KnobAttr) else IntegerAttr(value, i64)


def number_of(attribute: NumberAttr) -> int:
    """The number that an attribute stands for, that of a knob as it is set."""
    return attribute.chosen.value.data if isinstance(attribute, KnobAttr) else attribute.value.data


def parse_number(parser: Parser) -> Number:
    """An integer or a knob."""
    number = parse_optional_number(parser)
    if number is None:
        parser.raise_error("expected an integer or a #schedule.knob")
    return number


def parse_optional_number(parser: Parser) -> Number | None:
    """An integer or a knob where one begins here, else None."""
    integer = parser.parse_optional_integer(allow_boolean=False)
    if integer is not None:
        return integer
    knob = parser.parse_optional_attribute()
    if knob is not None and not isinstance(knob, KnobAttr):
        parser.raise_error("expected an integer or a #schedule.knob")
    return knob


def number_text(attribute: NumberAttr) -> str:
    """The number as custom syntax writes it."""
    return str(attribute) if isinstance(attribute, KnobAttr) else str(attribute.value.data)


def knobs_of(sequence: Operation) -> dict[str, KnobAttr]:
    """The knobs of a schedule by name, in order of appearance. A knob may stand in several places."""
    found: dict[str, KnobAttr] = {}
    for op in sequence.walk():
        for attribute in op.properties.values():
            if isinstance(attribute, KnobAttr):
                found.setdefault(attribute.knob.data, attribute)
    return found


def set_knobs(sequence: Operation, values: Mapping[str, int]) -> None:
    """Set knobs by name, in place. Raises UsageError for an unknown name or a value that is no choice."""
    known = knobs_of(sequence)
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"the schedule has no knob '{name}'; its knobs are {', '.join(known) or 'none'}")
        if value not in known[name].values:
            listed = ", ".join(map(str, known[name].values))
            raise UsageError(f"knob '{name}' cannot be {value}; its choices are {listed}")
    for op in sequence.walk():
        for key, attribute in op.properties.items():
            if isinstance(attribute, KnobAttr) and attribute.knob.data in values:
                op.properties[key] = KnobAttr.of(attribute.knob.data, attribute.values, values[attribute.knob.data])
