"""The in-process runner of RUN lines: what it understands, what it refuses, and that failures fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilework.tools.lit_in_process import UnsupportedRunLine, run_line, run_lines, run_test

MODULE = "func.func @f() {\n  func.return\n}\n"


@pytest.fixture
def test_file(tmp_path: Path) -> Path:
    file = tmp_path / "case.mlir"
    file.write_text(f"// CHECK: func.func @f\n// OTHER: func.func @g\n{MODULE}")
    return file


def status(line: str, file: Path) -> int:
    return run_line(line, file, file.parent).status


@pytest.mark.parametrize(
    "line",
    [
        "opt-tool %s",
        "opt-tool %s | filecheck %s",
        "opt-tool %s -o %t && filecheck --input-file=%t %s",
        "opt-tool < %s | filecheck %s",
        "opt-tool %s > %t && opt-tool %t | filecheck %s",
        "opt-tool %s | opt-tool | filecheck %s",
        "opt-tool %s | filecheck %s --check-prefix=CHECK",
        "opt-tool %s | not filecheck %s --check-prefix=OTHER",
        "not opt-tool %S/nowhere",
        "not opt-tool --bogus 2> %t && not filecheck %s --input-file=%t",
        "opt-tool '%s' --pass-pipeline='builtin.module(cse, dce)'",
    ],
)
def test_lines_that_succeed(test_file: Path, line: str):
    assert status(line, test_file) == 0


@pytest.mark.parametrize(
    "line",
    [
        "not opt-tool %s",
        "opt-tool --bogus",
        "opt-tool %s | filecheck %s --check-prefix=OTHER",
        "opt-tool %s | filecheck %s --check-prefix=ABSENT",
        "opt-tool --bogus | not filecheck %s",
        "opt-tool --bogus && opt-tool %s",
        "opt-tool %s > %t | filecheck %s",
        "opt-tool %s | filecheck --unknown-flag",
    ],
)
def test_lines_that_fail(test_file: Path, line: str):
    assert status(line, test_file) != 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mlir-opt %s | filecheck %s", "does not know the command 'mlir-opt': it knows opt-tool, tilework, filecheck"),
        ("opt-tool %s >> %t", "does not understand '>>'"),
        ("opt-tool %s ; opt-tool %s", "does not understand ';'"),
        ("opt-tool %s || opt-tool %s", "does not understand '||'"),
        ("opt-tool %s &&", "a command without a name"),
        ("not", "a command without a name"),
    ],
)
def test_lines_that_are_refused(test_file: Path, line: str, message: str):
    with pytest.raises(UnsupportedRunLine, match=message.replace("|", r"\|")):
        run_line(line, test_file, test_file.parent)


def test_stderr_goes_through_the_pipe_only_when_joined(test_file: Path):
    test_file.write_text(f"// CHECK: unrecognized\n{MODULE}")
    assert status("not opt-tool --bogus 2>&1 | filecheck %s", test_file) == 0
    assert status("not opt-tool --bogus | filecheck %s --allow-empty", test_file) == 1


def test_run_lines_are_found_and_continued(test_file: Path):
    test_file.write_text("// RUN: opt-tool %s \\\n// RUN:   | filecheck %s\n// XRUN: no\n  // RUN: opt-tool\n")
    assert run_lines(test_file) == ["opt-tool %s | filecheck %s", "opt-tool"]


def test_report_of_a_failure_shows_the_line_and_what_was_said(test_file: Path):
    test_file.write_text(f"// RUN: opt-tool %s\n// RUN: opt-tool %s --bogus\n{MODULE}")
    report = run_test(test_file, test_file.parent)
    assert report is not None
    assert report.startswith(
        "RUN: opt-tool %s --bogus\nexit status 2\nopt-tool: error: unrecognized arguments: --bogus"
    )
