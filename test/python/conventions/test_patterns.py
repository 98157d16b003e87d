"""Passes are sets of rewrite patterns, or say why not, and each pattern is applied alone by a test."""

from __future__ import annotations

import inspect
import re

import pytest
from generated_pages import generate
from places import ROOT
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern

from tilework.driver.patterns import all_patterns
from tilework.driver.registry import tilework_passes
from tilework.transforms.patterns import PatternPass

NAMED = r"--apply-pattern ([\w.-]+)"
"""A pattern in a RUN line."""
PASSES = {name: load() for name, load in tilework_passes().items()}
OWN = {name: listed.pattern for name, listed in all_patterns().items() if "tilework" in listed.pattern.__module__}
"""The patterns that are not xDSL's; one that several passes have stands there under several names."""


@pytest.mark.parametrize("pass_type", PASSES.values(), ids=PASSES)
def test_a_pass_has_patterns_or_says_why_not(pass_type: type[ModulePass]):
    patterns = issubclass(pass_type, PatternPass) and pass_type.pattern_types()
    assert bool(patterns) != bool(generate.why_no_pattern(pass_type)), (
        f"{pass_type.__name__} needs patterns, or a sentence 'This is an algorithm and no pattern: ...', not both"
    )


def test_the_page_says_what_is_a_pattern_and_what_is_not():
    page = generate.passes_page()
    assert "- pattern `loop-unroll.separate-tiles`: Each iteration of an unrolled loop" in page
    assert "- `loop-partition`: where to cut a loop depends on" in page


def test_every_pattern_is_applied_alone():
    text = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "test").glob("**/*.mlir") if "Output" not in file.parts
    )
    applied = {name for line in re.findall(r"// RUN: (opt-tool .*)", text) for name in re.findall(NAMED, line)}
    assert {pattern.__name__ for pattern in {*OWN.values()} - {OWN.get(name) for name in applied}} == set()


@pytest.mark.parametrize("pattern", OWN.values(), ids=OWN)
def test_a_pattern_states_its_algebra(pattern: type[RewritePattern]):
    sentence = inspect.cleandoc(pattern.__doc__ or "").partition("\n\n")[0]
    assert sentence.endswith("."), pattern
