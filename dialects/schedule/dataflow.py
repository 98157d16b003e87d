"""Primitives that rewrite the kernel: `schedule-apply-dataflow` performs them, in order, inlining last."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.schedule.common import (
    AXIS,
    STAGE,
    AxisType,
    ScheduleOp,
    StageType,
    hint,
    hint_stage,
    names_attr,
    parse_handle,
    parse_names,
    parse_stages,
    print_names,
    print_stages,
    verify_names,
)
from tilework.dialects.schedule.knob import Number, NumberAttr, number_of, number_text, parse_number, to_number
from tilework.dialects.te.intrinsics import verify_scope


@irdl_op_definition
class ComputeInlineOp(ScheduleOp):
    """Put the stage's expression in place of every read of it.

    Of the primitives that say where a stage is computed the last one holds: a `schedule.compute_at` behind this one
    takes it back. A stage that is inlined may be a reader of a copy or be copied, before or behind.
    """

    name = "schedule.compute_inline"
    stage = operand_def(StageType)
    assembly_format = "$stage attr-dict"

    def __init__(self, stage: SSAValue):
        super().__init__(operands=[stage])


@irdl_op_definition
class CacheWriteOp(ScheduleOp):
    """Compute the stage into a buffer of that scope; the stage itself becomes the copy out of it.

    The result is the new stage, which does the computing. It has the axes of the old one, which keeps the spatial ones
    and what was asked of them; where these were split, fused or reordered before, the leaves are the dimensions of the
    cache, in their order, and the stage has fresh axes, which `schedule.stage` gives. The stage stays where it is
    computed.
    `%local, %i, %j, %k = schedule.cache_write %c "register" [i, j, k]`
    """

    name = "schedule.cache_write"
    stage = operand_def(StageType)
    scope = prop_def(StringAttr)
    axis_names = prop_def(ArrayAttr[StringAttr])
    handle = result_def(StageType)
    axes = var_result_def(AxisType)

    def __init__(self, stage: SSAValue, scope: str, axis_names: Sequence[str]):
        super().__init__(
            operands=[stage],
            properties={"scope": StringAttr(scope), "axis_names": names_attr(axis_names)},
            result_types=[STAGE, [AXIS] * len(axis_names)],
        )
        hint_stage(self.handle, "cache", self.axes, axis_names)

    def verify_(self) -> None:
        verify_names(self.axis_names, self.axes)
        verify_scope(self.scope.data, self)

    @classmethod
    def parse(cls, parser: Parser) -> CacheWriteOp:
        stage = parse_handle(parser, STAGE)
        return CacheWriteOp(stage, parser.parse_str_literal(), parse_names(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.stage)
        printer.print_string(" ")
        printer.print_string_literal(self.scope.data)
        print_names(printer, self.axis_names)


@irdl_op_definition
class CacheReadOp(ScheduleOp):
    """A new stage that copies a stage's tensor, or an argument, into a buffer of that scope; the readers read the copy.

    `%xl, %i, %j = schedule.cache_read %x "local" readers(%y, %z) [i, j]`
    """

    name = "schedule.cache_read"
    source = operand_def(StageType)
    readers = var_operand_def(StageType)
    scope = prop_def(StringAttr)
    axis_names = prop_def(ArrayAttr[StringAttr])
    handle = result_def(StageType)
    axes = var_result_def(AxisType)

    def __init__(self, source: SSAValue, scope: str, readers: Sequence[SSAValue], axis_names: Sequence[str]):
        super().__init__(
            operands=[source, readers],
            properties={"scope": StringAttr(scope), "axis_names": names_attr(axis_names)},
            result_types=[STAGE, [AXIS] * len(axis_names)],
        )
        hint_stage(self.handle, "cache", self.axes, axis_names)

    def verify_(self) -> None:
        verify_names(self.axis_names, self.axes)
        verify_scope(self.scope.data, self)
        if not self.readers:
            raise VerifyException("cache_read takes at least one reader")

    @classmethod
    def parse(cls, parser: Parser) -> CacheReadOp:
        source = parse_handle(parser, STAGE)
        scope = parser.parse_str_literal()
        parser.parse_keyword("readers")
        return CacheReadOp(source, scope, parse_stages(parser), parse_names(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(" ")
        printer.print_string_literal(self.scope.data)
        print_stages(printer, "readers", self.readers)
        print_names(printer, self.axis_names)


@irdl_op_definition
class ReindexOp(ScheduleOp):
    """A new stage that copies what a stage reads of a tensor, with a dimension for each axis that says which element.

    The reader reads the copy at its own axes then, in the order in which they are named: of a convolution's image, the
    copy has a dimension for each position and each tap, so that the convolution is a product of matrices.
    `%a, %rc, %ry, %y = schedule.reindex %image "shared" reader(%conv) [rc, ry, y]`
    """

    name = "schedule.reindex"
    source = operand_def(StageType)
    reader = operand_def(StageType)
    scope = prop_def(StringAttr)
    axis_names = prop_def(ArrayAttr[StringAttr])
    handle = result_def(StageType)
    axes = var_result_def(AxisType)

    def __init__(self, source: SSAValue, scope: str, reader: SSAValue, axis_names: Sequence[str]):
        super().__init__(
            operands=[source, reader],
            properties={"scope": StringAttr(scope), "axis_names": names_attr(axis_names)},
            result_types=[STAGE, [AXIS] * len(axis_names)],
        )
        hint_stage(self.handle, "copy", self.axes, axis_names)

    def verify_(self) -> None:
        verify_names(self.axis_names, self.axes)
        verify_scope(self.scope.data, self)

    @classmethod
    def parse(cls, parser: Parser) -> ReindexOp:
        source = parse_handle(parser, STAGE)
        scope = parser.parse_str_literal()
        parser.parse_keyword("reader")
        with parser.in_parens():
            reader = parse_handle(parser, STAGE)
        return ReindexOp(source, scope, reader, parse_names(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(" ")
        printer.print_string_literal(self.scope.data)
        print_stages(printer, "reader", [self.reader])
        print_names(printer, self.axis_names)


@irdl_op_definition
class RFactorOp(ScheduleOp):
    """Make a reduce axis a dimension of a new stage, which reduces over the others; the stage reduces over that one.

    The new dimension stands at position `factor_axis`, counted from the end where negative. The stage keeps its spatial
    axes, what was asked of them, and the place where it is computed. Results are the new stage,
    its axes (spatial with the new one, then the reduce axes left), and the reduce axis of the old stage.
    `%rf, %i, %ki, %ko, %k = schedule.rfactor %c, %k_i at 1 [i, k.inner, k.outer]`
    """

    name = "schedule.rfactor"
    stage = operand_def(StageType)
    axis = operand_def(AxisType)
    factor_axis = prop_def(IntegerAttr)
    axis_names = prop_def(ArrayAttr[StringAttr])
    handle = result_def(StageType)
    axes = var_result_def(AxisType)
    rest = result_def(AxisType)

    def __init__(self, stage: SSAValue, axis: SSAValue, factor_axis: int, axis_names: Sequence[str]):
        super().__init__(
            operands=[stage, axis],
            properties={"factor_axis": IntegerAttr(factor_axis, i64), "axis_names": names_attr(axis_names)},
            result_types=[STAGE, [AXIS] * len(axis_names), AXIS],
        )
        hint_stage(self.handle, "rf", self.axes, axis_names)
        hint(self.rest, "rest")

    def verify_(self) -> None:
        verify_names(self.axis_names, self.axes)

    @classmethod
    def parse(cls, parser: Parser) -> RFactorOp:
        stage = parse_handle(parser, STAGE)
        parser.parse_punctuation(",")
        axis = parse_handle(parser, AXIS)
        parser.parse_keyword("at")
        return RFactorOp(stage, axis, parser.parse_integer(), parse_names(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list([self.stage, self.axis], printer.print_ssa_value)
        printer.print_string(f" at {self.factor_axis.value.data}")
        print_names(printer, self.axis_names)


@irdl_op_definition
class PadToMultipleOp(ScheduleOp):
    """Lengthen an axis to a multiple of `factor`: a spatial one by zeros that nobody reads, a reduce one by identities.

    `schedule.pad_to_multiple %k factor 8`
    """

    name = "schedule.pad_to_multiple"
    axis = operand_def(AxisType)
    factor = prop_def(NumberAttr)

    def __init__(self, axis: SSAValue, factor: Number):
        super().__init__(operands=[axis], properties={"factor": to_number(factor)})

    def verify_(self) -> None:
        if number_of(self.factor) < 1:
            raise VerifyException(f"pad_to_multiple of {number_of(self.factor)}: must be at least 1")

    @classmethod
    def parse(cls, parser: Parser) -> PadToMultipleOp:
        axis = parse_handle(parser, AXIS)
        parser.parse_keyword("factor")
        return PadToMultipleOp(axis, parse_number(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.axis)
        printer.print_string(f" factor {number_text(self.factor)}")
