"""Operators whose bodies are graphs of their own: what they have in common, and the words of their syntax."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, TensorType, i1, i32
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.irdl import IRDLOperation, VarOperand, VarOpResult, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.dialects.graph.structure import YieldOp
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type

CONDITION = tensor_type([], i1)
"""The type of a condition: one truth value."""

Listed = TypeVar("Listed")


class ControlOp(IRDLOperation, ABC):
    """An operator whose bodies are graphs: of what is around them they see their arguments, and parameters by name.

    The last operands are its constants, the last arguments of every body what that calls them.
    """

    constants = var_operand_def(TensorType)

    @property
    @abstractmethod
    def bodies(self) -> Sequence[Block]:
        """The graphs."""

    def constant_arguments(self, body: Block) -> Sequence[BlockArgument]:
        """What one of the bodies calls the constants."""
        return body.args[len(body.args) - len(self.constants) :]

    @property
    def changing(self) -> Sequence[SSAValue]:
        """The operands that are no constants."""
        return self.operands[: len(self.operands) - len(self.constants)]

    def keep_constants(self, kept: Sequence[SSAValue]) -> None:
        """Have these constants only; the arguments of the bodies are the caller's to erase."""
        sizes = self.properties.get("operandSegmentSizes")
        self.operands = [*self.changing, *kept]
        if isinstance(sizes, DenseArrayBase):
            given = [int(size) for size in sizes.get_values()]
            self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [*given[:-1], len(kept)])


class RepeatedOp(ControlOp, ABC):
    """An operator that runs its one body again and again on states, and makes new sequences meanwhile."""

    if TYPE_CHECKING:  # each operator defines them, in its own order
        states: VarOperand
        outputs: VarOpResult
        body: Region

    @property
    def bodies(self) -> Sequence[Block]:
        return [self.body.block]

    @property
    def end_states(self) -> Sequence[SSAValue]:
        """The results that are the last states."""
        return self.outputs[: len(self.states)]

    @property
    def new_sequences(self) -> Sequence[SSAValue]:
        """The results that have an element for each run."""
        return self.outputs[len(self.states) :]

    @property
    def yielded(self) -> YieldOp:
        """The end of the body."""
        return yielded_by(self.body.block)


class BindsSymbol(ABC):
    """An operator that binds a symbol, which types behind it may use."""

    @property
    @abstractmethod
    def bound_symbol(self) -> str | None:
        """The name of the symbol; None for an operator that binds none."""


def verify_told_outside(body: Block, results: Sequence[Attribute]) -> None:
    """Raise VerifyException where the sizes of results depend on symbols that the body binds, anew each time."""
    bound = {op.bound_symbol for op in body.walk() if isinstance(op, BindsSymbol)}
    inside = next((key for type_ in results for d in dims_of(type_) for key in d.variables() if key in bound), None)
    if inside is not None:
        raise VerifyException(f"a result has the size {inside}, which data tell inside of the region")


def yielded_by(body: Block) -> YieldOp:
    """The end of a body. Raises VerifyException where it is another one."""
    if not isinstance(body.last_op, YieldOp):
        raise VerifyException("the region ends in graph.yield")
    return body.last_op


def verify_condition(value: SSAValue, what: str) -> None:
    """Raise VerifyException where a value is not one truth value."""
    if value.type != CONDITION:
        raise VerifyException(f"{what} is one truth value, a {CONDITION}, not {value.type}")


def element_of(sequence: Attribute) -> Attribute:
    """The type of an element of a sequence."""
    return tensor_type(dims_of(sequence)[1:], element_type(sequence))


def sequence_of(element: Attribute, steps: Expr) -> Attribute:
    """The type of a sequence of so many elements."""
    return tensor_type([steps, *dims_of(element)], element_type(element))


# -- syntax: from (%x, %y) with (%k) : from (type, type) with (type) -> (type)

Groups: TypeAlias = "Mapping[str, Sequence[UnresolvedOperand]]"
"""The operands behind each word."""


def parse_groups(parser: Parser, words: Sequence[str]) -> Groups:
    """The operands behind each word, none where it is not there."""
    return {word: _listed_behind(parser, word, parser.parse_unresolved_operand) for word in words}


def parse_types(parser: Parser, groups: Groups) -> tuple[list[Sequence[SSAValue]], Sequence[Attribute]]:
    """The operands of each group with their types, and the types of the results."""
    parser.parse_punctuation(":")
    pos = parser.pos
    types = {word: _listed_behind(parser, word, parser.parse_type) for word in groups}
    values = [parser.resolve_operands(groups[word], types[word], pos) for word in groups]
    parser.parse_punctuation("->")
    return values, parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)


def print_groups(printer: Printer, groups: Mapping[str, Sequence[SSAValue]], results: Sequence[Attribute]) -> None:
    """What `parse_groups` and `parse_types` read."""
    given = {word: values for word, values in groups.items() if values}
    for word, values in given.items():
        printer.print_string(f" {word} (")
        printer.print_list(values, printer.print_ssa_value)
        printer.print_string(")")
    printer.print_string(" :")
    for word, values in given.items():
        printer.print_string(f" {word} (")
        printer.print_list([value.type for value in values], printer.print_attribute)
        printer.print_string(")")
    printer.print_string(" -> (")
    printer.print_list(results, printer.print_attribute)
    printer.print_string(")")


def _listed_behind(parser: Parser, word: str, element: Callable[[], Listed]) -> list[Listed]:
    if parser.parse_optional_keyword(word) is None:
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, element)
