"""Reductions: what joins the values of a compute over its reduce axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FloatAttr, IntegerAttr, IntegerType, StringAttr, i1
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_operand_def,
    opt_prop_def,
    region_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator
from xdsl.utils.exceptions import VerifyException

from tilework.dialects import arith
from tilework.dialects.te.reducers import Number, why_no_reducer, why_not_in_parts
from tilework.dialects.te.scalars import ReadOp, YieldOp

REDUCERS = ("add", "mul", "max", "min", "maxui", "minui", "and", "or")
"""Commutative reducers; `max` and `min` propagate NaN, `maxui` and `minui` read integers as unsigned."""


def _parents() -> tuple[HasParent, ...]:
    from tilework.dialects.te.structure import ComputeOp  # which imports this file

    return (IsTerminator(), HasParent(ComputeOp))  # pyright: ignore[reportReturnType]


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Combine the values over the reduce axes; the order is left to the schedule.

    `te.reduce add %p : f32` names a reducer. One of the program's own joins several values at once, starting from
    identities; its region takes those so far and those that come in:

        te.reduce %v, %n from [0xFF800000 : f32, 2147483647 : i32] : f32, i32 {
        ^bb0(%v0: f32, %n0: i32, %v1: f32, %n1: i32):
          ...
          te.yield %vs, %ns : f32, i32
        }

    It must be commutative and associative, and its identities must leave other values alone: what a few numbers show to
    be otherwise is refused, or where it only joins elements with what there is so far, never joined in parts. With
    `where %c` only elements take part for which `%c` is true; the others are computed all the same, so that what they
    read must be in bounds.
    """

    name = "te.reduce"
    kind = opt_prop_def(StringAttr)
    identities = opt_prop_def(ArrayAttr)
    values = var_operand_def(AnyFloat | IntegerType)
    where = opt_operand_def(i1)
    combiner = region_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = lazy_traits_def(_parents)

    def __init__(
        self,
        reducer: str | tuple[Sequence[Number], Region],
        values: Sequence[SSAValue],
        where: SSAValue | None = None,
    ):
        """`reducer` is the name of one, or identities and the region that joins."""
        if isinstance(reducer, str):
            name, identities, region = StringAttr(reducer), None, Region()
        else:
            name, identities, region = None, ArrayAttr(cast("Sequence[Attribute]", reducer[0])), reducer[1]
        super().__init__(
            operands=[values, [] if where is None else [where]],
            properties={"kind": name, "identities": identities},
            regions=[region],
        )

    def verify_(self) -> None:
        if (self.kind is None) == (self.identities is None):
            raise VerifyException("te.reduce takes either a reducer's name or identities")
        if self.kind is not None:
            self._verify_named(self.kind.data)
        else:
            self._verify_own()

    def _verify_named(self, kind: str) -> None:
        if kind not in REDUCERS:
            raise VerifyException(f"unknown reducer '{kind}'; known: {', '.join(REDUCERS)}")
        if self.combiner.blocks:
            raise VerifyException(f"reducer '{kind}' has a region")
        if len(self.values) != 1:
            raise VerifyException(f"reducer '{kind}' joins one value, not {len(self.values)}")
        type_ = self.values[0].type
        if kind in ("and", "or") and type_ != i1:
            raise VerifyException(f"reducer '{kind}' joins values of i1, not of {type_}")
        if kind in ("add", "mul", "max", "min") and type_ == i1:
            raise VerifyException(f"reducer '{kind}' joins numbers; values of i1 are joined by 'and' and 'or'")
        if kind in ("maxui", "minui") and not isinstance(type_, IntegerType):
            raise VerifyException(f"reducer '{kind}' joins integers, not {type_}")

    def _verify_own(self) -> None:
        types = self.values.types
        identities = [cast(Any, a).type if isinstance(a, IntegerAttr | FloatAttr) else None for a in self._listed]
        if identities != list(types):
            listed = ", ".join(map(str, self._listed))
            raise VerifyException(f"identities [{listed}] for values of {', '.join(map(str, types))}")
        if len(self.combiner.blocks) != 1:
            raise VerifyException("a reducer of the program's own is a region of one block")
        block = self.combiner.block
        if tuple(block.arg_types) != (*types, *types):
            raise VerifyException(f"the reducer's arguments are twice {', '.join(map(str, types))}")
        last = block.last_op
        if not isinstance(last, YieldOp) or tuple(last.values.types) != tuple(types):
            raise VerifyException(f"the reducer ends in te.yield of {', '.join(map(str, types))}")
        inside: set[SSAValue] = set(block.args)
        for op in block.ops:
            _verify_scalar(op, inside)
            inside.update(op.results)
        if not self._joins_parts and (why := why_no_reducer("reducer", self.numbers, block, self._known)):
            raise VerifyException(why)

    @property
    def why_not_in_parts(self) -> str | None:
        """An example that shows that parts of the elements cannot be joined by themselves; None where none is found."""
        if self.kind is not None or self._joins_parts:
            return None
        return why_not_in_parts("reducer", self.numbers, self.combiner.block, self._known)

    @property
    def _known(self) -> Sequence[Number | None]:
        """The numbers that values always are."""
        owners = [v.owner for v in self.values]
        return [cast(Number, o.value) if isinstance(o, arith.ConstantOp) else None for o in owners]

    @property
    def _joins_parts(self) -> bool:
        """Whether the values are what a reduction by the same reducer has made, which shows for itself what it is."""
        owners = {v.owner.tensor.owner if isinstance(v.owner, ReadOp) else None for v in self.values}
        made = owners.pop()
        if owners or not isinstance(made, Operation) or not made.regions:
            return False
        last = made.regions[0].block.last_op
        return isinstance(last, ReduceOp) and last.combiner.is_structurally_equivalent(self.combiner)

    @property
    def numbers(self) -> Sequence[Number]:
        """The identities of a reducer of the program's own."""
        return cast("Sequence[Number]", self._listed)

    @property
    def _listed(self) -> Sequence[Attribute]:
        assert self.identities is not None
        return cast("Sequence[Attribute]", self.identities.data)

    @classmethod
    def parse(cls, parser: Parser) -> ReduceOp:
        kind = parser.parse_optional_identifier()
        unresolved = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        numbers: list[Attribute] = []
        if kind is None:
            parser.parse_keyword("from")
            numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
        mask: UnresolvedOperand | None = None
        if parser.parse_optional_keyword("where"):
            mask = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        values = parser.resolve_operands(unresolved, types, parser.pos)
        where = None if mask is None else parser.resolve_operand(mask, i1)
        if kind is not None:
            return ReduceOp(kind, values, where)
        return ReduceOp((cast("list[Number]", numbers), parser.parse_region()), values, where)

    def print(self, printer: Printer) -> None:
        printer.print_string(" " if self.kind is None else f" {self.kind.data} ")
        printer.print_list(self.values, printer.print_ssa_value)
        if self.kind is None:
            printer.print_string(" from [")
            printer.print_list(self.numbers, printer.print_attribute)
            printer.print_string("]")
        if self.where is not None:
            printer.print_string(" where ")
            printer.print_ssa_value(self.where)
        printer.print_string(" : ")
        printer.print_list(self.values.types, printer.print_attribute)
        if self.kind is None:
            printer.print_string(" ")
            printer.print_region(self.combiner)


def _verify_scalar(op: Operation, inside: set[SSAValue]) -> None:
    if op.name.partition(".")[0] not in ("arith", "math") and not isinstance(op, YieldOp):
        raise VerifyException(f"a reducer is made of arith and math operations, not of {op.name}")
    if not inside.issuperset(op.operands):
        raise VerifyException(f"{op.name} in a reducer uses a value from outside")
