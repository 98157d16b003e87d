"""Scans: tensors whose elements at one time are computed from those at earlier times."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr, TensorType
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, var
from tilework.algebra.parse import parse_expr
from tilework.dialects.support.index_attr import ParserTokens, TeIndexAttr
from tilework.dialects.support.names import identifier
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type
from tilework.dialects.te.scalars import ReadOp, enclosing_compute
from tilework.dialects.te.structure import ComputeOp, KernelOp


@irdl_op_definition
class StateOp(IRDLOperation):
    """What is known of a scan's result while it runs, its elements at earlier times: `te.state : tensor<9x4xf32>`."""

    name = "te.state"
    result = result_def(TensorType)
    assembly_format = "attr-dict `:` type($result)"
    traits = traits_def(HasParent(KernelOp))

    def __init__(self, type_: Attribute):
        super().__init__(result_types=[type_])

    def verify_(self) -> None:
        scans = {use.operation for use in self.result.uses if isinstance(use.operation, ScanOp)}
        if len(scans) != 1:
            raise VerifyException(f"a state belongs to one scan, not to {len(scans)}")


@irdl_op_definition
class ScanOp(IRDLOperation):
    """Tensors whose first axis is time: up to `min` they are the inits, from then on what the updates compute.

        %s = te.state : tensor<9x4xf32>
        %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> { ... te.read %s[t - 1, i] ... }
        %sums = te.scan "sums" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>

    What depends on a state is computed step by step: its first axis is time, it reads states at earlier times and the
    rest of its step at the same time. `outputs(%y)` are computed in each step too; as results they start at `min`.

    Axes that all these tensors have behind time may be named, `[t: 1 to 9, b: 4]`: they are independent of each other,
    everything being read at its own `b`. A schedule may run them in parallel around time.
    """

    name = "te.scan"
    stage = prop_def(StringAttr)
    axis = prop_def(StringAttr)
    bounds = prop_def(TeIndexAttr)
    independent = prop_def(ArrayAttr[StringAttr], default_value=ArrayAttr[StringAttr]([]))
    inits = var_operand_def(TensorType)
    updates = var_operand_def(TensorType)
    states = var_operand_def(TensorType)
    outputs = var_operand_def(TensorType)
    tensors = var_result_def(TensorType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(HasParent(KernelOp))

    def __init__(
        self,
        stage: str,
        axis: str,
        bounds: tuple[ExprLike, ExprLike],
        inits: Sequence[SSAValue],
        updates: Sequence[SSAValue],
        states: Sequence[SSAValue],
        outputs: Sequence[SSAValue] = (),
        independent: Sequence[str] = (),
    ):
        attribute = TeIndexAttr.of(bounds)
        first, last = attribute.data
        made = [tensor_type([last - first, *dims_of(o.type)[1:]], element_type(o.type)) for o in outputs]
        super().__init__(
            properties={
                "stage": StringAttr(stage),
                "axis": StringAttr(axis),
                "bounds": attribute,
                "independent": ArrayAttr(map(StringAttr, independent)),
            },
            operands=[inits, updates, states, outputs],
            result_types=[[*(s.type for s in states), *made]],
        )
        for tensor in self.results:
            tensor.name_hint = identifier(stage)

    @property
    def first(self) -> Expr:
        """The first time that is computed."""
        return self.bounds.data[0]

    @property
    def last(self) -> Expr:
        """One past the last time."""
        return self.bounds.data[1]

    @property
    def histories(self) -> Sequence[OpResult]:
        """The results that are states, of all times."""
        return self.results[: len(self.states)]

    @property
    def steps(self) -> list[ComputeOp]:
        """What one step computes, in order."""
        kernel = self.parent_op()
        assert isinstance(kernel, KernelOp)
        known: set[SSAValue] = set(self.states)
        wanted = {value.owner for value in (*self.updates, *self.outputs)}
        found: list[ComputeOp] = []
        for compute in kernel.computes:
            if compute in wanted or any(read.tensor in known for read in compute.reads):
                found.append(compute)
                known.update(compute.results)
        return found

    # -- as a stage: its axes are time and those independent of it, it reads nothing itself

    @property
    def result(self) -> OpResult:
        """The first result."""
        return self.results[0]

    @property
    def spatial(self) -> list[tuple[str, Expr]]:
        """Time, from 0 at `first`, and the axes independent of it."""
        return [(self.axis.data, self.last - self.first), *self.around]

    @property
    def around(self) -> list[tuple[str, Expr]]:
        """Names and extents of the axes that are independent of time."""
        return [(n.data, e) for n, e in zip(self.independent, dims_of(self.result.type)[1:], strict=False)]

    @property
    def reduction(self) -> list[tuple[str, Expr]]:
        """The reduce axes, of which there are none."""
        return []

    @property
    def reads(self) -> list[ReadOp]:
        """The reads of the body, of which there are none."""
        return []

    # -- checks

    def verify_(self) -> None:
        name = self.stage.data
        if len(self.bounds) != 2:
            raise VerifyException(f"scan '{name}' has {len(self.bounds)} bounds of time, not 2")
        if not len(self.inits) == len(self.updates) == len(self.states) > 0:
            counts = f"{len(self.inits)} inits, {len(self.updates)} updates and {len(self.states)} states"
            raise VerifyException(f"scan '{name}' has {counts}: as many of each, and at least one")
        if len(self.around) < len(self.independent) or len({n for n, _ in self.spatial}) <= len(self.independent):
            raise VerifyException(f"scan '{name}' names more axes than its states have, or one twice")
        for init, update, state, history in zip(self.inits, self.updates, self.states, self.histories, strict=True):
            self._verify_types(init, update, state, history)
        made = [*self.updates, *self.outputs]
        if len(set(made)) < len(made) or any(not isinstance(v.owner, ComputeOp) for v in made):
            raise VerifyException(f"updates and outputs of scan '{name}' are results of computes, each once")
        for output, result in zip(self.outputs, self.results[len(self.states) :], strict=True):
            expected = tensor_type([self.last - self.first, *dims_of(output.type)[1:]], element_type(output.type))
            if result.type != expected:
                raise VerifyException(f"what the steps of scan '{name}' put out is {expected}, not {result.type}")
        steps = self.steps
        for compute in steps:
            self._verify_step(compute, steps)

    def _verify_types(self, init: SSAValue, update: SSAValue, state: SSAValue, history: SSAValue) -> None:
        name, (begin, *rest) = f"scan '{self.stage.data}'", dims_of(init.type) or (None,)
        if not isinstance(state.owner, StateOp):
            raise VerifyException(f"a state of {name} is made by te.state")
        if begin != self.first:
            raise VerifyException(f"an init of {name} has {begin} elements along time, which starts at {self.first}")
        expected = tensor_type([self.last, *rest], element_type(init.type))
        for what, value in (("a state", state), ("an update", update), ("a result", history)):
            if value.type != expected:
                raise VerifyException(f"{what} of {name} is {value.type}, expected {expected} by its init and times")

    def _verify_step(self, compute: ComputeOp, steps: Sequence[ComputeOp]) -> None:
        name, who = f"scan '{self.stage.data}'", f"compute '{compute.stage.data}'"
        if not compute.spatial or compute.spatial[0][1] != self.last:
            raise VerifyException(
                f"{who} is part of the steps of {name}: its first axis is time, of extent {self.last}"
            )
        own = compute.spatial[1 : 1 + len(self.around)]
        if [e for _, e in own] != [e for _, e in self.around]:
            listed = ", ".join(f"{n}: {e}" for n, e in self.around)
            raise VerifyException(f"{who} is part of the steps of {name}: behind time its axes are [{listed}]")
        time = var(compute.spatial[0][0])
        for read in compute.reads:
            at = read.exprs[0] - time if read.exprs else None
            if read.tensor in self.states and not self._is_earlier(at):
                raise VerifyException(
                    f"{who} reads a state of {name} at {read.exprs[0]}: only times from {time - self.first} to "
                    f"{time - 1} are known"
                )
            if read.tensor.owner in steps and at != 0:
                raise VerifyException(f"{who} reads '{_stage(read)}' at {read.exprs[0]}: in a step of {name} at {time}")
            if read.tensor in self.states or read.tensor.owner in steps:
                self._verify_own(read, who, own)
        for use in (use for result in compute.results for use in result.uses):
            user = enclosing_compute(use.operation)
            if use.operation is not self and user not in steps:
                raise VerifyException(f"{who} is known step by step only: outside of {name} read its results")

    def _verify_own(self, read: ReadOp, who: str, own: Sequence[tuple[str, Expr]]) -> None:
        for (axis, _), (mine, _), index in zip(self.around, own, read.exprs[1:], strict=False):
            if index.as_var != mine:
                raise VerifyException(
                    f"{who} reads at {index} along axis '{axis}', of which scan '{self.stage.data}' says that it is "
                    f"independent of time: it must be {mine}"
                )

    def _is_earlier(self, at: Expr | None) -> bool:
        if at is None or at.constant is None or at.constant > -1:
            return False
        return self.first.constant is None or at.constant >= -self.first.constant

    # -- text

    @classmethod
    def parse(cls, parser: Parser) -> ScanOp:
        start = parser.pos
        stage = parser.parse_str_literal()
        parser.parse_punctuation("[")
        axis = parser.parse_identifier()
        parser.parse_punctuation(":")
        tokens = ParserTokens(parser)
        first = parse_expr(tokens)
        parser.parse_keyword("to")
        last = parse_expr(tokens)
        around: list[tuple[str, Expr]] = []
        while parser.parse_optional_punctuation(","):
            name = parser.parse_identifier()
            parser.parse_punctuation(":")
            around.append((name, parse_expr(tokens)))
        parser.parse_punctuation("]")
        groups = {word: _parse_group(parser, word) for word in ("init", "update", "state", "outputs")}
        parser.parse_punctuation(":")
        init_types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        parser.parse_punctuation("->")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        made = types[len(groups["state"]) :]
        states = types[: len(groups["state"])]
        outputs = [tensor_type([last, *dims_of(t)[1:]], element_type(t)) for t in made]
        resolved = [
            parser.resolve_operands(groups[word], given, parser.pos)
            for word, given in (("init", init_types), ("update", states), ("state", states), ("outputs", outputs))
        ]
        names = [n for n, _ in around]
        scan = ScanOp(stage, axis, (first, last), resolved[0], resolved[1], resolved[2], resolved[3], names)
        if scan.around != around:
            message = "the extents of axes that are independent of time are not those of the states"
            parser.raise_error(message, start, start + 1)
        return scan

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        around = "".join(f", {n}: {e}" for n, e in self.around)
        printer.print_string(f" [{self.axis.data}: {self.first} to {self.last}{around}]")
        for word, values in (("init", self.inits), ("update", self.updates), ("state", self.states)):
            _print_group(printer, word, values)
        if self.outputs:
            _print_group(printer, "outputs", self.outputs)
        printer.print_string(" : ")
        printer.print_list(self.inits.types, printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_list(self.result_types, printer.print_attribute)


def scans_of(kernel: KernelOp) -> list[ScanOp]:
    """The scans of a kernel in program order."""
    return [op for op in kernel.body.block.ops if isinstance(op, ScanOp)]


def _parse_group(parser: Parser, word: str) -> Sequence[UnresolvedOperand]:
    if not parser.parse_optional_keyword(word):
        return ()
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)


def _print_group(printer: Printer, word: str, values: Sequence[SSAValue]) -> None:
    printer.print_string(f" {word}(")
    printer.print_list(values, printer.print_ssa_value)
    printer.print_string(")")


def _stage(read: ReadOp) -> str:
    owner = read.tensor.owner
    return owner.stage.data if isinstance(owner, ComputeOp) else ""
