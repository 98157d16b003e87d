"""Primitives about a stage's buffer: where it lives, how it lies in memory, when it is filled."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.schedule.common import (
    AXIS,
    STAGE,
    AxisType,
    ScheduleOp,
    StageType,
    parse_handle,
)
from tilework.dialects.schedule.knob import Number, NumberAttr, number_of, number_text, parse_number, to_number
from tilework.dialects.te.intrinsics import verify_scope


@irdl_op_definition
class SetScopeOp(ScheduleOp):
    """Where the stage's buffer lives: `global`, `shared`, `warp`, `local`, `register`, or registers of an intrinsic.

    `schedule.set_scope %dense "register"`
    """

    name = "schedule.set_scope"
    stage = operand_def(StageType)
    scope = prop_def(StringAttr)
    assembly_format = "$stage $scope attr-dict"

    def __init__(self, stage: SSAValue, scope: str):
        super().__init__(operands=[stage], properties={"scope": StringAttr(scope)})

    def verify_(self) -> None:
        verify_scope(self.scope.data, self)


@irdl_op_definition
class StorageAlignOp(ScheduleOp):
    """The stride of a spatial axis in the stage's buffer is a multiple of `factor` plus `offset`, in elements.

    `schedule.storage_align %i factor 32 offset 1`
    """

    name = "schedule.storage_align"
    axis = operand_def(AxisType)
    factor = prop_def(NumberAttr)
    offset = prop_def(NumberAttr)

    def __init__(self, axis: SSAValue, factor: Number, offset: Number):
        super().__init__(operands=[axis], properties={"factor": to_number(factor), "offset": to_number(offset)})

    def verify_(self) -> None:
        if number_of(self.factor) < 1 or number_of(self.offset) < 0:
            raise VerifyException("storage_align takes a factor of at least 1 and an offset of at least 0")

    @classmethod
    def parse(cls, parser: Parser) -> StorageAlignOp:
        axis = parse_handle(parser, AXIS)
        parser.parse_keyword("factor")
        factor = parse_number(parser)
        parser.parse_keyword("offset")
        return StorageAlignOp(axis, factor, parse_number(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.axis)
        printer.print_string(f" factor {number_text(self.factor)} offset {number_text(self.offset)}")


@irdl_op_definition
class DoubleBufferOp(ScheduleOp):
    """Fill the stage's buffer for the next iteration while this one uses it: twice the memory.

    Where the axis that the stage is computed at has one iteration, nothing happens.
    """

    name = "schedule.double_buffer"
    stage = operand_def(StageType)
    assembly_format = "$stage attr-dict"

    def __init__(self, stage: SSAValue):
        super().__init__(operands=[stage])


@irdl_op_definition
class PrefetchOp(ScheduleOp):
    """At every iteration of the axis, ask the cache for what it will read of that tensor `offset` iterations later.

    With `spread` not at once, but evenly over the iterations of the loops inside.

    `schedule.prefetch %x, %i offset 2`, `schedule.prefetch %w, %o offset 1 spread`
    """

    name = "schedule.prefetch"
    source = operand_def(StageType)
    axis = operand_def(AxisType)
    offset = prop_def(NumberAttr)
    spread = opt_prop_def(UnitAttr)

    def __init__(self, source: SSAValue, axis: SSAValue, offset: Number, spread: bool = False):
        super().__init__(
            operands=[source, axis],
            properties={"offset": to_number(offset), "spread": UnitAttr() if spread else None},
        )

    def verify_(self) -> None:
        if number_of(self.offset) < 1:
            raise VerifyException(f"prefetch {number_of(self.offset)} iterations ahead: must be at least 1")

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        source = parse_handle(parser, STAGE)
        parser.parse_punctuation(",")
        axis = parse_handle(parser, AXIS)
        parser.parse_keyword("offset")
        number = parse_number(parser)
        return PrefetchOp(source, axis, number, parser.parse_optional_keyword("spread") is not None)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list([self.source, self.axis], printer.print_ssa_value)
        printer.print_string(f" offset {number_text(self.offset)}")
        if self.spread is not None:
            printer.print_string(" spread")
