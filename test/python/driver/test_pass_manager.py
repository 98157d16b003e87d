"""The pass manager: where passes run, what watches them, and what becomes of their errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.utils.exceptions import PassFailedException

from tilework.dialects.support.diagnostics import CompileError, TileworkError, UsageError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.instrumentation import CheckLegality, Instrumentation, VerifyEach
from tilework.driver.pass_manager import InternalError, PassManager, Pipeline
from tilework.driver.pass_timing import PassTiming
from tilework.driver.print_ir import PrintedIR, PrintIR
from tilework.transforms.base import TileworkPass

TEXT = """
func.func @first(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.muli %b, %a : i32
  func.return %c : i32
}
func.func @second(%a: i32) -> i32 {
  func.return %a : i32
}
"""


@dataclass(frozen=True)
class MarkFunction(TileworkPass):
    """Marks a function: `func.func @f -> func.func @f attributes {seen}`."""

    name = "mark-function"
    anchor: ClassVar[type[Operation]] = FuncOp
    mark: str = "seen"

    def run(self, ctx: Context, op: Operation) -> None:
        op.attributes[self.mark] = StringAttr("yes")


@dataclass(frozen=True)
class Fail(TileworkPass):
    """Throws `error`."""

    name = "fail"
    error: Exception = field(default_factory=Exception)

    def run(self, ctx: Context, op: Operation) -> None:
        raise self.error


@dataclass(frozen=True)
class DefineLate(TileworkPass):
    """Breaks dominance: moves an addition that starts a function to its end, before the terminator."""

    name = "define-late"

    def run(self, ctx: Context, op: Operation) -> None:
        for inner in op.walk():
            if isinstance(inner, FuncOp) and isinstance(first := inner.body.block.first_op, AddiOp):
                block = inner.body.block
                first.detach()
                block.insert_op_before(first, block.last_op)


@dataclass(frozen=True)
class LeavesNoAddition(TileworkPass):
    """Says that it leaves no addition, and does nothing."""

    name = "leaves-no-addition"

    @staticmethod
    def legal_after(op: Operation) -> str | None:
        return "additions were to become multiplications" if isinstance(op, AddiOp) else None

    def run(self, ctx: Context, op: Operation) -> None:
        pass


@dataclass
class Record(Instrumentation):
    """Notes every hook it is called on."""

    calls: list[str] = field(default_factory=list[str])

    def before_pipeline(self, anchor: str, op: Operation) -> None:
        self.calls.append(f"enter {anchor}")

    def after_pipeline(self, anchor: str, op: Operation) -> None:
        self.calls.append(f"leave {anchor}")

    def before_pass(self, pass_: ModulePass, op: Operation) -> None:
        self.calls.append(f"before {pass_.name} on {op.name}")

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        self.calls.append(f"after {pass_.name} on {op.name}")

    def pass_failed(self, pass_: ModulePass, op: Operation, error: Exception) -> None:
        self.calls.append(f"failed {pass_.name}: {error}")


def parsed() -> tuple[Context, ModuleOp]:
    context = make_context()
    return context, SourceParser(context, TEXT, "test.mlir").parse_module()


def run(*steps: ModulePass | Pipeline, watching: tuple[Instrumentation, ...] = ()) -> ModuleOp:
    context, module = parsed()
    PassManager(Pipeline("builtin.module", steps), watching).run(context, module)
    return module


def marks(module: ModuleOp) -> list[bool]:
    return ["seen" in op.attributes for op in module.ops]


def test_pass_on_a_module_runs_on_every_anchored_operation():
    assert marks(run(MarkFunction())) == [True, True]


def test_nested_pipeline_runs_on_direct_children():
    record = Record()
    module = run(Pipeline("func.func", (MarkFunction(), CommonSubexpressionElimination())), watching=(record,))
    assert marks(module) == [True, True]
    once = ["enter func.func"]
    once += [f"{when} {name} on func.func" for name in ("mark-function", "cse") for when in ("before", "after")]
    once += ["leave func.func"]
    assert record.calls == ["enter builtin.module", *once, *once, "leave builtin.module"]


def test_nested_pipeline_over_operations_that_are_not_there_does_nothing():
    record = Record()
    run(Pipeline("scf.for", (CommonSubexpressionElimination(),)), watching=(record,))
    assert record.calls == ["enter builtin.module", "leave builtin.module"]


def test_pass_that_cannot_run_there_is_refused_when_the_manager_is_made():
    with pytest.raises(UsageError, match="'fail' is anchored on 'builtin.module' and cannot run on 'func.func'"):
        PassManager(Pipeline("builtin.module", (Pipeline("func.func", (Fail(),)),)))


@pytest.mark.parametrize("thrown", [PassFailedException("no"), TileworkError("no")])
def test_errors_of_the_user_get_the_operation_and_the_pass(thrown: Exception):
    with pytest.raises(CompileError) as caught:
        run(MarkFunction(mark="other"), Fail(error=thrown))
    assert caught.value.message == "no"
    assert isinstance(caught.value.op, ModuleOp)
    assert caught.value.notes[-1][0].startswith("while running pass 'fail{error=")


def test_compile_error_keeps_its_class_operation_and_notes():
    class ScheduleError(CompileError):
        pass

    op = FuncOp("f", ((), ()))
    with pytest.raises(ScheduleError) as caught:
        run(Fail(error=ScheduleError("no", op, (("because", op),))))
    assert caught.value.op is op
    assert caught.value.notes[0] == ("because", op)
    assert len(caught.value.notes) == 2


def test_anything_else_is_an_internal_error_that_names_the_pass():
    with pytest.raises(InternalError, match="internal error in pass 'fail{.*}': KeyError: 'axis'") as caught:
        run(Fail(error=KeyError("axis")))
    assert isinstance(caught.value.__cause__, KeyError)


def test_failure_is_told_to_what_watches():
    record = Record()
    with pytest.raises(CompileError):
        run(Fail(error=TileworkError("no")), watching=(record,))
    assert record.calls[-1] == "failed fail: no"


def test_broken_dominance_passes_without_verification_and_is_found_with_it():
    run(DefineLate())
    with pytest.raises(CompileError, match="'arith.muli' op operand #0 does not dominate this use") as caught:
        run(DefineLate(), watching=(VerifyEach(),))
    assert caught.value.notes[-1] == ("while running pass 'define-late'", None)


def test_illegal_operation_after_a_pass_names_the_pass_and_the_reason():
    run(LeavesNoAddition())
    expected = "'leaves-no-addition' left an illegal 'arith.addi': additions were to become multiplications"
    with pytest.raises(CompileError, match=expected) as caught:
        run(LeavesNoAddition(), watching=(CheckLegality(),))
    assert isinstance(caught.value.op, AddiOp)


def test_print_after_failure_shows_what_the_pass_left():
    written: list[str] = []
    printing = PrintIR(show=lambda op: f"<{op.name}>", sink=PrintedIR(written.append), on_failure=True)
    with pytest.raises(CompileError):
        run(MarkFunction(), Fail(error=TileworkError("no")), watching=(printing,))
    assert written == ["// -----// IR Dump After Fail Failed (fail) //----- //\n<builtin.module>\n\n"]


def test_timing_adds_up_the_runs_of_a_nested_pass():
    timing = PassTiming()
    run(Pipeline("func.func", (MarkFunction(),)), MarkFunction(), watching=(timing,))
    rows = [line.partition("%)  ")[2] for line in timing.report().splitlines() if "%)" in line]
    assert rows == [
        "'builtin.module' Pipeline",
        "  'func.func' Pipeline",
        "    MarkFunction (mark-function)",
        "  MarkFunction (mark-function)",
        "Total",
    ]


def test_timing_after_a_failure_starts_anew():
    timing = PassTiming()
    with pytest.raises(CompileError):
        run(Pipeline("func.func", (MarkFunction(),)), Fail(error=TileworkError("no")), watching=(timing,))
    with pytest.raises(ZeroDivisionError), timing.measure("Outer"):
        timing.start("Inner")
        raise ZeroDivisionError
    run(MarkFunction(), watching=(timing,))
    assert list(timing.total.parts) == ["'builtin.module' Pipeline", "Outer"]
    assert list(timing.total.parts["Outer"].parts) == ["Inner"]
