"""What docs/embedding.md shows is done: its Python, its commands, its program of C, and what that prints."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from c_compilers import need_compiler
from places import ROOT

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_is_right(tmp_path: Path):
    need_compiler("cc")
    if shutil.which("make") is None:
        pytest.skip("there is no make on this machine")
    page = (ROOT / "docs" / "embedding.md").read_text()
    shutil.copytree(ROOT / "examples" / "digits", tmp_path / "examples" / "digits")
    blocks = BLOCK.findall(page)
    assert [language for language, _ in blocks] == ["python", "sh", "sh", "c", "sh"]
    printed = ""
    for language, text in blocks:
        match language:
            case "python":
                subprocess.run([sys.executable, "-c", text], cwd=tmp_path, check=True)
            case "c":
                (tmp_path / "program.c").write_text(text)
            case _:
                command = text.replace("make -C", "make CFLAGS=-O0 -C")
                printed = subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, capture_output=True).stdout
    (promised,) = re.findall(r"It prints `(.*)`", page)
    assert printed.decode().strip() == promised
    assert not (tmp_path / "digits" / "probabilities.raw").read_bytes().startswith(bytes(8))
