"""What the README shows is what happens: its commands are run, their output compared, its Python executed."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from tilework.tools.cli import command_names

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPEC = importlib.util.spec_from_file_location("generate_docs", ROOT / "docs" / "generate.py")
assert SPEC is not None and SPEC.loader is not None
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)


@pytest.mark.parametrize("shown", generate.SHOWN.findall(README), ids=lambda shown: shown[0].partition("-p ")[2])
def test_command_prints_what_is_shown(shown: tuple[str, str, str]):
    command, _, output = shown
    assert generate.output_of(command) == output, "the README is stale: run `python docs/generate.py`"


def test_all_four_levels_and_llvm_are_shown():
    outputs = [output for _, _, output in generate.SHOWN.findall(README)]
    for output, word in zip(
        outputs, ["graph.dense", "te.compute", "schedule.split", "loop.for", "llvm.fma"], strict=True
    ):
        assert word in output
    assert README.count("\nopt-tool ") == len(outputs)


def test_commands_do_not_depend_on_the_machine():
    for command, _, _ in generate.SHOWN.findall(README):
        assert "schedule" not in command or "-mcpu=haswell" in command, command


def test_a_command_that_fails_is_reported():
    with pytest.raises(RuntimeError, match="no-such-pass"):
        generate.output_of("opt-tool examples/dense_relu/dense_relu.mlir -p no-such-pass")


def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import tilework as tw

    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    threads = tw.get_num_threads()
    [program] = [text for language, text in BLOCK.findall(README) if language == "python"]
    names: dict[str, object] = {}
    try:
        exec(program, names)
        m, x, y = names["m"], names["x"], names["y"]
        assert isinstance(m, tw.Module) and m.report is None and isinstance(y, np.ndarray)
        np.testing.assert_array_equal(m.run({"images": x})["probabilities"], y)
        assert tw.get_num_threads() == 1
    finally:
        tw.set_num_threads(threads)


def test_named_commands_folders_and_pages_are_there():
    for command in re.findall(r"`tilework (\w+)", README):
        assert command in command_names()
    for page in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / page).is_file(), page
    listed = re.findall(r"^\| `(\w+)/` \|", README, re.MULTILINE)
    there = {path.parent.name for path in ROOT.glob("[a-z]*/__init__.py")} | {"test"}
    assert set(listed) == there
