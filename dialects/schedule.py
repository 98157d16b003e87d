"""The schedule dialect: how to run a te kernel, primitive by primitive.

    schedule.sequence @dense_relu {
      %relu, %i, %j = schedule.stage "relu" [i, j]
      %dense, %i_1, %j_1, %k = schedule.stage "dense" [i, j, k]
      %jo, %ji = schedule.split %j factor 16 tail partition
      schedule.compute_at %dense, %jo
      schedule.vectorize %ji
      schedule.parallel %i
    }

The SSA graph of axes is the axis-relation graph: split and fuse consume leaf axes and produce new ones. Operations
apply in order, none is pure. An axis name in brackets is a reminder that is checked against the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, FlatSymbolRefAttrConstr, IntegerAttr, StringAttr, SymbolRefAttr, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import (
    Block,
    Dialect,
    Operation,
    ParametrizedAttribute,
    Region,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import HasParent, NoTerminator
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


@irdl_attr_definition
class StageType(ParametrizedAttribute, TypeAttribute):
    """A handle to a compute of the kernel."""

    name = "schedule.stage"


@irdl_attr_definition
class AxisType(ParametrizedAttribute, TypeAttribute):
    """A handle to an axis of a stage."""

    name = "schedule.axis"


STAGE = StageType()
AXIS = AxisType()


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


@irdl_attr_definition
class TailAttr(EnumAttribute[Tail], SpacedOpaqueSyntaxAttribute):
    """`#schedule<tail guard>`"""

    name = "schedule.tail"


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
        consumed: dict[SSAValue, Operation] = {}
        for op in self.body.block.ops:
            for operand in op.operands:
                if operand.type == AXIS and operand in consumed:
                    hint = operand.name_hint or "it"
                    raise VerifyException(
                        f"{op.name} uses axis '{hint}', which {consumed[operand].name} has consumed; "
                        "use one of the axes that it made"
                    )
            if isinstance(op, SplitOp | FuseOp):
                for operand in op.operands:
                    consumed[operand] = op

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


class ScheduleOp(IRDLOperation):
    """Base of the primitives."""


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
    traits = traits_def(HasParent(SequenceOp))

    def __init__(self, stage: str, axis_names: Sequence[str]):
        super().__init__(
            properties={"stage": StringAttr(stage), "axis_names": ArrayAttr(map(StringAttr, axis_names))},
            result_types=[STAGE, [AXIS] * len(axis_names)],
        )
        _hint(self.handle, stage)
        for axis, name in zip(self.axes, axis_names, strict=True):
            _hint(axis, name)

    def verify_(self) -> None:
        if len(self.axis_names) != len(self.axes):
            raise VerifyException(f"{len(self.axes)} axes for {len(self.axis_names)} names")

    @classmethod
    def parse(cls, parser: Parser) -> StageOp:
        return StageOp(parser.parse_str_literal(), _parse_names(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        _print_names(printer, self.axis_names)


@irdl_op_definition
class CacheWriteOp(ScheduleOp):
    """Compute the stage into a buffer of that scope; the stage itself becomes the copy out of it.

    The result is the new stage, which does the computing, with the axes of the old one.
    `%local, %i, %j, %k = schedule.cache_write %c "register" [i, j, k]`
    """

    name = "schedule.cache_write"
    stage = operand_def(StageType)
    scope = prop_def(StringAttr)
    axis_names = prop_def(ArrayAttr[StringAttr])
    handle = result_def(StageType)
    axes = var_result_def(AxisType)
    traits = traits_def(HasParent(SequenceOp))

    def __init__(self, stage: SSAValue, scope: str, axis_names: Sequence[str]):
        super().__init__(
            operands=[stage],
            properties={"scope": StringAttr(scope), "axis_names": ArrayAttr(map(StringAttr, axis_names))},
            result_types=[STAGE, [AXIS] * len(axis_names)],
        )
        _hint(self.handle, "cache")
        for axis, name in zip(self.axes, axis_names, strict=True):
            _hint(axis, name)

    def verify_(self) -> None:
        if len(self.axis_names) != len(self.axes):
            raise VerifyException(f"{len(self.axes)} axes for {len(self.axis_names)} names")

    @classmethod
    def parse(cls, parser: Parser) -> CacheWriteOp:
        stage = _stage(parser)
        return CacheWriteOp(stage, parser.parse_str_literal(), _parse_names(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.stage)
        printer.print_string(" ")
        printer.print_string_literal(self.scope.data)
        _print_names(printer, self.axis_names)


@irdl_op_definition
class SplitOp(ScheduleOp):
    """One leaf axis becomes an outer and an inner one: of extent `factor`, or `nparts` outer iterations.

    `%xo, %xi = schedule.split %x factor 16 tail shift`
    """

    name = "schedule.split"
    axis = operand_def(AxisType)
    factor = opt_prop_def(IntegerAttr)
    nparts = opt_prop_def(IntegerAttr)
    tail = prop_def(TailAttr, default_value=TailAttr(Tail.GUARD))
    outer = result_def(AxisType)
    inner = result_def(AxisType)
    traits = traits_def(HasParent(SequenceOp))

    def __init__(self, axis: SSAValue, factor: int | None = None, nparts: int | None = None, tail: Tail = Tail.GUARD):
        super().__init__(
            operands=[axis],
            properties={
                "factor": None if factor is None else IntegerAttr(factor, i64),
                "nparts": None if nparts is None else IntegerAttr(nparts, i64),
                "tail": TailAttr(tail),
            },
            result_types=[AXIS, AXIS],
        )
        if axis.name_hint:
            _hint(self.outer, f"{axis.name_hint}_o")
            _hint(self.inner, f"{axis.name_hint}_i")

    def verify_(self) -> None:
        if (self.factor is None) == (self.nparts is None):
            raise VerifyException("split takes either a factor or nparts")
        number = self.nparts if self.factor is None else self.factor
        assert number is not None
        if number.value.data < 1:
            raise VerifyException(f"split by {number.value.data}: must be at least 1")

    @classmethod
    def parse(cls, parser: Parser) -> SplitOp:
        axis = _axis(parser)
        which = parser.parse_keyword_in(("factor", "nparts"))
        number = parser.parse_integer()
        tail = Tail.GUARD
        if parser.parse_optional_keyword("tail"):
            tail = Tail(parser.parse_keyword_in(tuple(Tail)))
        return SplitOp(axis, number if which == "factor" else None, number if which == "nparts" else None, tail)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.axis)
        if self.factor is not None:
            printer.print_string(f" factor {self.factor.value.data}")
        if self.nparts is not None:
            printer.print_string(f" nparts {self.nparts.value.data}")
        if self.tail.data is not Tail.GUARD:
            printer.print_string(f" tail {self.tail.data}")


@irdl_op_definition
class FuseOp(ScheduleOp):
    """Adjacent leaf axes become one, the first outermost. `%f = schedule.fuse %y, %x`"""

    name = "schedule.fuse"
    axes = var_operand_def(AxisType)
    fused = result_def(AxisType)
    traits = traits_def(HasParent(SequenceOp))

    def __init__(self, axes: Sequence[SSAValue]):
        super().__init__(operands=[axes], result_types=[AXIS])
        hints = [a.name_hint for a in axes]
        if all(hints):
            _hint(self.fused, "_".join(str(h) for h in hints))

    def verify_(self) -> None:
        if len(self.axes) < 2:
            raise VerifyException("fuse takes at least two axes")

    @classmethod
    def parse(cls, parser: Parser) -> FuseOp:
        return FuseOp(_axes(parser))

    def print(self, printer: Printer) -> None:
        _print_operands(printer, self.operands)


class _OperandsOnly(ScheduleOp):
    """A primitive whose text is its operands."""

    def print(self, printer: Printer) -> None:
        _print_operands(printer, self.operands)


@irdl_op_definition
class ReorderOp(_OperandsOnly, HasCanonicalizationPatternsInterface):
    """The given leaf axes of one stage, in this order from now on, in the places they hold together."""

    name = "schedule.reorder"
    axes = var_operand_def(AxisType)
    traits = traits_def(HasParent(SequenceOp))

    def __init__(self, axes: Sequence[SSAValue]):
        super().__init__(operands=[axes])

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilework.dialects.schedule_canonicalization import IdleReorder  # which imports this file

        return (IdleReorder(),)

    def verify_(self) -> None:
        if len(set(self.axes)) != len(self.axes):
            raise VerifyException("reorder names an axis twice")

    @classmethod
    def parse(cls, parser: Parser) -> ReorderOp:
        return ReorderOp(_axes(parser))


@irdl_op_definition
class ComputeAtOp(_OperandsOnly):
    """Compute the stage inside that axis of its consumer, just the part that one iteration needs.

    `schedule.compute_at %dense, %jo`
    """

    name = "schedule.compute_at"
    stage = operand_def(StageType)
    axis = operand_def(AxisType)
    traits = traits_def(HasParent(SequenceOp))

    def __init__(self, stage: SSAValue, axis: SSAValue):
        super().__init__(operands=[stage, axis])

    @classmethod
    def parse(cls, parser: Parser) -> ComputeAtOp:
        stage = _stage(parser)
        parser.parse_punctuation(",")
        return ComputeAtOp(stage, _axis(parser))


@irdl_op_definition
class ComputeInlineOp(_OperandsOnly):
    """Put the stage's expression in place of every read of it."""

    name = "schedule.compute_inline"
    stage = operand_def(StageType)
    traits = traits_def(HasParent(SequenceOp))

    def __init__(self, stage: SSAValue):
        super().__init__(operands=[stage])

    @classmethod
    def parse(cls, parser: Parser) -> ComputeInlineOp:
        return ComputeInlineOp(_stage(parser))


@irdl_op_definition
class SetScopeOp(ScheduleOp):
    """Where the stage's buffer lives: `register`, `local` or `global`. `schedule.set_scope %dense "register"`"""

    name = "schedule.set_scope"
    stage = operand_def(StageType)
    scope = prop_def(StringAttr)
    traits = traits_def(HasParent(SequenceOp))

    def __init__(self, stage: SSAValue, scope: str):
        super().__init__(operands=[stage], properties={"scope": StringAttr(scope)})

    def verify_(self) -> None:
        if self.scope.data not in SCOPES:
            raise VerifyException(f"unknown scope '{self.scope.data}'; known: {', '.join(SCOPES)}")

    @classmethod
    def parse(cls, parser: Parser) -> SetScopeOp:
        return SetScopeOp(_stage(parser), parser.parse_str_literal())

    def print(self, printer: Printer) -> None:
        _print_operands(printer, self.operands)
        printer.print_string(" ")
        printer.print_string_literal(self.scope.data)


class _AnnotateOp(_OperandsOnly):
    """Sets the kind of one leaf axis."""

    axis = operand_def(AxisType)
    traits = traits_def(HasParent(SequenceOp))

    def __init__(self, axis: SSAValue):
        super().__init__(operands=[axis])

    @classmethod
    def parse(cls, parser: Parser):
        return cls(_axis(parser))


@irdl_op_definition
class VectorizeOp(_AnnotateOp):
    """The axis becomes vector lanes."""

    name = "schedule.vectorize"


@irdl_op_definition
class ParallelOp(_AnnotateOp):
    """The iterations run on several threads."""

    name = "schedule.parallel"


@irdl_op_definition
class UnrollOp(_AnnotateOp):
    """The iterations become straight-line code."""

    name = "schedule.unroll"


SCOPES = ("global", "local", "register")
"""Memory scopes of a CPU, from far to near. `register` asks for constant subscripts once loops are unrolled."""


def _hint(value: SSAValue, name: str) -> None:
    value.name_hint = "".join(c if c.isalnum() or c == "_" else "_" for c in name)


def _axis(parser: Parser) -> SSAValue:
    return parser.resolve_operand(parser.parse_unresolved_operand(), AXIS)


def _stage(parser: Parser) -> SSAValue:
    return parser.resolve_operand(parser.parse_unresolved_operand(), STAGE)


def _axes(parser: Parser) -> list[SSAValue]:
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: _axis(parser))


def _print_operands(printer: Printer, operands: Sequence[SSAValue]) -> None:
    printer.print_string(" ")
    printer.print_list(operands, printer.print_ssa_value)


def _parse_names(parser: Parser) -> list[str]:
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier)


def _print_names(printer: Printer, names: ArrayAttr[StringAttr]) -> None:
    printer.print_string(f" [{', '.join(n.data for n in names)}]")


Schedule = Dialect(
    "schedule",
    [
        SequenceOp,
        StageOp,
        CacheWriteOp,
        SplitOp,
        FuseOp,
        ReorderOp,
        ComputeAtOp,
        ComputeInlineOp,
        SetScopeOp,
        VectorizeOp,
        ParallelOp,
        UnrollOp,
    ],
    [StageType, AxisType, TailAttr],
)
