"""Primitives that make axes from axes, and that order them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.utils import EnumAttribute
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilework.dialects.schedule.common import AXIS, AxisType, ScheduleOp, StageType, hint, parse_axes, parse_handle
from tilework.dialects.schedule.knob import Number, NumberAttr, number_of, number_text, parse_number, to_number


class Tail(StrEnum):
    """What happens in the last tile where the factor does not divide the extent."""

    GUARD = "guard"
    """A condition around the body."""
    PARTITION = "partition"
    """The remainder gets code of its own, with constant trip counts where the extent is constant."""
    SHIFT = "shift"
    """The last tile moves inwards and overlaps the one before: its elements are computed twice."""
    MASK = "mask"
    """The inner loop becomes shorter: for a vectorized one, lanes are masked."""
    PAD = "pad"
    """The last tile is whole: the stage's buffer has room for elements that nobody needs."""


@irdl_attr_definition
class TailAttr(EnumAttribute[Tail], SpacedOpaqueSyntaxAttribute):
    """`#schedule<tail guard>`"""

    name = "schedule.tail"


@irdl_op_definition
class SplitOp(ScheduleOp):
    """One leaf axis becomes an outer and an inner one: of extent `factor`, or `nparts` outer iterations.

    `%xo, %xi = schedule.split %x factor 16 tail shift`
    """

    name = "schedule.split"
    axis = operand_def(AxisType)
    factor = opt_prop_def(NumberAttr)
    nparts = opt_prop_def(NumberAttr)
    tail = prop_def(TailAttr, default_value=TailAttr(Tail.GUARD))
    outer = result_def(AxisType)
    inner = result_def(AxisType)

    def __init__(
        self, axis: SSAValue, factor: Number | None = None, nparts: Number | None = None, tail: Tail = Tail.GUARD
    ):
        super().__init__(
            operands=[axis],
            properties={
                "factor": None if factor is None else to_number(factor),
                "nparts": None if nparts is None else to_number(nparts),
                "tail": TailAttr(tail),
            },
            result_types=[AXIS, AXIS],
        )
        if axis.name_hint:
            hint(self.outer, f"{axis.name_hint}_o")
            hint(self.inner, f"{axis.name_hint}_i")

    def verify_(self) -> None:
        if (self.factor is None) == (self.nparts is None):
            raise VerifyException("split takes either a factor or nparts")
        number = self.nparts if self.factor is None else self.factor
        assert number is not None
        if number_of(number) < 1:
            raise VerifyException(f"split by {number_of(number)}: must be at least 1")

    @classmethod
    def parse(cls, parser: Parser) -> SplitOp:
        axis = parse_handle(parser, AXIS)
        which = parser.parse_keyword_in(("factor", "nparts"))
        number = parse_number(parser)
        tail = Tail.GUARD
        if parser.parse_optional_keyword("tail"):
            tail = Tail(parser.parse_keyword_in(tuple(Tail)))
        return SplitOp(axis, number if which == "factor" else None, number if which == "nparts" else None, tail)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.axis)
        if self.factor is not None:
            printer.print_string(f" factor {number_text(self.factor)}")
        if self.nparts is not None:
            printer.print_string(f" nparts {number_text(self.nparts)}")
        if self.tail.data is not Tail.GUARD:
            printer.print_string(f" tail {self.tail.data}")


@irdl_op_definition
class FuseOp(ScheduleOp):
    """Adjacent leaf axes become one, the first outermost. `%f = schedule.fuse %y, %x`"""

    name = "schedule.fuse"
    axes = var_operand_def(AxisType)
    fused = result_def(AxisType)

    def __init__(self, axes: Sequence[SSAValue]):
        super().__init__(operands=[axes], result_types=[AXIS])
        hints = [a.name_hint for a in axes]
        if all(hints):
            hint(self.fused, "_".join(str(h) for h in hints))

    def verify_(self) -> None:
        if len(self.axes) < 2:
            raise VerifyException("fuse takes at least two axes; schedule.singleton makes one from none")

    @classmethod
    def parse(cls, parser: Parser) -> FuseOp:
        return FuseOp(parse_axes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.axes, printer.print_ssa_value)


@irdl_op_definition
class SingletonOp(ScheduleOp):
    """A new outermost axis of extent 1: what fusing no axes at all gives, for a stage of rank 0 say.

    `%one = schedule.singleton %sum`
    """

    name = "schedule.singleton"
    stage = operand_def(StageType)
    axis = result_def(AxisType)
    assembly_format = "$stage attr-dict"

    def __init__(self, stage: SSAValue):
        super().__init__(operands=[stage], result_types=[AXIS])
        hint(self.axis, "singleton")


@irdl_op_definition
class ReorderOp(ScheduleOp, HasCanonicalizationPatternsInterface):
    """The given leaf axes of one stage, in this order from now on, in the places they hold together."""

    name = "schedule.reorder"
    axes = var_operand_def(AxisType)
    assembly_format = "$axes attr-dict"

    def __init__(self, axes: Sequence[SSAValue]):
        super().__init__(operands=[axes])

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilework.dialects.schedule.canonicalization import IdleReorder  # which imports this file

        return (IdleReorder(),)

    def verify_(self) -> None:
        if not self.axes:
            raise VerifyException("reorder takes at least one axis")
        if len(set(self.axes)) != len(self.axes):
            raise VerifyException("reorder names an axis twice")
