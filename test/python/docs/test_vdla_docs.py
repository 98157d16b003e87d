"""The Python blocks of docs/vdla.md run, and print what stands below them."""

from __future__ import annotations

import contextlib
import io
import re

from places import ROOT

from tilework.targets.vdla.target import NUMBERS, option_of

PAGE = (ROOT / "docs" / "vdla.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<printed>.*?)```\n", re.DOTALL)


def test_blocks():
    names: dict[str, object] = {}
    blocks = list(BLOCK.finditer(PAGE))
    assert len(blocks) == PAGE.count("```python") == 3
    for block in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(block["code"], names)
        assert printed.getvalue().strip() == block["printed"].strip()


def test_every_option_is_in_the_table():
    assert [number for number in NUMBERS if f"`{option_of(number)}`" not in PAGE] == []
