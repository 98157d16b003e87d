"""The flags of `opt-tool`: mlir-opt's names wherever mlir-opt has one."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Literal

from tilework.driver.apply_pattern import ApplyPattern
from tilework.driver.ir_printer import PrintingOptions
from tilework.driver.pass_options import pass_text
from tilework.tools.arguments import ArgumentParser
from tilework.tools.load_plugins import add_load_plugin
from tilework.tools.target_option import add_target_option

LONG_FLAG_WITH_ONE_DASH = re.compile(r"-[a-z][a-z-]+(=.*)?", re.DOTALL)
BOOLEAN_FLAGS = (
    "--verify-each",
    "--verify-roundtrip",
    "--verify-diagnostics",
    "--split-input-file",
    "--allow-unregistered-dialect",
    "--no-implicit-module",
    "--run-reproducer",
    "--mlir-print-ir-module-scope",
    "--mlir-print-op-on-diagnostic",
    "--mlir-print-local-scope",
    "--mlir-disable-threading",
)
"""Flags that may be followed by `=true` or `=false`, and mean true alone."""
DESCRIPTION = "Parse .mlir text, check it, run passes over it and print the result."


@dataclass
class Options:
    """What the command line asks for."""

    input: str = "-"
    output: str = "-"
    pipeline: str | None = None
    apply_patterns: list[str] = field(default_factory=list[str])
    list_passes: str | None = None
    list_patterns: bool = False
    show_dialects: bool = False
    dump_pass_pipeline: bool = False
    print_before: list[str] = field(default_factory=list[str])
    print_after: list[str] = field(default_factory=list[str])
    print_before_all: bool = False
    print_after_all: bool = False
    print_after_change: bool = False
    print_after_failure: bool = False
    mlir_print_ir_module_scope: bool = False
    print_tree_dir: str | None = None
    timing: bool = False
    statistics: bool = False
    output_format: Literal["text", "json"] = "text"
    verify_each: bool = True
    verify_roundtrip: bool = False
    verify_diagnostics: bool = False
    split_input_file: bool = False
    print_generic: bool = False
    print_locations: bool = False
    elide_larger_than: int | None = None
    allow_unregistered_dialect: bool = False
    no_implicit_module: bool = False
    crash_reproducer: str | None = None
    generate_reproducer: str | None = None
    run_reproducer: bool = False
    stop_after: str | None = None
    emit: str = "mlir"
    targets: list[str] = field(default_factory=list[str])
    check_semantics: bool = False
    mlir_print_op_on_diagnostic: bool = True
    plugins: list[str] = field(default_factory=list[str])
    always: str = "true"
    check_bounds: bool = False
    debug: bool = False

    @property
    def prints_around_passes(self) -> bool:
        """Is any `--mlir-print-ir-*` asked for?"""
        asked = (self.print_before_all, self.print_after_all, self.print_after_change, self.print_after_failure)
        return any(asked) or bool(self.print_before or self.print_after)

    @property
    def printing(self) -> PrintingOptions:
        """How to print IR."""
        return PrintingOptions(self.print_generic, self.print_locations, self.elide_larger_than)


def parse_options(arguments: Sequence[str], pass_names: Collection[str]) -> Options:
    """The options that `arguments` ask for; wrong usage prints a line and exits with status 2, `--help` with 0.

    `pass_names` are those of passes and named pipelines.
    As with mlir-opt, long flags may have one dash, and `--cse --some-pass="a=1 b=2"` is a pipeline too.
    """
    words: list[str] = []
    passes: list[str] = []
    for word in arguments:
        flag = f"-{word}" if LONG_FLAG_WITH_ONE_DASH.fullmatch(word) else word
        name, _, value = flag.removeprefix("--").partition("=")
        if flag.startswith("--") and name in pass_names:
            passes.append(f"{name}{{{value}}}" if value else name)
        else:
            words.append(f"{flag}=true" if flag in BOOLEAN_FLAGS else flag)
    parser = _parser()
    if {"-h", "--help"} & {*words}:
        from tilework.tools.list_passes import pass_listing  # it imports all passes

        parser.epilog = f"{pass_listing()}\nA pass is a flag, too: --graph-to-te, --loop-vectorize='factor=8'."
    options = parser.parse_all(words, Options(), [f"--{name}" for name in pass_names])
    if (passes or options.apply_patterns) and options.pipeline is not None:
        flag = passes[0] if passes else ApplyPattern.name
        parser.error(f"give --{flag} and the like, or --pass-pipeline, not both")
    passes += [pass_text(ApplyPattern.at(text)) for text in options.apply_patterns]
    if passes:
        options.pipeline = ",".join(passes)
    if options.print_tree_dir is not None and not options.prints_around_passes:
        parser.error("--mlir-print-ir-tree-dir says where IR goes: say when with --mlir-print-ir-after-all or the like")
    return options


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="opt-tool", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "input", nargs="?", default="-", metavar="FILE", help="the file to read, '-' (the default) for stdin"
    )
    parser.add_argument("-o", dest="output", metavar="FILE", help="the file to write, '-' (the default) for stdout")
    parser.add_argument("--version", action="version", version=f"opt-tool (tilework {version('tilework')})")
    parser.add_argument("--debug", action="store_true", help="show Python tracebacks of errors")
    add_load_plugin(parser)
    _add_pass_flags(parser.add_argument_group("passes"))
    _add_printing_flags(parser.add_argument_group("printing around passes, to stderr"))
    _add_checking_flags(parser.add_argument_group("checking"))
    _add_reading_flags(parser.add_argument_group("reading"))
    _add_writing_flags(parser.add_argument_group("writing"))
    return parser


def _add_pass_flags(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    group.add_argument(
        *("--pass-pipeline", "--passes", "-p"),
        dest="pipeline",
        metavar="PIPELINE",
        help="for example 'builtin.module(func.func(cse),graph-to-te)', or just 'cse,graph-to-te'",
    )
    group.add_argument(
        "--stop-after", metavar="PASS|LEVEL", help="end the pipeline after a pass, or at a level such as 'te'"
    )
    group.add_argument(
        "--apply-pattern",
        dest="apply_patterns",
        action="append",
        metavar="PATTERN[@LINE[:COLUMN]]",
        help="apply one rewrite pattern alone, behind the passes: wherever it matches, or at a place of the file",
    )
    group.add_argument(
        "--list-passes",
        nargs="?",
        const="",
        metavar="NAME",
        help="print every pass with its options, or all that is known of one pass or named pipeline",
    )
    group.add_argument("--list-patterns", action="store_true", help="print every rewrite pattern, by pass")
    group.add_argument("--show-dialects", action="store_true", help="print the names of all dialects")
    group.add_argument("--dump-pass-pipeline", action="store_true", help="print the pipeline that will run, to stderr")


def _add_printing_flags(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    for when in ("before", "after"):
        group.add_argument(
            f"--mlir-print-ir-{when}", dest=f"print_{when}", action="append", metavar="PASS", help=f"IR {when} a pass"
        )
        group.add_argument(
            f"--mlir-print-ir-{when}-all",
            dest=f"print_{when}_all",
            action="store_true",
            help=f"IR {when} every pass",
        )
    group.add_argument(
        "--mlir-print-ir-after-change",
        dest="print_after_change",
        action="store_true",
        help="only where a pass has changed it",
    )
    group.add_argument(
        "--mlir-print-ir-after-failure",
        dest="print_after_failure",
        action="store_true",
        help="IR as a failing pass left it",
    )
    group.add_argument(
        "--mlir-print-ir-tree-dir",
        dest="print_tree_dir",
        metavar="FOLDER",
        help="write that IR to files in place of stderr: a folder for each operation, a file for each pass",
    )
    _add_boolean(group, "--mlir-print-ir-module-scope", "all of the module, whatever the pass runs on")
    _add_always(group, "--mlir-disable-threading", "passes run one after the other")
    group.add_argument("--mlir-timing", dest="timing", action="store_true", help="how long each pass took")
    group.add_argument(
        "--mlir-pass-statistics",
        dest="statistics",
        action="store_true",
        help="how many operations each pass was given and left, and how often its patterns rewrote one",
    )
    group.add_argument(
        "--mlir-output-format",
        dest="output_format",
        choices=("text", "json"),
        help="how --mlir-timing writes: as a table, the default, or as JSON",
    )


def _add_checking_flags(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    _add_boolean(group, "--verify-each", "verify the IR after every pass (the default; =false turns it off)")
    _add_boolean(group, "--verify-roundtrip", "check that the parsed IR prints and parses back to itself")
    _add_boolean(group, "--mlir-print-op-on-diagnostic", "print what an error is about (the default; =false: do not)")
    _add_boolean(group, "--verify-diagnostics", "check diagnostics against '// expected-error {{text}}' annotations")
    group.add_argument("--check-semantics", action="store_true", help="run the program before and after every pass")
    group.add_argument(
        "--check-bounds", action="store_true", help="let kernels check their subscripts, and report, while they run"
    )
    group.add_argument(
        "--mlir-pass-pipeline-crash-reproducer",
        dest="crash_reproducer",
        metavar="FILE",
        help="where to write the IR and the pass that failed",
    )
    group.add_argument(
        "--mlir-generate-reproducer",
        dest="generate_reproducer",
        metavar="FILE",
        help="where to write the IR as it is read, the pipeline, and how passes are checked, before they run",
    )


def _add_reading_flags(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    what = "what to compile for, written into the module: host is this machine, or as in 'llvm -mcpu=haswell'"
    add_target_option(group, what)
    _add_boolean(group, "--split-input-file", "process every part between '// -----' lines by itself")
    _add_boolean(group, "--allow-unregistered-dialect", "accept operations of unknown dialects, in generic form")
    _add_boolean(group, "--no-implicit-module", "do not put the operations of the file into a module")
    _add_boolean(group, "--run-reproducer", "run the pipeline that the file itself names")


def _add_writing_flags(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    group.add_argument(
        "-t",
        "--emit",
        metavar="FORMAT",
        help="what to write: mlir (the default), or what back ends make: llvmir, asm, obj, c",
    )
    group.add_argument(
        *("--mlir-print-op-generic", "--print-op-generic"),
        dest="print_generic",
        action="store_true",
        help="print operations in generic form",
    )
    group.add_argument(
        *("--mlir-print-debuginfo", "--print-debuginfo"),
        dest="print_locations",
        action="store_true",
        help="print locations",
    )
    _add_always(group, "--mlir-print-local-scope", "attributes and types are written where they are used")
    group.add_argument(
        "--mlir-elide-elementsattrs-if-larger",
        dest="elide_larger_than",
        type=int,
        metavar="N",
        help="leave out constants of more than N elements",
    )


def _add_boolean(group: argparse._ArgumentGroup, flag: str, help: str) -> None:  # pyright: ignore[reportPrivateUsage]
    """A flag that may be followed by `=true` or `=false`."""
    group.add_argument(flag, type=_boolean, metavar="BOOL", help=help)


def _add_always(group: argparse._ArgumentGroup, flag: str, help: str) -> None:  # pyright: ignore[reportPrivateUsage]
    """A flag of mlir-opt that asks for what is always so here."""
    group.add_argument(flag, dest="always", choices=("true", "1"), help=f"{help}, with this flag and without")


def _boolean(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise argparse.ArgumentTypeError(f"expected true or false, given '{text}'")
    return text in ("true", "1")
