"""A file that shows a failing pass: the IR before it and the pass, ready for `opt-tool --run-reproducer`."""

from __future__ import annotations

import json
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
      verify_each: true
    }}
  }}
#-}}
"""


class ReproducerWriter(Instrumentation):
    """Remembers the module before every pass; when one fails, writes it to `file` with the pass that failed."""

    def __init__(self, file: str):
        self.file = file
        self._before = ""

    def before_pass(self, pass_: ModulePass, op: Operation) -> None:
        self._before = ir_text(_root(op), PrintingOptions(generic=True, locations=True))

    def pass_failed(self, pass_: ModulePass, op: Operation, error: Exception) -> None:
        text = TEMPLATE.format(ir=self._before, key=KEY, pipeline=json.dumps(_pipeline_of(pass_, op)))
        try:
            Path(self.file).write_text(text, encoding="utf-8")
        except OSError as problem:
            raise TileworkError(f"cannot write reproducer '{self.file}': {problem.strerror}") from error


def recorded_pipeline(resources: dict[str, dict[str, str | bool]], file: str) -> str:
    """The pipeline that a reproducer names in its resources."""
    pipeline = resources.get(KEY, {}).get("pipeline")
    if not isinstance(pipeline, str):
        raise UsageError(f"'{file}' is no reproducer: it has no external resource '{KEY}' with a 'pipeline'")
    return pipeline


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
