"""Primitives that say how the iterations of one axis run."""

from __future__ import annotations

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.loop import THREADS
from tilework.dialects.schedule.common import AXIS, AxisType, ScheduleOp, parse_handle
from tilework.dialects.schedule.knob import (
    Number,
    NumberAttr,
    number_of,
    number_text,
    parse_number,
    parse_optional_number,
    to_number,
)


class _AnnotateOp(ScheduleOp):
    """Sets the kind of one leaf axis."""

    axis = operand_def(AxisType)
    assembly_format = "$axis attr-dict"

    def __init__(self, axis: SSAValue):
        super().__init__(operands=[axis])


@irdl_op_definition
class VectorizeOp(_AnnotateOp):
    """The axis becomes vector lanes; of a choice between a load and a constant, `masked` ones.

    `schedule.vectorize %i masked`: where some lanes load and others do not, as they do for padding, one vector is
    loaded under a mask. Else the loop is cut where the lanes begin to differ.
    """

    name = "schedule.vectorize"
    masked = opt_prop_def(UnitAttr)
    assembly_format = "$axis (`masked` $masked^)? attr-dict"

    def __init__(self, axis: SSAValue, masked: bool = False):
        super().__init__(axis)
        if masked:
            self.masked = UnitAttr()


@irdl_op_definition
class ParallelOp(_AnnotateOp):
    """The iterations run on several threads."""

    name = "schedule.parallel"


@irdl_op_definition
class UnrollOp(_AnnotateOp):
    """The iterations become straight-line code."""

    name = "schedule.unroll"


def verify_thread(tag: str) -> None:
    """Raise VerifyException for a thread axis that does not exist."""
    if tag not in THREADS:
        raise VerifyException(f"unknown thread axis '{tag}'; known: {', '.join(THREADS)}")


@irdl_op_definition
class BindOp(ScheduleOp):
    """Each iteration is a thread of that axis of the device, or a virtual one.

    `schedule.bind %i "threadIdx.x"`, or `schedule.bind %i "threadIdx.x" 32` where the axis must have 32 iterations.
    """

    name = "schedule.bind"
    axis = operand_def(AxisType)
    thread = prop_def(StringAttr)
    extent = opt_prop_def(NumberAttr)

    def __init__(self, axis: SSAValue, thread: str, extent: Number | None = None):
        threads = None if extent is None else to_number(extent)
        super().__init__(operands=[axis], properties={"thread": StringAttr(thread), "extent": threads})

    def verify_(self) -> None:
        verify_thread(self.thread.data)
        if self.extent is not None and number_of(self.extent) < 1:
            raise VerifyException(f"{number_of(self.extent)} threads: must be at least 1")

    @classmethod
    def parse(cls, parser: Parser) -> BindOp:
        axis, thread = parse_handle(parser, AXIS), parser.parse_str_literal()
        return BindOp(axis, thread, parse_optional_number(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.axis)
        printer.print_string(f' "{self.thread.data}"')
        if self.extent is not None:
            printer.print_string(f" {number_text(self.extent)}")


PRAGMAS = ("auto_unroll_max_step", "loop_partition_hint", "parallel_least_work")
"""The keys of `schedule.pragma`.

`auto_unroll_max_step`: unroll the loops inside the axis whose iterations, times those around them up to the axis, are
at most that many.
`loop_partition_hint`: where conditions inside change their truth, 0 leaves the axis whole, so that loops inside are cut
instead, whatever its tail; more cuts it, as `tail partition` does.
`parallel_least_work`: run the axis, if it is parallel, on one thread where the stages computed in its loop have fewer
points in all, reduce axes counted too, whatever part of them one run of the loop is.
"""


@irdl_op_definition
class PragmaOp(ScheduleOp):
    """A request about the loop of one leaf axis. `schedule.pragma %i "auto_unroll_max_step" 16`"""

    name = "schedule.pragma"
    axis = operand_def(AxisType)
    key = prop_def(StringAttr)
    value = prop_def(NumberAttr)

    def __init__(self, axis: SSAValue, key: str, value: Number):
        super().__init__(
            operands=[axis],
            properties={"key": StringAttr(key), "value": to_number(value)},
        )

    def verify_(self) -> None:
        key = self.key.data
        if key not in PRAGMAS:
            raise VerifyException(f"unknown pragma '{key}'; known: {', '.join(PRAGMAS)}")
        if number_of(self.value) < 0:
            raise VerifyException(f"pragma '{key}' takes a number of at least 0")

    @classmethod
    def parse(cls, parser: Parser) -> PragmaOp:
        axis = parse_handle(parser, AXIS)
        return PragmaOp(axis, parser.parse_str_literal(), parse_number(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.axis)
        printer.print_string(" ")
        printer.print_string_literal(self.key.data)
        printer.print_string(f" {number_text(self.value)}")


@irdl_op_definition
class TensorizeOp(ScheduleOp):
    """Everything from that axis inwards is one intrinsic, which does the same: its declaration says what that is.

    Of a reduction, the nest that sets elements to the identity becomes the intrinsic that the declaration names for it.

    `schedule.tensorize %i @dot8`
    """

    name = "schedule.tensorize"
    axis = operand_def(AxisType)
    callee = prop_def(FlatSymbolRefAttrConstr)
    assembly_format = "$axis $callee attr-dict"

    def __init__(self, axis: SSAValue, intrinsic: str):
        super().__init__(operands=[axis], properties={"callee": SymbolRefAttr(intrinsic)})

    @property
    def intrinsic(self) -> str:
        """The name of the intrinsic."""
        return self.callee.root_reference.data
