"""Every operation of our dialects is shown in a test that round-trips, and is refused in a test of what is invalid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from places import ROOT

from tilework.dialects.support.registration import tilework_dialects
from tilework.tools.lit_in_process import run_lines

TESTS = ROOT / "test" / "dialects"
DIALECTS = {name: load() for name, load in tilework_dialects().items()}


def unmentioned(dialect: str, kind: str) -> list[str]:
    """The operations of a dialect whose names no test file of this kind writes."""
    texts = [file.read_text(encoding="utf-8") for file in (TESTS / dialect).glob(f"*{kind}*.mlir")]
    names = [op.name for op in DIALECTS[dialect].operations if op.__module__.startswith("tilework.")]
    patterns = {name: re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w.])") for name in names}
    return [name for name in names if not any(patterns[name].search(text) for text in texts)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_operation_is_shown(dialect: str):
    missing = unmentioned(dialect, "ops")
    assert not missing, f"no test/dialects/{dialect}/*ops*.mlir shows {', '.join(missing)}"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_operation_is_refused(dialect: str):
    missing = unmentioned(dialect, "invalid")
    assert not missing, f"no test/dialects/{dialect}/*invalid*.mlir refuses {', '.join(missing)}"


def round_trips(lines: list[str]) -> bool:
    """Do these RUN lines print and parse back both the custom and the generic form?"""
    if any("--verify-roundtrip" in line for line in lines):
        return True
    piped = [line.partition("|")[0] for line in lines if line.count("opt-tool") > 1]
    return {"print-op-generic" in first for first in piped} == {True, False}


@pytest.mark.parametrize("file", sorted(TESTS.glob("*/*ops*.mlir")), ids=lambda file: f"{file.parent.name}/{file.name}")
def test_operations_round_trip_in_custom_and_generic_form(file: Path):
    assert round_trips(run_lines(file)), "no RUN line says --verify-roundtrip"


@pytest.mark.parametrize(
    "file", sorted(TESTS.glob("*/*invalid*.mlir")), ids=lambda file: f"{file.parent.name}/{file.name}"
)
def test_refusals_are_checked(file: Path):
    checked = [line for line in run_lines(file) if "--verify-diagnostics" in line or line.startswith("not ")]
    assert checked, "no RUN line checks what is reported"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_attributes_and_operations_carry_the_dialect_name(dialect: str):
    names = [op.name for op in DIALECTS[dialect].operations] + [attr.name for attr in DIALECTS[dialect].attributes]
    assert [name for name in names if not name.startswith(f"{dialect}.")] == []
