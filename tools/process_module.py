"""What `opt-tool` does with the text of one module: parse, verify, run the pipeline, write for the target."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import did_you_mean
from tilework.analysis.program_targets import set_targets, targets_of
from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.backends.base import write_module
from tilework.backends.registry import backend_writing
from tilework.dialects.support.diagnostics import UsageError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.checked_bounds import with_checked_bounds
from tilework.driver.instrumentation import CheckLegality, Instrumentation, VerifyEach
from tilework.driver.ir_printer import ir_text
from tilework.driver.pass_manager import PassManager
from tilework.driver.pass_statistics import PassStatistics
from tilework.driver.pass_timing import PassTiming, Timed
from tilework.driver.pipeline_text import parse_pipeline, pipeline_text
from tilework.driver.print_ir import IRTree, PrintedIR, PrintIR
from tilework.driver.registry import all_passes
from tilework.driver.stop_after import stop_after
from tilework.lowering.pipelines import PIPELINES
from tilework.targets import target_to_compile_for
from tilework.tools.opt_options import Options
from tilework.tools.reproducer import Recorded, ReproducerWriter, read_recorded, write_reproducer
from tilework.tools.roundtrip import check_roundtrip
from tilework.tools.target_option import targets_by_device

Output = str | bytes

VERIFIER = "Verifier"
"""What `--mlir-timing` calls the time that verification takes."""


class ModuleProcessor:
    """Processes the text of modules as `options` say; `file` is the name that locations carry."""

    def __init__(self, options: Options, file: str):
        self.options = options
        self.file = file
        self.timing = PassTiming()
        self.statistics = PassStatistics()
        self._tree = None if options.print_tree_dir is None else IRTree(Path(options.print_tree_dir))
        self._write = _writer(options)
        given = targets_by_device(options.targets).items()
        self._targets = {device: target_to_compile_for(target) for device, target in given}
        self._recorded = Recorded(options.pipeline or "", options.verify_each, options.check_semantics)
        self._manager = None if options.run_reproducer else self._make_manager(self._recorded)

    def process(self, text: str) -> Output:
        """What `text` becomes. Raises ParseError, TileworkError, InternalError or RecursionError."""
        context = make_context(allow_unregistered=self.options.allow_unregistered_dialect)
        with self.timing.measure("Parser"):
            parser = SourceParser(context, text, self.file)
            module = parser.parse_module(allow_implicit_module=not self.options.no_implicit_module)
        with self.timing.measure(VERIFIER):
            verify(module)
            refuse_out_of_bounds(module)
        if self.options.verify_roundtrip:
            with self.timing.measure("Round trip"):
                check_roundtrip(module, context)
        if self._targets:
            set_targets(module, targets_of(module) | self._targets)
        manager = self._manager or self._make_manager(read_recorded(parser.resources, self.file))
        if self.options.generate_reproducer is not None:
            recorded = replace(self._recorded, pipeline=pipeline_text(manager.pipeline))
            write_reproducer(self.options.generate_reproducer, module, recorded)
        manager.run(context, module)
        with self.timing.measure("Output"):
            return self._write(module)

    def _make_manager(self, recorded: Recorded) -> PassManager:
        operations = make_context(allow_unregistered=self.options.allow_unregistered_dialect)
        pipeline = parse_pipeline(recorded.pipeline, all_passes(), PIPELINES, operations)
        if self.options.check_bounds:
            pipeline = with_checked_bounds(pipeline)
        if self.options.stop_after is not None:
            pipeline = stop_after(pipeline, self.options.stop_after)
        if self.options.dump_pass_pipeline:
            print(f"Pass Manager with {sum(1 for _ in pipeline.passes())} passes:", file=sys.stderr)
            print(pipeline_text(pipeline), file=sys.stderr)
        return PassManager(pipeline, self._instrumentations(recorded))

    def _instrumentations(self, recorded: Recorded) -> list[Instrumentation]:
        """What watches the passes, outermost first: after a pass its time is taken first, its meaning checked last."""
        options = self.options
        watching: dict[str, Instrumentation] = {}
        if options.crash_reproducer is not None:
            watching["Reproducer"] = ReproducerWriter(options.crash_reproducer, recorded)
        if recorded.check_semantics:
            watching["Semantic check"] = semantic_check()
        watching["Legality"] = CheckLegality()
        if recorded.verify_each:
            watching[VERIFIER] = VerifyEach()
        if options.prints_around_passes:
            watching["Printing"] = self._print_ir()
        if options.statistics:
            watching["Statistics"] = self.statistics
        if not options.timing:
            return list(watching.values())
        return [*(Timed(self.timing, name, watcher) for name, watcher in watching.items()), self.timing]

    def _print_ir(self) -> PrintIR:
        options = self.options
        for name in (*options.print_before, *options.print_after):
            if name not in all_passes():
                hint = did_you_mean(name, all_passes())
                raise UsageError(f"--mlir-print-ir-before/-after: '{name}' does not refer to a registered pass{hint}")
        return PrintIR(
            show=lambda op: ir_text(op, options.printing),
            sink=self._tree or PrintedIR(sys.stderr.write),
            before=None if options.print_before_all else options.print_before,
            after=None if options.print_after_all or options.print_after_change else options.print_after,
            only_changes=options.print_after_change,
            on_failure=options.print_after_failure,
            whole_module=options.mlir_print_ir_module_scope,
        )


def semantic_check(parameters: Mapping[str, Any] | None = None) -> Instrumentation:
    """What compares the program's answers before and after every pass.

    `parameters` are the bytes of a model's parameters by name; those not given are small integers.
    """
    from tilework.driver.check_semantics import SemanticCheck  # it imports every interpreter

    return SemanticCheck(parameters)


def _writer(options: Options) -> Callable[[ModuleOp], Output]:
    """How to write a module in the format that the options name."""
    if options.emit == "mlir":
        return lambda module: ir_text(module, options.printing) + "\n"
    backend = backend_writing(options.emit)
    return lambda module: write_module(backend, options.emit, module)
