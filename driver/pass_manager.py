"""Running a pipeline of passes, nested by the operations they run on, and watching it run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import DiagnosticException, ParseError

from tilework.dialects.support.diagnostics import CompileError, TileworkError, UsageError, name_of
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.pass_options import pass_text
from tilework.driver.upstream_passes import ANY_OP_PASSES
from tilework.transforms.base import TileworkPass
from tilework.transforms.patterns import PatternFailure

ANY = "any"
"""The anchor of pipelines over operations of any name."""


@dataclass(frozen=True)
class Pipeline:
    """Passes, and pipelines over what is inside, to run in turn on operations named `anchor`, or on ANY."""

    anchor: str
    steps: tuple[ModulePass | Pipeline, ...]

    def passes(self) -> Iterator[ModulePass]:
        """All passes, in the order in which they stand."""
        for step in self.steps:
            if isinstance(step, Pipeline):
                yield from step.passes()
            else:
                yield step


class InternalError(Exception):
    """A defect of a pass: it threw something that is not the user's to mend, which is the `__cause__`.

    Where one of its patterns did, `op` is the operation that was being rewritten.
    """

    def __init__(self, pass_: ModulePass, error: Exception):
        pattern, cause, self.op = "", error, None
        if isinstance(error, PatternFailure):
            cause, self.op = error.__cause__ or error, error.op
            pattern = f"pattern '{type(error.pattern).__name__}' of "
        super().__init__(f"internal error in {pattern}pass '{pass_text(pass_)}': {type(cause).__name__}: {cause}")
        self.pass_ = pass_


class PassManager:
    """Runs one pipeline over modules.

    Nothing is verified, printed or timed unless `instrumentations` ask for it. The pipeline is checked once, here:
    a pass that cannot run on the operations around it is refused with a UsageError.
    """

    def __init__(self, pipeline: Pipeline, instrumentations: Sequence[Instrumentation] = ()):
        _check_anchors(pipeline)
        self.pipeline = pipeline
        self.instrumentations = tuple(instrumentations)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite `module` in place.

        An error of the user's is a CompileError with the operation it is about and a note that names the pass; an
        error of ours is an InternalError. Either leaves `module` as the failing pass left it.
        """
        self._run_pipeline(self.pipeline, ctx, module)

    def _run_pipeline(self, pipeline: Pipeline, ctx: Context, op: Operation) -> None:
        for watcher in self.instrumentations:
            watcher.before_pipeline(pipeline.anchor, op)
        for step in pipeline.steps:
            if not isinstance(step, Pipeline):
                self._run_pass(step, ctx, op)
                continue
            for child in _children_anchoring(op, step.anchor):
                self._run_pipeline(step, ctx, child)
        for watcher in reversed(self.instrumentations):
            watcher.after_pipeline(pipeline.anchor, op)

    def _run_pass(self, pass_: ModulePass, ctx: Context, op: Operation) -> None:
        try:
            for watcher in self.instrumentations:
                watcher.before_pass(pass_, op)
            _apply(pass_, ctx, op)
            for watcher in reversed(self.instrumentations):
                watcher.after_pass(pass_, op)
        except Exception as error:
            for watcher in reversed(self.instrumentations):
                watcher.pass_failed(pass_, op, error)
            explained = _explained(error, pass_, op)
            if explained is error:
                raise
            raise explained from error


def can_run_on(pass_: ModulePass, op_name: str) -> bool:
    """May `pass_` stand in a pipeline over operations named `op_name`?

    It may over the operations it is anchored on, and over modules, where it runs on each such operation inside.
    """
    return runs_on_any(type(pass_)) or op_name in (ModuleOp.name, anchor_name(type(pass_)))


def runs_on_any(pass_type: type[ModulePass]) -> bool:
    """Whether passes of this type may run on any operation."""
    return pass_type.name in ANY_OP_PASSES


def anchor_name(pass_type: type[ModulePass]) -> str:
    """The name of the operation that passes of this type are anchored on."""
    return pass_type.anchor.name if issubclass(pass_type, TileworkPass) else ModuleOp.name


def _check_anchors(pipeline: Pipeline) -> None:
    for step in pipeline.steps:
        if isinstance(step, Pipeline):
            _check_anchors(step)
        elif not can_run_on(step, pipeline.anchor):
            raise UsageError(
                f"pass '{step.name}' is anchored on '{anchor_name(type(step))}' and cannot run on '{pipeline.anchor}'"
            )


def _children_anchoring(op: Operation, anchor: str) -> list[Operation]:
    """The operations of an anchor directly inside `op`, as they are now: passes may add and remove some.

    Those of any name are, as in MLIR, those that use nothing of what is around them.
    """
    children = [child for region in op.regions for block in region.blocks for child in block.ops]
    if anchor == ANY:
        return [child for child in children if child.has_trait(IsolatedFromAbove, value_if_unregistered=False)]
    return [child for child in children if name_of(child) == anchor]


def _apply(pass_: ModulePass, ctx: Context, op: Operation) -> None:
    if pass_.name in ANY_OP_PASSES:
        ANY_OP_PASSES[pass_.name](pass_, ctx, op)
    elif isinstance(op, ModuleOp):
        pass_.apply(ctx, op)
    else:
        assert isinstance(pass_, TileworkPass)
        pass_.run(ctx, op)


def _explained(error: Exception, pass_: ModulePass, op: Operation) -> Exception:
    """What to raise for `error`, thrown while `pass_` ran on `op`."""
    note = f"while running pass '{pass_text(pass_)}'"
    match error:
        case CompileError():
            error.notes = (*error.notes, (note, None))
            return error
        case UsageError():
            error.add_note(note)
            return error
        case ParseError():  # of a file that the pass reads
            return error
        case MemoryError():
            return CompileError(f"there is not enough memory: {error}", op, ((note, None),))
        case TileworkError() | DiagnosticException():
            return CompileError(str(error), op, ((note, None),))
        case _:
            return InternalError(pass_, error)
