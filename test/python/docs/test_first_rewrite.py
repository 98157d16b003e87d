"""The diffs of docs/your-first-rewrite.md apply to a copy of the repository, and the tests that they bring pass there.

The copy is what runs: it stands first on the path, and every process says where its `tilework` comes from. As a
control, the same tests without the rest of their diffs fail.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

DOCUMENT = ROOT / "docs" / "your-first-rewrite.md"
DIFFS = re.findall(r"^```diff\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
"""A pass, an operator, a rule, an algorithm, an intrinsic."""
RUN_TESTS = """
import sys
from pathlib import Path
import tilework.tools.lit_in_process as runner
assert Path(runner.__file__).resolve().is_relative_to(sys.argv[1]), runner.__file__
failures = [runner.run_test(Path(test), Path(sys.argv[2])) for test in sys.argv[3:]]
print("\\n".join(filter(None, failures)))
sys.exit(sum(map(bool, failures)))
"""


class Checkout:
    """A copy of the files and links that git knows or would add, as they are now."""

    def __init__(self, folder: Path):
        self.root = folder / "copy"
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            if os.path.lexists(ROOT / name):
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, self.root / name, follow_symlinks=False)

    def apply(self, diff: str, *arguments: str) -> None:
        command = ["git", "apply", *arguments, "-"]
        subprocess.run(command, input=diff, cwd=self.root, text=True, check=True)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python on the copy, where the next one finds the bytecode of this one."""
        environment = {**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)

    def run_tests(self, tests: list[str]) -> subprocess.CompletedProcess[str]:
        """The exit status counts those that fail."""
        return self.python("-c", RUN_TESTS, str(self.root), str(self.root.parent), *tests)


def filecheck_tests(diff: str) -> list[str]:
    """The FileCheck tests that a diff adds."""
    return re.findall(r"^\+\+\+ b/(test/\S+\.mlir)$", diff, re.MULTILINE)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    return Checkout(tmp_path)


def test_there_are_five_diffs_with_tests():
    assert len(DIFFS) == 5 and all(filecheck_tests(diff) for diff in DIFFS)


def test_diffs_apply_and_their_tests_pass(checkout: Checkout):
    for diff in DIFFS:
        checkout.apply(diff)
    outcome = checkout.run_tests([test for diff in DIFFS for test in filecheck_tests(diff)])
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    selected = [
        "test/python/frontends/onnx/test_onnx_operators.py",
        "test/python/conventions/test_passes_agree.py",
        "-k",
        "Trilu or idle",
    ]
    outcome = checkout.python("-m", "pytest", *selected)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert re.search(r"[4-9] passed", outcome.stdout), outcome.stdout


def test_the_pages_are_current_once_the_command_has_run(checkout: Checkout):
    for diff in DIFFS:
        checkout.apply(diff)
    command = re.findall(r"^python (docs/.*)$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    current = ["-m", "pytest", "test/python/docs/test_docs.py", "-k", "page_is_current and (dialects or passes)"]
    assert checkout.python(*current).returncode == 1
    outcome = checkout.python(*command)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    outcome = checkout.python(*current)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_without_the_rest_of_its_diff_every_test_fails(checkout: Checkout):
    for diff in DIFFS:
        checkout.apply(diff, "--include=test/*.mlir", "--include=test/*/*.mlir")
    tests = [test for diff in DIFFS for test in filecheck_tests(diff)]
    assert all((checkout.root / test).exists() for test in tests)
    outcome = checkout.run_tests(tests)
    assert outcome.returncode == len(tests) > 1, outcome.stdout + outcome.stderr
