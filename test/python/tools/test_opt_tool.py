"""`opt-tool` as a program: exit statuses, files and streams, reproducers; no error of the user's is a traceback.

What it prints for a program that parses is tested with FileCheck in test/tools.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.exceptions import DiagnosticException

from tilework.backends.llvm.backend import LLVMBackend
from tilework.dialects.support.diagnostics import CompileError
from tilework.driver import registry
from tilework.driver.instrumentation import Instrumentation
from tilework.tools import opt_tool, process_module
from tilework.transforms.base import TileworkPass
from tilework.transforms.patterns import PatternPass

MODULE = """builtin.module {
  func.func @f(%a: i32) -> i32 {
    func.return %a : i32
  }
}
"""


@dataclass(frozen=True)
class Crash(TileworkPass):
    """Throws what no pass should throw."""

    name = "crash"
    depth: int = 1

    def run(self, ctx: Context, op: Operation) -> None:
        raise KeyError("axis")


@dataclass(frozen=True)
class Unverifiable(TileworkPass):
    """Leaves a function without its terminator."""

    name = "unverifiable"

    def run(self, ctx: Context, op: Operation) -> None:
        for inner in op.walk():
            if inner.name == "func.return":
                inner.detach()
                return


class Broken(RewritePattern):
    """Throws an error of some kind at the end of a function, or puts an attribute there."""

    def __init__(self, error: str):
        self.error = error

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReturnOp, rewriter: PatternRewriter) -> None:
        match self.error:
            case "user":
                raise CompileError("no such axis")
            case "diagnostic":
                raise DiagnosticException("no such type")
            case "none":
                rewriter.notify_op_modified(op)
            case _:
                raise KeyError("axis")


@dataclass(frozen=True)
class Rewrites(PatternPass):
    """Applies a pattern that throws an error, or does nothing and says that it did."""

    name = "rewrites"
    error: str = "internal"

    def patterns(self, op: Operation) -> list[RewritePattern]:
        return [Broken(self.error)]


def _same(value: type[ModulePass]) -> type[ModulePass]:
    return value


@dataclass
class Ran:
    status: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Runs opt-tool in process with three more passes, which fail, and gives what it did."""
    ours = (Crash, Unverifiable, Rewrites)
    passes = {**registry.all_passes(), **{pass_type.name: partial(_same, pass_type) for pass_type in ours}}
    for module in (process_module, opt_tool):
        monkeypatch.setattr(module, "all_passes", lambda: passes)

    def run(*arguments: str, stdin: str = MODULE) -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        status = opt_tool.main(arguments)
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return run


def test_reads_stdin_and_writes_stdout(run):
    assert run() == Ran(0, MODULE, "")
    assert run("-", "-o", "-") == Ran(0, MODULE, "")


def test_writes_a_file_only_on_success(run, tmp_path: Path):
    file = tmp_path / "out.mlir"
    assert run("-o", str(file)) == Ran(0, "", "")
    assert file.read_text() == MODULE
    other = tmp_path / "other.mlir"
    assert run("-o", str(other), stdin="}").status == 1
    assert not other.exists()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("nowhere.mlir",), 1, "cannot open input file 'nowhere.mlir': No such file or directory"),
        ((".",), 1, "cannot open input file '.': Is a directory"),
        (("-o", "/nowhere/out.mlir"), 1, "cannot open output file '/nowhere/out.mlir': No such file or directory"),
        (
            ("-p", "crash", "--mlir-pass-pipeline-crash-reproducer", "/nowhere/r"),
            1,
            "cannot write reproducer '/nowhere/r'",
        ),
        (("--quux",), 2, "unrecognized arguments: --quux; see opt-tool --help"),
        (("-o",), 2, "argument -o: expected one argument"),
        (("--mlir-elide-elementsattrs-if-larger=x",), 2, "invalid int value: 'x'"),
        (("-p", "nowhere"), 2, "'nowhere' does not refer to a registered pass or pipeline"),
        (("-p", "cse{x=1}"), 2, "pass 'cse' has no option 'x': it takes none"),
        (
            ("-p", "choose-algorithms{precision=loose}"),
            2,
            "unknown precision 'loose': it is one of default, strict, direct",
        ),
        (("-t", "nowhere"), 2, "-t nowhere: unknown format; the formats are mlir"),
        (("--run-reproducer",), 2, "'<stdin>' is no reproducer"),
        (("-p", "cse", "--stop-after=te"), 2, "cannot stop after 'te'"),
        (("-p", "cse", "--pass-pipeline=dce"), 2, "--pass-pipeline/--passes/-p is given twice"),
        (("--verify-each", "--verify-each=false"), 2, "--verify-each is given twice"),
    ],
)
def test_wrong_usage_is_one_line(run, arguments: tuple[str, ...], status: int, message: str):
    ran = run(*arguments)
    assert (ran.status, ran.out) == (status, "")
    assert message in ran.err.splitlines()[0]
    assert "Traceback" not in ran.err


def test_binary_file(run, tmp_path: Path):
    file = tmp_path / "binary.mlir"
    file.write_bytes(b"\xff\xfe\x00")
    assert run(str(file)) == Ran(1, "", f"opt-tool: error: cannot read input file '{file}': it is not text in UTF-8\n")


@pytest.mark.parametrize("text", ["", "// nothing\n", "#alias = 1 : i32\n"])
def test_nothing_is_an_empty_module(run, text: str):
    assert run(stdin=text) == Ran(0, "builtin.module {\n}\n", "")
    assert run("--no-implicit-module", stdin=text).status == 1
    parts = run("--split-input-file", stdin=f"{MODULE}// -----\n{text}")
    assert parts == Ran(0, f"{MODULE}// -----\nbuiltin.module {{\n}}\n", "")


@pytest.mark.parametrize("text", ["func.func @f(", '"', "}", "#alias", "%0 = ", "\0", '"' + 99 * "a"])
def test_broken_text_is_one_located_error(run, text: str):
    ran = run(stdin=text)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("<stdin>:")
    assert ": error: " in ran.err.splitlines()[0]
    assert "Traceback" not in ran.err


def test_deep_nesting(run):
    depth = 2000
    text = "scf.if %c {\n" * depth + "}\n" * depth
    ran = run(stdin=f"func.func @f(%c: i1) {{\n{text}func.return }}")
    assert ran == Ran(1, "", "error: operations are nested too deeply to be read or printed\n")


def test_internal_error_is_two_lines_and_a_traceback_with_debug(run):
    ran = run("-p", "crash{depth=2}")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.splitlines() == [
        "error: internal error in pass 'crash{depth=2}': KeyError: 'axis'",
        "note: this is a defect of the compiler, not of your program; --debug shows where it happened",
    ]
    assert "Traceback" in run("-p", "crash", "--debug").err


def test_debug_shows_the_traceback_of_a_user_error(run):
    assert "Traceback" in run("--debug", stdin="}").err


def test_pass_that_breaks_the_ir_is_named(run):
    ran = run("-p", "unverifiable")
    assert ran.status == 1
    assert "<stdin>:2:3: error: 'func.func' op has an empty block: it needs at least a terminator" in ran.err
    assert ran.err.endswith("note: while running pass 'unverifiable'\n")
    assert run("-p", "unverifiable", "--verify-each=false").status == 0


def test_reproducer_runs_the_failing_pass_on_the_ir_before_it(run, tmp_path: Path):
    file = tmp_path / "reproducer.mlir"
    nested = "builtin.module(func.func(cse),unverifiable,cse)"
    failed = run("-p", nested, f"--mlir-pass-pipeline-crash-reproducer={file}")
    again = run(str(file), "--run-reproducer", "--dump-pass-pipeline")
    assert failed.status == again.status == 1
    assert "builtin.module(unverifiable)" in again.err
    assert failed.err.splitlines()[0] in again.err.splitlines()
    assert "while running pass 'unverifiable'" in again.err
    assert not run("-p", "cse", f"--mlir-pass-pipeline-crash-reproducer={file}.none").err
    assert not Path(f"{file}.none").exists()


def test_reproducer_of_the_whole_run(run, tmp_path: Path):
    file = tmp_path / "reproducer.mlir"
    first = run("-p", "cse,dce", f"--mlir-generate-reproducer={file}", "--check-semantics", "--verify-each=false")
    again = run(str(file), "--run-reproducer", "--mlir-timing")
    assert first.out == again.out == MODULE
    assert "Semantic check" in again.err and "(cse)" in again.err and "(dce)" in again.err
    assert again.err.count("Verifier") == 1, "of the text that is read, and after no pass"
    assert run("--mlir-generate-reproducer=/nowhere/r").err.startswith("error: cannot write reproducer '/nowhere/r'")


def test_a_failing_semantic_check_is_in_the_reproducer(run, tmp_path: Path):
    file = tmp_path / "reproducer.mlir"
    assert run("-p", "crash", "--check-semantics", f"--mlir-pass-pipeline-crash-reproducer={file}").status == 1
    assert "check_semantics: true" in file.read_text()


def test_timing_as_json(run):
    ran = run("-p", "cse", "--mlir-timing", "--mlir-output-format=json")
    timers = {timer["name"]: timer for timer in json.loads(ran.err)}
    assert {"Parser", "Verifier", "'builtin.module' Pipeline", "Output"} <= timers.keys()
    inside = {timer["name"]: timer["wall"]["duration"] for timer in timers["'builtin.module' Pipeline"]["passes"]}
    assert inside.keys() == {"CommonSubexpressionElimination (cse)", "Legality", "Verifier"}
    assert all(duration >= 0 for duration in inside.values())


def test_ir_in_a_tree_of_files(run, tmp_path: Path):
    tree = f"--mlir-print-ir-tree-dir={tmp_path}"
    assert run("-p", "builtin.module(cse,func.func(cse,dce))", "--mlir-print-ir-after-all", tree).err == ""
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.mlir"))
    module, function = "builtin_module_no-symbol-name", "builtin_module_no-symbol-name/func_func_f"
    assert files == [f"{module}/0_cse.mlir", f"{function}/1_0_cse.mlir", f"{function}/1_1_dce.mlir"]
    assert (tmp_path / files[0]).read_text() == MODULE
    run("-p", "crash", "--mlir-print-ir-before-all", "--mlir-print-ir-after-failure", tree)
    assert {path.name for path in (tmp_path / module).iterdir()} >= {"0_crash_before.mlir", "0_crash_failed.mlir"}
    assert run(tree).err.startswith("opt-tool: error: --mlir-print-ir-tree-dir says where IR goes: say when")
    ran = run("-p", "cse", "--mlir-print-ir-after-all", "--mlir-print-ir-tree-dir=/dev/null")
    assert "cannot write /dev/null/builtin_module_no-symbol-name/0_cse.mlir" in ran.err


def test_help_has_every_pass_with_its_options(run):
    out = run("--help").out
    assert re.search(r"^  loop-unroll +\[", out, re.MULTILINE) and "factor" in out
    assert re.search(r"^  optimize-graph$", out, re.MULTILINE)


def test_all_that_is_known_of_one_pass(run):
    out = run("--list-passes", "graph-fuse-operators").out
    assert out.startswith("  graph-fuse-operators ") and "->" in out and "loop-" not in out
    assert run("--list-passes", "lower-to-te").out.startswith("lower-to-te = ")
    ran = run("--list-passes", "graph-fuse-operator")
    assert ran.status == 2
    assert "'graph-fuse-operator' does not refer to a registered pass or pipeline; did you mean" in ran.err


def test_a_defect_of_a_pattern_is_shown_at_the_operation_that_it_rewrites(run):
    ran = run("-p", "rewrites")
    assert ran.status == 1
    assert "<stdin>:3:5: error: internal error in pattern 'Broken' of pass 'rewrites': KeyError: 'axis'" in ran.err
    assert "    func.return %a : i32\n    ^" in ran.err


def test_an_error_in_a_pattern_that_names_no_operation_is_about_the_one_that_it_rewrites(run):
    assert "<stdin>:3:5: error: no such axis" in run("-p", "rewrites{error=user}").err
    assert "<stdin>:3:5: error: no such type" in run("-p", "rewrites{error=diagnostic}").err


def test_statistics_count_operations_and_rewrites(run):
    err = run("-p", "rewrites{error=none},rewrites{error=none}", "--mlir-pass-statistics").err
    assert "Pass statistics report" in err
    assert re.search(r"Rewrites \(rewrites\)\n  \(S\) +6 operations-before", err)
    assert re.search(r"\(S\) +2 rewrites.broken +- Operations that the pattern rewrote", err)


def test_error_in_one_part_does_not_hide_the_others(run):
    ran = run("--split-input-file", stdin=f"}}\n// -----\n{MODULE}// -----\n\n}}\n")
    assert ran.status == 1
    assert ran.out == MODULE
    assert [line for line in ran.err.splitlines() if "error" in line] == [
        "<stdin>:1:1: error: Could not parse entire input!",
        "<stdin>:10:1: error: Could not parse entire input!",
    ]


def test_text_that_does_not_round_trip(run, monkeypatch: pytest.MonkeyPatch):
    from xdsl.dialects.func import ReturnOp

    monkeypatch.setattr(ReturnOp, "print", lambda self, printer: printer.print_string(" nothing"))
    ran = run("--verify-roundtrip")
    assert ran.status == 1
    assert "the custom form does not parse back:" in ran.err
    assert "in 'func.return nothing'" in ran.err


def test_target_is_asked_to_write_the_module(run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    formats = {
        "names": lambda module, target: " ".join(op.name for op in module.walk()),
        "obj": lambda module, target: b"\x7fELF\xff",
    }
    monkeypatch.setattr(LLVMBackend, "formats", formats)
    monkeypatch.setattr(LLVMBackend, "accepts", lambda self, op, around, target: None)
    assert (
        run("--target=llvm", "-t", "names", stdin=MODULE.replace("@f", "@main")).out
        == "builtin.module func.func func.return"
    )
    file = tmp_path / "f.o"
    assert run("--target=llvm", "-t", "obj", "-o", str(file), stdin=MODULE.replace("@f", "@main")).status == 0
    assert file.read_bytes() == b"\x7fELF\xff"
    assert "the formats are mlir, c, ptx, cuda, names, obj" in run("-t", "nowhere").err


def test_semantic_check_watches_every_pass(run, monkeypatch: pytest.MonkeyPatch):
    class SemanticCheck(Instrumentation):
        def after_pass(self, pass_: ModulePass, op: Operation) -> None:
            raise CompileError(f"'{pass_.name}' changes what @f computes", op)

    monkeypatch.setattr("tilework.driver.check_semantics.SemanticCheck", lambda _: SemanticCheck())
    ran = run("-p", "cse", "--check-semantics")
    assert ran.status == 1
    assert "error: 'cse' changes what @f computes" in ran.err
    assert run("-p", "cse").status == 0


def test_closed_pipe_is_quiet():
    program = f"import sys; from tilework.tools.opt_tool import main; sys.exit(main({['-']!r}))"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", program], input=MODULE.encode(), stdout=write, stderr=subprocess.PIPE, timeout=60
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_universe_shares_no_name_with_xdsl():
    from xdsl.universe import XDSL_UNIVERSE, Universe

    from tilework.tools.universe import TILEWORK_UNIVERSE

    assert not TILEWORK_UNIVERSE.all_dialects.keys() & XDSL_UNIVERSE.all_dialects.keys()
    assert not TILEWORK_UNIVERSE.all_passes.keys() & XDSL_UNIVERSE.all_passes.keys()
    assert "graph" in Universe.get_multiverse().all_dialects
