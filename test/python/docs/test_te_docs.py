"""The Python blocks of docs/te.md run, and print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
from places import ROOT

import tilework as tw
from tilework import te

PAGE = ROOT / "docs" / "te.md"
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(```mlir\n(?P<printed>.*?)```\n)?", re.DOTALL)


def test_blocks():
    names: dict[str, object] = {}
    blocks = list(BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    assert len(blocks) >= 4 and any(block["printed"] for block in blocks)
    for block in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(block["code"], names)
        assert printed.getvalue().strip() == (block["printed"] or "").strip()


def test_the_kernel_of_a_module(tmp_path: Path):
    [text] = re.findall(r"\n\n```mlir\n(te\.kernel @scale.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "kernel.mlir").write_text(text)
    (tmp_path / "named.mlir").write_text(text[text.index("func.func") :])

    @tw.kernel
    def scale(x: te.Tensor, by: te.Tensor) -> te.Tensor:
        return te.compute(x.shape, lambda i, c: x[i, c] * by[c], name="scale")

    x, by = np.random.rand(8, 16).astype(np.float32) - 0.5, np.random.rand(16).astype(np.float32)
    for name, kernels in (("kernel.mlir", None), ("named.mlir", {"scale": scale})):
        m = tw.compile(tmp_path / name, kernels=kernels)
        np.testing.assert_allclose(m(x, by), np.maximum(x * by, 0), rtol=1e-6)
        assert m.report is not None and m.report.kernels == ["scale_relu"]


def test_every_method_of_a_stage_is_in_the_table():
    text = PAGE.read_text(encoding="utf-8")
    internal = {"leaf", "refusal", "nest", "spatial_leaves", "reduce_leaves", "replace_op"}
    methods = {name for name, value in vars(te.Stage).items() if callable(value) and not name.startswith("_")}
    assert {name for name in methods - internal if not re.search(rf"`{name}[`(]", text)} == set()
