"""Compile a model, or the program of an .mlir file, to an artefact that loads in milliseconds, or to a library of C."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tilework.algebra.errors import TileworkError, UsageError
from tilework.analysis.precision import PRECISIONS
from tilework.analysis.program_targets import HOST, targets_of
from tilework.api import compile as compile_model
from tilework.driver.choose_targets import choose_targets
from tilework.driver.instrumentation import CheckLegality, Instrumentation, VerifyEach
from tilework.driver.levels import lower_by_levels, write_levels
from tilework.driver.read_program import level_of
from tilework.frontends.onnx.importer import ImportedModel
from tilework.runtime.c_library import library_name
from tilework.runtime.compile_report import CompileReport
from tilework.targets import target_to_compile_for
from tilework.tools.bench.here import runs_here, time_kernels
from tilework.tools.files import check_writable
from tilework.tools.model_source import import_model, parse_dims, title_of
from tilework.tools.process_module import semantic_check
from tilework.tools.progress import shown_progress
from tilework.tools.report.compilation import explain
from tilework.tools.report.compile_page import compile_page
from tilework.tools.target_option import add_target_option, targets_by_device
from tilework.transforms.graph.fuse_operators import explain as explain_fusion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework compile`."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="an ONNX file, an .mlir file with a function @main, or light:NAME or net:NAME with random weights",
    )
    parser.add_argument(
        "-o", dest="output", metavar="FILE", help="the artefact; by default MODEL's name with .tw, here"
    )
    parser.add_argument(
        "--library",
        action="store_true",
        help="write a folder (-o, by default MODEL's name) with a header of C, code and a Makefile in place of an "
        "artefact; for a target of the kind c that is what is always written",
    )
    machine = '"llvm" (this machine), or as in "llvm -mcpu=haswell"; by default what an .mlir file says, else llvm'
    add_target_option(parser, machine)
    parser.add_argument("--schedule", metavar="FILE.mlir", help="schedules for kernels of the program, by their names")
    parser.add_argument(
        "--precision",
        default="default",
        choices=PRECISIONS,
        help="strict: only algorithms as accurate as direct sums, for finite inputs; "
        "direct: only direct sums, also for inputs with infinities and NaN",
    )
    parser.add_argument(
        "--dump-levels", metavar="DIR", help="write the program at every level, 1-graph.mlir to 8-llvm.ll"
    )
    parser.add_argument("--check-semantics", action="store_true", help="run the program before and after every pass")
    parser.add_argument(
        "--report",
        metavar="FILE.html",
        help="write a page that shows the graph, its kernels at every level, their times on this machine, and memory",
    )
    parser.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="a symbolic size that --report counts with; else 1",
    )
    parser.add_argument("--explain-fusion", action="store_true", help="say why adjacent operators are not fused")


def run(options: argparse.Namespace) -> int:
    """Compile, write the artefact, say what was done."""
    given = targets_by_device(options.targets).items()
    targets = {device: target_to_compile_for(target) for device, target in given}
    is_library = options.library or (HOST in targets and targets[HOST].kind == "c")
    output = Path(options.output or f"{title_of(options.model)}{'' if is_library else '.tw'}")
    if not is_library:
        check_writable(output)
    dims = _report_dims(options)
    imported = import_model(options.model, options.schedule)
    _check_level(options, imported.module)
    choose_targets(imported.module, targets)
    if options.explain_fusion:
        _explain_fusion(imported.module.clone(), options.precision)
    _lower_beside(options, imported)
    explained = imported.module.clone() if options.report else None
    with shown_progress(title_of(options.model)) as progress:
        module = compile_model(
            imported.module, None, imported.parameters, progress=progress, precision=options.precision
        )
    if is_library:
        module.save_library(output)
        name = library_name(output.resolve().name, module.manifest)
        print(f"{output}: make -C {quote(str(output))} builds lib{name}.a, {module}")
    else:
        module.save(output)
        print(f"{output}: {output.stat().st_size / 1e6:.1f} MB, {module}")
    assert module.report is not None
    print(report_text(module.report))
    if explained is not None:
        _write_report(options, explained, imported.parameters, dims, module.report)
    return 0


def _check_level(options: argparse.Namespace, module: ModuleOp) -> None:
    """Raise a UsageError for what is no model, and for what only a graph can be asked for."""
    level = level_of(module)
    if level == "kernels":
        raise TileworkError(
            f"{options.model} has kernels and no function @main: an artefact is a whole model; "
            "tilework run runs a kernel, opt-tool -t obj writes its code"
        )
    asked = {"--dump-levels": options.dump_levels, "--check-semantics": options.check_semantics}
    for flag, given in {**asked, "--explain-fusion": options.explain_fusion, "--report": options.report}.items():
        if given and level != "graph":
            raise UsageError(f"{flag} is for a program that begins at the graph; @main of {options.model} has buffers")


def report_text(report: CompileReport) -> str:
    """How many kernels were compiled and where the time went, in two lines."""
    generated = len(report.kernels) - len(report.cached)
    phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in report.seconds.items())
    return f"kernels: {generated} generated, {len(report.cached)} from the cache\nseconds: {phases}"


def _report_dims(options: argparse.Namespace) -> dict[str, int]:
    """The sizes that --report counts with. Raises UsageError where there is no report for them."""
    if options.report:
        check_writable(Path(options.report))
    elif options.dim:
        raise UsageError("--dim: it is for --report")
    return parse_dims(options.dim)


def _write_report(
    options: argparse.Namespace,
    program: ModuleOp,
    parameters: Mapping[str, Any],
    dims: Mapping[str, int],
    report: CompileReport,
) -> None:
    """Time the kernels where this machine is the target, lower the program once more, and write the page."""
    run = time_kernels(program.clone(), parameters, options.precision, dims) if runs_here(program) else None
    result = {
        "model": title_of(options.model),
        "target": ", ".join(str(target) for target in targets_of(program).values()),
        "precision": options.precision,
        "seconds": report.seconds,
        "compiled": len(report.kernels) - len(report.cached),
        "cached": len(report.cached),
        "run": run,
        **explain(program, options.precision, dims),
    }
    Path(options.report).write_text(compile_page([result]), encoding="utf-8")
    print(options.report)


def _explain_fusion(module: ModuleOp, precision: str) -> None:
    """Print a line for every two neighbours that stay apart, as the graph stands before fusion."""
    levels = lower_by_levels(module, precision=precision)
    optimized = next(module for name, module in levels if name == "2-optimized")
    for op in optimized.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main":
            print("\n".join(explain_fusion(op)) or "every operator is fused with its neighbours")


def _lower_beside(options: argparse.Namespace, imported: ImportedModel) -> None:
    """Lower a copy of the module in this process, where it can be written and watched."""
    watching: list[Instrumentation] = [CheckLegality(), VerifyEach()]
    if options.check_semantics:
        watching.insert(0, semantic_check(imported.parameters))
    lowered = imported.module.clone()
    if options.dump_levels:
        for path in write_levels(lowered, Path(options.dump_levels), watching, options.precision):
            print(path)
    elif options.check_semantics:
        for _ in lower_by_levels(lowered, watching, options.precision):
            pass
    if options.check_semantics:
        print("semantics: every pass kept the program's answers")
