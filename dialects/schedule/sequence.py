"""The sequence, and handles to what the kernel has: stages and arguments."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, FlatSymbolRefAttrConstr, IntegerAttr, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.schedule.axes import FuseOp, SplitOp
from tilework.dialects.schedule.common import (
    AXIS,
    STAGE,
    AxisType,
    ScheduleOp,
    StageType,
    hint,
    hint_stage,
    names_attr,
    parse_names,
    print_names,
    verify_names,
)
from tilework.dialects.schedule.dataflow import RFactorOp
from tilework.dialects.schedule.knob import KnobAttr
from tilework.dialects.schedule.storage import StorageAlignOp


@irdl_op_definition
class SequenceOp(IRDLOperation):
    """The schedule of one kernel."""

    name = "schedule.sequence"
    kernel = prop_def(FlatSymbolRefAttrConstr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def __init__(self, kernel: str, body: Region):
        super().__init__(properties={"kernel": SymbolRefAttr(kernel)}, regions=[body])

    @property
    def kernel_name(self) -> str:
        """The name of the kernel that this schedules."""
        return self.kernel.root_reference.data

    def verify_(self) -> None:
        self._verify_axes()
        self._verify_knobs()

    def _verify_axes(self) -> None:
        """Only an axis that is still a leaf is used, but for storage_align, which is about dimensions."""
        consumed: dict[SSAValue, Operation] = {}
        for op in self.body.block.ops:
            for operand in op.operands:
                if operand.type == AXIS and operand in consumed and not isinstance(op, StorageAlignOp):
                    name = operand.name_hint or "it"
                    raise VerifyException(
                        f"{op.name} uses axis '{name}', which {consumed[operand].name} has consumed; "
                        "use one of the axes that it made"
                    )
            if isinstance(op, SplitOp | FuseOp):
                consumed.update(dict.fromkeys(op.operands, op))
            elif isinstance(op, RFactorOp):
                consumed[op.axis] = op

    def _verify_knobs(self) -> None:
        """A knob that stands in several places is the same in all of them."""
        seen: dict[str, KnobAttr] = {}
        for op in self.body.block.ops:
            for attribute in op.properties.values():
                if isinstance(attribute, KnobAttr) and seen.setdefault(attribute.knob.data, attribute) != attribute:
                    raise VerifyException(
                        f"{op.name} has {attribute}, but knob '{attribute.knob.data}' was "
                        f"{seen[attribute.knob.data]} before"
                    )

    @classmethod
    def parse(cls, parser: Parser) -> SequenceOp:
        name, body = parser.parse_symbol_name().data, parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        return SequenceOp(name, body)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.kernel_name)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


@irdl_op_definition
class StageOp(ScheduleOp):
    """The stage of that name and its axes: the spatial ones, then the reduce axes.

    `%conv, %n, %k, %y, %x, %c, %r, %s = schedule.stage "conv" [n, k, y, x, c, r, s]`
    """

    name = "schedule.stage"
    stage = prop_def(StringAttr)
    axis_names = prop_def(ArrayAttr[StringAttr])
    handle = result_def(StageType)
    axes = var_result_def(AxisType)

    def __init__(self, stage: str, axis_names: Sequence[str]):
        super().__init__(
            properties={"stage": StringAttr(stage), "axis_names": names_attr(axis_names)},
            result_types=[STAGE, [AXIS] * len(axis_names)],
        )
        hint_stage(self.handle, stage, self.axes, axis_names)

    def verify_(self) -> None:
        verify_names(self.axis_names, self.axes)

    @classmethod
    def parse(cls, parser: Parser) -> StageOp:
        return StageOp(parser.parse_str_literal(), parse_names(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        print_names(printer, self.axis_names)


@irdl_op_definition
class ArgumentOp(ScheduleOp):
    """The kernel's argument of that number, counted from 0. `%x = schedule.argument 0`"""

    name = "schedule.argument"
    index = prop_def(IntegerAttr)
    handle = result_def(StageType)

    def __init__(self, index: int):
        super().__init__(properties={"index": IntegerAttr(index, i64)}, result_types=[STAGE])
        hint(self.handle, f"arg{index}")

    def verify_(self) -> None:
        if self.index.value.data < 0:
            raise VerifyException(f"arguments are counted from 0, got {self.index.value.data}")

    @classmethod
    def parse(cls, parser: Parser) -> ArgumentOp:
        return ArgumentOp(parser.parse_integer())

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.index.value.data}")
