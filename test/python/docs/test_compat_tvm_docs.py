"""The blocks of docs/from-tvm-te.md run, and print what stands below them; the names of TVM are there."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import tomllib

import pytest
from places import ROOT

import tilework as tw
import tilework.compat.tvm as tvm

PAGE = ROOT / "docs" / "from-tvm-te.md"
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(```(mlir)?\n(?P<printed>.*?)```\n)?", re.DOTALL)
NAMES: dict[str, list[str]] = tomllib.loads((ROOT / "test" / "te-names.toml").read_text(encoding="utf-8"))


def test_blocks():
    names: dict[str, object] = {}
    blocks = list(BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    assert len(blocks) >= 8 and sum(block["printed"] is not None for block in blocks) >= 3
    for number, block in enumerate(blocks):
        file = f"<block {number} of the page>"  # where hybrid scripts find their source
        linecache.cache[file] = (len(block["code"]), None, block["code"].splitlines(keepends=True), file)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block["code"], file, "exec"), names)
        assert printed.getvalue().strip() == (block["printed"] or "").strip()


@pytest.mark.parametrize("name", [f"{home}.{name}" for home, names in NAMES.items() for name in names])
def test_every_name_is_there_or_says_what_to_do_instead(name: str):
    found: object = tvm
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    instead = getattr(found, "instead", None)
    if instead is not None:
        assert callable(found)
        with pytest.raises(
            tw.UsageError, match=rf"^{re.escape(getattr(found, '__tvm_name__', name))} is not supported: "
        ):
            found()


def test_a_method_that_is_refused():
    te = tvm.te
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i], name="B")
    with pytest.raises(
        tw.UsageError, match="^rolling_buffer of stage 'B' is not supported: compute the stage at an axis"
    ):
        te.create_schedule(B.op)[B].rolling_buffer()
