"""The pages of docs/ say what is so: generated ones are current, files and variables that are named exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generated_pages import DOCS, generate
from places import ROOT

from tilework.driver.registry import all_passes
from tilework.lowering.pipelines import PIPELINES

ARCHITECTURE = (DOCS / "architecture.md").read_text(encoding="utf-8")
VARIABLE = r"[A-Z]+(?:_[A-Z]+)+|LOCALAPPDATA"


@pytest.mark.parametrize("name", generate.PAGES)
def test_page_is_current(name: str):
    written = (ROOT / name).read_text(encoding="utf-8")
    assert written == generate.PAGES[name](), f"{name} is stale: run `python docs/generate.py`"


def test_pages_about_plugins_show_all_of_the_example():
    pages = "".join((ROOT / name).read_text(encoding="utf-8") for name in generate.PAGES_WITH_FILES)
    example = ROOT / "examples" / "plugin"
    files = [file for ending in ("py", "mlir", "toml") for file in example.rglob(f"*.{ending}")]
    shown = {name for name, _, _ in generate.SHOWN_FILE.findall(pages)}
    left_out = {str(file.relative_to(ROOT)) for file in files} - shown
    assert {Path(name).name for name in left_out} == {"__init__.py", "snake-ops.mlir"}


def test_pages_show_every_operation_with_its_syntax():
    page = generate.dialects_page().splitlines()
    for level in generate.LEVELS:
        for op in generate.load_dialect(level).operations:
            syntax = [line for line in page if re.search(rf"(?<![\w@\"]){re.escape(op.name)}(?![\w.])", line)]
            is_bare = op.name in map(str.strip, (op.__doc__ or "").splitlines())
            assert is_bare or any(line != op.name for line in syntax), op.name


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (DOCS / target).resolve().is_file(), target


def test_every_entry_of_tvm_has_a_test_or_a_reason():
    table, tested = generate.conformance_table(), set(generate.counterparts())
    entries = {f"{file}/{name}" for file, names in table["tests"].items() for name in names}
    reasoned = {entry for entry in entries if {entry, entry.partition("/")[0]} & set(table["not_applicable"])}
    still_open = set(table["open"])
    assert entries - tested - reasoned - still_open == set(), "TVM tests this: test it, or say why not"
    assert tested - entries == set(), "a test stands for an entry that is not in the list"
    assert tested & reasoned == set(), "tested, and said to be not applicable"
    assert (tested | reasoned) & still_open == set(), f"no longer open: take them out of {generate.TVM_TESTS.name}"
    assert still_open <= entries
    assert all(key in entries or key in table["tests"] for key in table["not_applicable"])


def test_a_test_names_what_it_stands_for():
    python = "# tvm: a/b c/d\n@pytest.mark.slow\ndef test_x(): ...\n"
    assert list(generate.stands_for(python)) == [("a/b", "test_x"), ("c/d", "test_x")]
    kernel = "// tvm: a/b\n// Padding, @y too.\nloop.kernel @x ins(%x: i1) {\n"
    assert list(generate.stands_for(kernel)) == [("a/b", "x")]


def test_architecture_names_what_there_is():
    known = {*all_passes(), *PIPELINES}
    steps = re.findall(r"^\| `([a-z-]+)`", ARCHITECTURE, re.MULTILINE)
    assert {"optimize-graph", "lower-to-te", "compile-kernel", "plan-host"} <= set(steps) <= known
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", ARCHITECTURE + contributing):
        assert (ROOT / path).exists(), path


def test_every_environment_variable_is_explained():
    table = ARCHITECTURE.partition("## Environment variables")[2]
    sources = [
        file.read_text(encoding="utf-8")
        for init in ROOT.glob("[a-z]*/__init__.py")
        for file in init.parent.rglob("*.py")
    ]
    read = {name for text in sources for name in re.findall(rf"environ\.get\(\"({VARIABLE})\"", text)}
    assert "TILEWORK_CACHE" in read
    assert read == set(re.findall(rf"`({VARIABLE})`", table))
