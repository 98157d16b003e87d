"""The Python blocks of docs/tuning.md run."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from places import ROOT

import tilework as tw

PAGE = (ROOT / "docs" / "tuning.md").read_text(encoding="utf-8")


def test_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    before = tw.get_num_threads()
    tw.set_num_threads(1)
    try:
        names: dict[str, object] = {}
        blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
        assert len(blocks) == 3
        for block in blocks:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(block, names)
    finally:
        tw.set_num_threads(before)
