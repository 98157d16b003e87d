"""`opt-tool` as a program: exit statuses, files and streams, reproducers; no error of the user's is a traceback.

What it prints for a program that parses is tested with FileCheck in test/tools.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.backends.llvm.backend import LLVMBackend
from tilework.dialects.support.diagnostics import CompileError
from tilework.driver import registry
from tilework.driver.instrumentation import Instrumentation
from tilework.tools import opt_tool, process_module
from tilework.transforms.base import TileworkPass

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


@dataclass
class Ran:
    status: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Runs opt-tool in process with two more passes that fail, and gives what it did."""
    passes = {**registry.all_passes(), "crash": lambda: Crash, "unverifiable": lambda: Unverifiable}
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
        (("--bogus",), 2, "unrecognized arguments: --bogus; see opt-tool --help"),
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
