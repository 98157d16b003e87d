"""The page that says which of the node tests of the ONNX standard pass, from what `make onnx-tests` has kept."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results") / "onnx-node-tests.json"

OUTCOMES = ("right", "refused", "wrong")

HEAD = """# ONNX: what is supported

The ONNX standard comes with tests of its operators, {known} in onnx {version}: a model of one node, or of what the
node is defined by, with inputs and what they become. `make onnx-tests` compiles and runs them as they stand, and
compares as onnx's own runner does. Of the {count} that the last run came to {right} are right, {specialized} of them
compiled at the first call for the values of some inputs; {refused} are refused with a reason, {wrong} are wrong.

Of the wrong ones, those of DFT expect what is 0 to be 1.9e-7, which is their own rounding, and those of Resize take a
size that is not whole (2.4) for the size of the result where Tilework, as onnxruntime, takes the 2 that it is.

Where the rank of a result depends on the value of an input, such as the axes of a reduction, and where an input is a
sequence or an optional, `tw.compile` returns a module that compiles at the first call with each such value, and keeps
16 of them. A model in which the value is an initializer is compiled at once, and can be saved.
"""

Test = Mapping[str, Any]


def support_page() -> str:
    """The page: how many tests of each operator end how, then the reasons."""
    content = json.loads(RESULTS.read_text(encoding="utf-8"))
    tests: list[Test] = content["tests"]
    counts = {outcome: sum(test["outcome"] == outcome for test in tests) for outcome in OUTCOMES}
    specialized = sum(test["specialized"] for test in tests)
    head = HEAD.format(
        known=content["known"], count=len(tests), version=content["onnx"], specialized=specialized, **counts
    )
    return "\n".join([head, *_operators(tests), *_failures(tests, "wrong"), *_failures(tests, "refused")]) + "\n"


def _operators(tests: Sequence[Test]) -> Iterator[str]:
    of_operator: dict[str, list[Test]] = defaultdict(list)
    for test in tests:
        of_operator[test["operator"]].append(test)
    columns = ("operator", "right", "specialized", "refused", "wrong")
    yield from ("## Operators", "", f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|")
    for operator, own in sorted(of_operator.items()):
        right, refused, wrong = (sum(test["outcome"] == outcome for test in own) for outcome in OUTCOMES)
        specialized = sum(test["specialized"] for test in own)
        shown = [count or "" for count in (specialized, refused, wrong)]
        yield f"| {operator} | {right} of {len(own)} | {' | '.join(map(str, shown))} |"
    yield ""


def _failures(tests: Sequence[Test], outcome: str) -> Iterator[str]:
    """The reasons of an outcome, each with its tests; those that differ in names and numbers alone are one."""
    of_reason: dict[str, list[Test]] = defaultdict(list)
    for test in tests:
        if test["outcome"] == outcome:
            of_reason[_kind(test["reason"])].append(test)
    if not of_reason:
        return
    yield from (f"## What is {outcome}", "")
    for own in sorted(of_reason.values(), key=lambda own: (-len(own), own[0]["name"])):
        names = ", ".join(f"`{test['name'].removeprefix('test_')}`" for test in own)
        yield f"- {_escaped(own[0]['reason'])}: {names}"
    yield ""


def _kind(reason: str) -> str:
    """A reason without what names and shapes are in it."""
    return re.sub(r"\(inputs: .*\)|'[^']*'|[0-9]+", "", reason)


def _escaped(text: str) -> str:
    return re.sub(r"([<>*_|\[\]])", r"\\\1", text)
