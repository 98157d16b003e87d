"""A file that holds IR and the passes to run on it, and how to check them, ready for `opt-tool --run-reproducer`."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.dialects.support.diagnostics import TileworkError, UsageError, name_of
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.driver.pass_options import pass_text

KEY = "mlir_reproducer"
TEMPLATE = """// RUN: opt-tool %s --run-reproducer
{ir}

{{-#
  external_resources: {{
    {key}: {{
      pipeline: {pipeline},
      disable_threading: true,
      verify_each: {verify_each},
      check_semantics: {check_semantics}
    }}
  }}
#-}}
"""


@dataclass(frozen=True)
class Recorded:
    """What a reproducer says beside its IR: the pipeline, and how every pass is checked."""

    pipeline: str
    verify_each: bool
    check_semantics: bool

    def text(self, ir: str) -> str:
        """The reproducer, with IR as text."""
        pipeline, verify_each, check_semantics = map(json.dumps, astuple(self))
        return TEMPLATE.format(
            ir=ir, key=KEY, pipeline=pipeline, verify_each=verify_each, check_semantics=check_semantics
        )


class ReproducerWriter(Instrumentation):
    """Remembers the module before every pass; when one fails, writes it to `file` with the pass that failed.

    recorded: how the passes are checked; its pipeline is that of the command line.
    """

    def __init__(self, file: str, recorded: Recorded):
        self.file = file
        self._recorded = recorded
        self._before = ""

    def before_pass(self, pass_: ModulePass, op: Operation) -> None:
        self._before = _complete(_root(op))

    def pass_failed(self, pass_: ModulePass, op: Operation, error: Exception) -> None:
        recorded = replace(self._recorded, pipeline=_pipeline_of(pass_, op))
        _write(self.file, recorded.text(self._before))


def write_reproducer(file: str, module: Operation, recorded: Recorded) -> None:
    """Write a module with the pipeline that is about to run on it. Raises TileworkError where the file refuses."""
    _write(file, recorded.text(_complete(module)))


def read_recorded(resources: dict[str, dict[str, str | bool]], file: str) -> Recorded:
    """What a reproducer says in its resources. Raises UsageError for a file that is none."""
    resource = resources.get(KEY, {})
    pipeline = resource.get("pipeline")
    if not isinstance(pipeline, str):
        raise UsageError(f"'{file}' is no reproducer: it has no external resource '{KEY}' with a 'pipeline'")
    return Recorded(pipeline, resource.get("verify_each") is not False, resource.get("check_semantics") is True)


def _complete(op: Operation) -> str:
    return ir_text(op, PrintingOptions(generic=True, locations=True))


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise TileworkError(f"cannot write reproducer '{file}': {problem.strerror}") from None


def _root(op: Operation) -> Operation:
    parent = op.parent_op()
    return op if parent is None else _root(parent)


def _pipeline_of(pass_: ModulePass, op: Operation) -> str:
    """A pipeline that runs `pass_` on operations nested as `op` is."""
    text = pass_text(pass_)
    around: Operation | None = op
    while around is not None:
        text = f"{name_of(around)}({text})"
        around = around.parent_op()
    return text
