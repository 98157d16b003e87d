"""The Python blocks of docs/te.md run, and print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "te.md"
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(```mlir\n(?P<printed>.*?)```\n)?", re.DOTALL)


def test_blocks():
    names: dict[str, object] = {}
    blocks = list(BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    assert len(blocks) >= 4 and any(block["printed"] for block in blocks)
    for block in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(block["code"], names)
        assert printed.getvalue().strip() == (block["printed"] or "").strip()


def test_every_method_of_a_stage_is_in_the_table():
    from tilework import te

    text = PAGE.read_text(encoding="utf-8")
    internal = {"leaf", "refusal", "nest", "spatial_leaves", "reduce_leaves", "replace_op"}
    methods = {name for name, value in vars(te.Stage).items() if callable(value) and not name.startswith("_")}
    assert {name for name in methods - internal if not re.search(rf"`{name}[`(]", text)} == set()
