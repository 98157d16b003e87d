"""What graph passes and rules made of a program is read from the cache, and compiles to the same code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx_models import model, node
from places import ROOT

import tilework as tw
from tilework.algebra.errors import UsageError
from tilework.driver import known_programs
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.session import Session
from tilework.runtime.cache import KernelCache

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The phases that ran."""
    phases: list[str] = []
    run = Session.run

    def noted(self: Session, phase: str, *arguments: object, **options: str) -> None:
        phases.append(phase)
        run(self, phase, *arguments, **options)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(Session, "run", noted)
    return phases


def test_who_compiles_again_runs_no_graph_pass(tmp_path: Path, ran: list[str]):
    """The code, its parameters and what the manifest says are the same; so are layouts, Winograd's and @prepare."""
    first, again = (tw.compile(DIGITS, cache=KernelCache(tmp_path)) for _ in range(2))
    assert ran.count("apply-rules") == ran.count("optimize-graph") == 1
    assert [bytes(o) for o in first.objects] == [bytes(o) for o in again.objects]
    assert first.manifest == again.manifest
    assert first.parameters.keys() == again.parameters.keys()
    for name, array in first.parameters.items():
        np.testing.assert_array_equal(array, again.parameters[name])


def test_requirements_are_known_again(tmp_path: Path, ran: list[str]):
    made = model([node("Split", "x", "a b", axis=0)], {"x": ["N", 4]}, "a b")
    first, again = (tw.compile(made, cache=KernelCache(tmp_path)) for _ in range(2))
    assert ran.count("apply-rules") == 1
    assert first.manifest.requirements == again.manifest.requirements != ()
    for module in (first, again):
        with pytest.raises(UsageError, match="2 equal parts of an axis of size N"):
            module(np.zeros((3, 4), np.float32))


def test_another_precision_is_another_choice(tmp_path: Path, ran: list[str]):
    for precision in ("default", "strict"):
        tw.compile(DIGITS, cache=KernelCache(tmp_path), precision=precision)
    assert ran.count("apply-rules") == 2


def test_another_compiler_chooses_anew(tmp_path: Path, ran: list[str], monkeypatch):
    made = model([node("Relu", "x", "y")], {"x": ["N", 4]}, "y")
    tw.compile(made, cache=KernelCache(tmp_path))
    monkeypatch.setattr(known_programs, "source_hash", lambda: "another")
    tw.compile(made, cache=KernelCache(tmp_path))
    assert ran.count("apply-rules") == 2


def test_who_watches_sees_every_pass(tmp_path: Path, ran: list[str]):
    made = model([node("Relu", "x", "y")], {"x": ["N", 4]}, "y")
    for _ in range(2):
        tw.compile(made, cache=KernelCache(tmp_path), instrumentations=[Instrumentation()])
    assert ran.count("apply-rules") == 2


def test_what_fails_is_not_kept(tmp_path: Path, ran: list[str], monkeypatch):
    """Its error would have no location the next time."""
    made = model([node("Relu", "x", "y")], {"x": ["N", 4]}, "y")

    def fail(*_: object) -> None:
        raise ValueError("no code")

    with monkeypatch.context() as patch:
        patch.setattr("tilework.driver.compile_model.compile_kernels", fail)
        with pytest.raises(ValueError, match="no code"):
            tw.compile(made, cache=KernelCache(tmp_path))
    tw.compile(made, cache=KernelCache(tmp_path))
    assert ran.count("apply-rules") == 2


def test_errors_name_the_nodes_of_each_program(tmp_path: Path):
    for name in ("first", "second"):
        made = model([node("Split", "x", "a b", axis=0, name=name)], {"x": ["N", 4]}, "a b")
        module = tw.compile(made, cache=KernelCache(tmp_path))
        with pytest.raises(UsageError, match=f"'{name}'"):
            module(np.zeros((3, 4), np.float32))
