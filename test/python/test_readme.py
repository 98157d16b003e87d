"""What the README shows is what happens: its commands are run, their output compared, its Python executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tilework.tools.cli import command_names
from tilework.tools.lit_in_process import run_line

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OMITTED = "..."


class Shown(NamedTuple):
    """A command, and the lines that it is said to print."""

    command: str
    lines: list[str]


def shown(document: str) -> Iterator[Shown]:
    """Every opt-tool command with the block that follows it."""
    blocks = BLOCK.findall(document)
    for (language, text), (_, output) in zip(blocks, blocks[1:], strict=False):
        if language == "sh" and text.startswith("opt-tool"):
            yield Shown(text.strip(), output.splitlines())


def first_missing(expected: list[str], actual: list[str]) -> str | None:
    """The first expected line that is not where it should be; `...` stands for any number of lines."""
    at, skipping = 0, False
    for line in expected:
        if line == OMITTED:
            skipping = True
            continue
        if skipping and line in actual[at:]:
            at = actual.index(line, at)
        if actual[at : at + 1] != [line]:
            return line
        at, skipping = at + 1, False
    return None if skipping or at == len(actual) else f"(end of output, before {actual[at]!r})"


@pytest.mark.parametrize("example", list(shown(README)), ids=lambda example: example.command.partition("-p ")[2])
def test_command_prints_what_is_shown(example: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    outcome = run_line(example.command, ROOT / "README.md", tmp_path)
    assert outcome.status == 0, outcome.stderr
    missing = first_missing(example.lines, outcome.stdout.splitlines())
    assert missing is None, f"{example.command}\nnow prints\n{outcome.stdout}\nwithout the line\n{missing}"


def test_all_four_levels_and_llvm_are_shown():
    texts = ["\n".join(example.lines) for example in shown(README)]
    for text, word in zip(texts, ["graph.dense", "te.compute", "schedule.split", "loop.for", "fmul"], strict=True):
        assert word in text


def test_a_line_that_differs_is_missing():
    printed = ["a", "b", "c", "d"]
    assert first_missing(["a", "...", "c", "d"], printed) is None
    assert first_missing(["...", "b", "..."], printed) is None
    assert first_missing(["a", "c", "..."], printed) == "c"
    assert first_missing(["...", "c", "b", "..."], printed) == "b"
    assert first_missing(["a", "b"], printed) == "(end of output, before 'c')"
    assert first_missing(["b", "..."], printed) == "b"


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
