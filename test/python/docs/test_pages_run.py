"""The blocks of Python in the pages for users run, one after the other, in a folder with the examples."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["tutorial.md", "python.md", "examples.md"])
def test_the_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    assert blocks
    namespace: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), namespace)


def test_the_site_has_every_page():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r": ([\w-]+\.md)$", navigation, re.MULTILINE)
    assert sorted(listed) == sorted([*(page.name for page in DOCS.glob("*.md")), "index.md"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "docs" in project["optional-dependencies"]
