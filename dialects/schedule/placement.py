"""Primitives that say where in the nests a stage is computed."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.schedule.annotations import verify_thread
from tilework.dialects.schedule.common import (
    AXIS,
    STAGE,
    AxisType,
    ScheduleOp,
    StageType,
    hint,
    parse_handle,
    parse_stages,
    print_stages,
)
from tilework.dialects.schedule.knob import Number, NumberAttr, number_of, number_text, parse_number, to_number


@irdl_op_definition
class ComputeAtOp(ScheduleOp):
    """Compute the stage, or the group, inside that axis of its consumer, just the part that one iteration needs.

    `schedule.compute_at %dense, %jo`
    """

    name = "schedule.compute_at"
    stage = operand_def(StageType)
    axis = operand_def(AxisType)
    assembly_format = "$stage `,` $axis attr-dict"

    def __init__(self, stage: SSAValue, axis: SSAValue):
        super().__init__(operands=[stage, axis])


@irdl_op_definition
class ComputeRootOp(ScheduleOp):
    """Compute the stage, or the group, in nests of their own, before all consumers: takes back a compute_at."""

    name = "schedule.compute_root"
    stage = operand_def(StageType)
    assembly_format = "$stage attr-dict"

    def __init__(self, stage: SSAValue):
        super().__init__(operands=[stage])


@irdl_op_definition
class ReverseComputeAtOp(ScheduleOp):
    """Compute an element-wise consumer inside that axis of its producer, as soon as one iteration has made its part.

    `schedule.reverse_compute_at %relu, %jo`
    """

    name = "schedule.reverse_compute_at"
    stage = operand_def(StageType)
    axis = operand_def(AxisType)
    assembly_format = "$stage `,` $axis attr-dict"

    def __init__(self, stage: SSAValue, axis: SSAValue):
        super().__init__(operands=[stage, axis])


@irdl_op_definition
class DecomposeReductionOp(ScheduleOp):
    """Set the stage's elements to the reducer's identity in a nest of their own, right before that axis of the stage.

    `schedule.decompose_reduction %dense, %i`
    """

    name = "schedule.decompose_reduction"
    stage = operand_def(StageType)
    axis = operand_def(AxisType)
    assembly_format = "$stage `,` $axis attr-dict"

    def __init__(self, stage: SSAValue, axis: SSAValue):
        super().__init__(operands=[stage, axis])


@irdl_op_definition
class CreateGroupOp(ScheduleOp):
    """The stages that the outputs need, down to the inputs, these with `include_inputs` only: one thing to place.

    `%g = schedule.create_group outputs(%c) inputs(%a) include_inputs`
    """

    name = "schedule.create_group"
    outputs = var_operand_def(StageType)
    inputs = var_operand_def(StageType)
    include_inputs = opt_prop_def(UnitAttr)
    group = result_def(StageType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(self, outputs: Sequence[SSAValue], inputs: Sequence[SSAValue], include_inputs: bool = False):
        super().__init__(
            operands=[outputs, inputs],
            properties={"include_inputs": UnitAttr() if include_inputs else None},
            result_types=[STAGE],
        )
        hint(self.group, "group")

    def verify_(self) -> None:
        if not self.outputs:
            raise VerifyException("a group has at least one output")

    @classmethod
    def parse(cls, parser: Parser) -> CreateGroupOp:
        parser.parse_keyword("outputs")
        outputs = parse_stages(parser)
        parser.parse_keyword("inputs")
        inputs = parse_stages(parser)
        return CreateGroupOp(outputs, inputs, parser.parse_optional_keyword("include_inputs") is not None)

    def print(self, printer: Printer) -> None:
        print_stages(printer, "outputs", self.outputs)
        print_stages(printer, "inputs", self.inputs)
        if self.include_inputs is not None:
            printer.print_string(" include_inputs")


@irdl_op_definition
class SetStorePredicateOp(ScheduleOp):
    """Let only one store the result, of the threads that share a reduction over an axis bound to them.

    `schedule.set_store_predicate %sum, %k_i == 0`
    """

    name = "schedule.set_store_predicate"
    stage = operand_def(StageType)
    axis = operand_def(AxisType)
    thread = prop_def(IntegerAttr)

    def __init__(self, stage: SSAValue, axis: SSAValue, thread: int):
        super().__init__(operands=[stage, axis], properties={"thread": IntegerAttr(thread, i64)})

    def verify_(self) -> None:
        if self.thread.value.data < 0:
            raise VerifyException(f"threads are counted from 0, got {self.thread.value.data}")

    @classmethod
    def parse(cls, parser: Parser) -> SetStorePredicateOp:
        stage = parse_handle(parser, STAGE)
        parser.parse_punctuation(",")
        axis = parse_handle(parser, AXIS)
        parser.parse_punctuation("=")
        parser.parse_punctuation("=")
        return SetStorePredicateOp(stage, axis, parser.parse_integer())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(f" == {self.thread.value.data}")


@irdl_op_definition
class EnvThreadsOp(ScheduleOp):
    """Launch so many threads around a scan, once for all its steps; axes of the steps are bound to them.

    `schedule.env_threads %scan "threadIdx.x" 32`
    """

    name = "schedule.env_threads"
    stage = operand_def(StageType)
    thread = prop_def(StringAttr)
    extent = prop_def(NumberAttr)

    def __init__(self, stage: SSAValue, thread: str, extent: Number):
        super().__init__(operands=[stage], properties={"thread": StringAttr(thread), "extent": to_number(extent)})

    def verify_(self) -> None:
        verify_thread(self.thread.data)
        if number_of(self.extent) < 1:
            raise VerifyException(f"{number_of(self.extent)} threads: must be at least 1")

    @classmethod
    def parse(cls, parser: Parser) -> EnvThreadsOp:
        return EnvThreadsOp(parse_handle(parser, STAGE), parser.parse_str_literal(), parse_number(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.stage)
        printer.print_string(f' "{self.thread.data}" {number_text(self.extent)}')
