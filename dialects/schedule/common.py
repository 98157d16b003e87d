"""What the primitives share: handles, and the pieces of their syntax."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import IRDLOperation, irdl_attr_definition, lazy_traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.support.names import identifier


@irdl_attr_definition
class StageType(ParametrizedAttribute, TypeAttribute):
    """A handle to a compute of the kernel, to an argument, or to a group of computes."""

    name = "schedule.stage"


@irdl_attr_definition
class AxisType(ParametrizedAttribute, TypeAttribute):
    """A handle to an axis of a stage."""

    name = "schedule.axis"


STAGE = StageType()
AXIS = AxisType()


def _sequence() -> type[Operation]:
    from tilework.dialects.schedule.sequence import SequenceOp  # which imports this file

    return SequenceOp


class ScheduleOp(IRDLOperation):
    """Base of the primitives: they stand in a sequence."""

    traits = lazy_traits_def(lambda: (HasParent(_sequence()),))


def hint(value: SSAValue, name: str) -> None:
    """Name a result in the text."""
    value.name_hint = identifier(name)


def hint_stage(handle: SSAValue, name: str, axes: Sequence[SSAValue], axis_names: Sequence[str]) -> None:
    """Name a stage and its axes in the text."""
    hint(handle, name)
    for axis, axis_name in zip(axes, axis_names, strict=False):
        hint(axis, axis_name)


def verify_names(names: ArrayAttr[StringAttr], axes: Sequence[SSAValue]) -> None:
    """Every axis has a name of its own."""
    if len(names) != len(axes):
        raise VerifyException(f"{len(axes)} axes for {len(names)} names")
    if len(set(names)) != len(names):
        raise VerifyException(f"an axis is named twice: {', '.join(n.data for n in names)}")


# -- syntax


def parse_handle(parser: Parser, type_: Attribute) -> SSAValue:
    """`%i`"""
    return parser.resolve_operand(parser.parse_unresolved_operand(), type_)


def parse_axes(parser: Parser) -> list[SSAValue]:
    """`%i, %j`"""
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_handle(parser, AXIS))


def parse_stages(parser: Parser) -> list[SSAValue]:
    """`(%a, %b)`"""
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_handle(parser, STAGE))


def print_stages(printer: Printer, word: str, values: Sequence[SSAValue]) -> None:
    """` word(%a, %b)`"""
    printer.print_string(f" {word}(")
    printer.print_list(values, printer.print_ssa_value)
    printer.print_string(")")


def parse_names(parser: Parser) -> list[str]:
    """`[i, j]`"""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier)


def print_names(printer: Printer, names: ArrayAttr[StringAttr]) -> None:
    """` [i, j]`"""
    printer.print_string(f" [{', '.join(n.data for n in names)}]")


def names_attr(names: Sequence[str]) -> ArrayAttr[StringAttr]:
    """Axis names as an attribute."""
    return ArrayAttr(map(StringAttr, names))
