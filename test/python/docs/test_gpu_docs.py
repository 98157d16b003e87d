"""The Python blocks of docs/gpu.md run, and print what stands below them; its wrong program is refused as it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from places import ROOT

from tilework.tools.opt_tool import main

PAGE = (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(\n```mlir\n(?P<printed>.*?)```\n)?", re.DOTALL)


def test_blocks():
    names: dict[str, object] = {}
    blocks = list(BLOCK.finditer(PAGE))
    assert len(blocks) >= 3 and any(block["printed"] for block in blocks)
    for block in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(block["code"], names)
        assert printed.getvalue().strip() == (block["printed"] or "").strip()


def test_a_missing_barrier_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    [(program, message)] = re.findall(r"```mlir\n// RUN: .*?\n(.*?)```\n\n```\n(.*?)\n```", PAGE, re.DOTALL)
    file = tmp_path / "reversed.mlir"
    file.write_text(program)
    assert main([str(file), "-p", "loop-map-threads", "--check-semantics"]) == 1
    assert message in capsys.readouterr().err
