"""Every `.mlir` file with RUN lines under `test/`, run in process. `lit test` runs the same lines as programs."""

from pathlib import Path

import pytest
from places import ROOT

from tilework.tools.lit_in_process import run_lines, run_test

FILES = sorted(file for file in (ROOT / "test").rglob("*.mlir") if "Output" not in file.parts and run_lines(file))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT / "test")))
def test_run_lines(file: Path, tmp_path: Path):
    failure = run_test(file, tmp_path)
    assert failure is None, failure
