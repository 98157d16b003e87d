"""Docstrings are sentences that do not hang on the name above them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fragments import docstrings, is_fragment
from places import ROOT

FOLDERS = sorted(
    folder
    for folder in ROOT.iterdir()
    if folder.is_dir() and not folder.name.startswith(".") and folder.name != "build"
)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_docstring_is_a_fragment(folder: Path):
    fragments = [
        f"{file.relative_to(ROOT)}:{docstring.line}: {docstring.name}: {docstring.text.splitlines()[0]}"
        for file in sorted(folder.rglob("*.py"))
        for docstring in docstrings(file.read_text(encoding="utf-8"))
        if is_fragment(docstring.text)
    ]
    assert fragments == [], "say what it is or does, in a sentence with a verb"


@pytest.mark.parametrize("text", ["Of its weight; not yet inserted.", "As `lower`.", "By the name, then by opset."])
def test_a_phrase_without_a_verb_is_a_fragment(text: str):
    assert is_fragment(text)


@pytest.mark.parametrize(
    "text",
    [
        "The loops of a schedule.",
        "Fuse operators.",
        "For every index, the element is read.",
        "In place of the first row,\nthe second one stands.",
    ],
)
def test_sentences_and_descriptions_are_none(text: str):
    assert not is_fragment(text)


SOURCE = """\'\'\'m\'\'\'
X = 1
\'\'\'x\'\'\'
class C:
    \'\'\'c\'\'\'
    y: int = 0
    \'\'\'y\'\'\'
    def f(self):
        \'\'\'f\'\'\'
        "no docstring"
"""


def test_docstrings_of_modules_classes_functions_and_values_are_found():
    found = {(docstring.name, docstring.text) for docstring in docstrings(SOURCE)}
    assert found == {("the module", "m"), ("X", "x"), ("C", "c"), ("y", "y"), ("f", "f")}
