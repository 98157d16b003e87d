"""The graph interpreter: functions, fused groups, constants, parameters; @prepare, one parameter at a time."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.interpreters.graph import prepare_parameters, run_function

Array = np.ndarray[Any, Any]

V = "tensor<3xf32>"
X = np.array([-1, 0, 2], np.float32)

MAIN = f"""
func.func @main(%x: {V}) -> ({V}, {V}) {{
  %one = arith.constant dense<1.0> : {V}
  %c = arith.constant dense<[0.5, -1.0, 2.0]> : {V}
  %w = graph.parameter @w : {V}
  %a, %b = graph.fused "pair" (%x, %w) : ({V}, {V}) -> ({V}, {V}) {{
  ^bb0(%p: {V}, %q: {V}):
    %sum = graph.add %p, %q : ({V}, {V}) -> {V}
    %relu = graph.relu %sum : ({V}) -> {V}
    graph.yield %relu, %sum : {V}, {V}
  }}
  %d = graph.mul %a, %c : ({V}, {V}) -> {V}
  %e = graph.sub %b, %one : ({V}, {V}) -> {V}
  func.return %d, %e : {V}, {V}
}}
"""


def parse(text: str) -> ModuleOp:
    return SourceParser(make_context(), text, "<test>").parse_module()


def test_function_with_a_fused_group():
    d, e = run_function(parse(MAIN), "main", [X], {"w": np.array([3, -1, 1], np.float32)})
    np.testing.assert_array_equal(d, [1, 0, 6])
    np.testing.assert_array_equal(e, [1, -2, 2])


def test_observer_sees_every_value():
    seen: dict[str | None, Array] = {}

    def observe(value: SSAValue, array: Array) -> None:
        seen[value.name_hint] = array

    run_function(parse(MAIN), "main", [X], {"w": X}, observe)
    assert seen.keys() == {"x", "one", "c", "w", "p", "q", "sum", "relu", "a", "b", "d", "e"}
    np.testing.assert_array_equal(seen["relu"], [0, 0, 4])


def test_values_are_forgotten_after_their_last_use():
    lines = [f"%v{i + 1} = graph.neg %v{i} : ({V}) -> {V}" for i in range(9)]
    module = parse("\n".join([f"func.func @main(%v0: {V}) -> {V} {{", *lines, f"func.return %v9 : {V}", "}"]))
    alive: list[weakref.ref[Array]] = []
    most = 0

    def observe(value: SSAValue, array: Array) -> None:
        nonlocal most
        alive.append(weakref.ref(array))
        most = max(most, sum(ref() is not None for ref in alive))

    run_function(module, "main", [X], {}, observe)
    assert most == 3  # the input, which the caller keeps; one operand; one result


def test_a_returned_argument_and_a_value_used_twice():
    module = parse(f"""
    func.func @main(%x: {V}) -> ({V}, {V}, {V}) {{
      %y = graph.add %x, %x : ({V}, {V}) -> {V}
      func.return %x, %y, %y : {V}, {V}, {V}
    }}""")
    results = run_function(module, "main", [X], {})
    np.testing.assert_array_equal(results, [X, X * 2, X * 2])


@pytest.mark.parametrize(
    ("name", "inputs", "parameters", "message"),
    [
        ("other", [X], {}, "the module has no function @other"),
        ("main", [], {"w": X}, "@main takes 1 inputs, 0 are given"),
        ("main", [X[:2]], {"w": X}, r"input 0 of @main is float32\[3\], not float32\[2\]"),
        ("main", [X.astype(np.float64)], {"w": X}, r"input 0 of @main is float32\[3\], not float64\[3\]"),
        ("main", [X], {}, "there is no parameter @w"),
        ("main", [X], {"w": X[:, None]}, r"parameter @w is float32\[3\], not float32\[3, 1\]"),
    ],
)
def test_what_does_not_fit(name: str, inputs: list[Array], parameters: dict[str, Array], message: str):
    with pytest.raises(UsageError, match=message):
        run_function(parse(MAIN), name, inputs, parameters)


def test_an_operation_of_another_level():
    module = parse(f'func.func @main(%x: {V}) -> {V} {{ %y = "test.op"(%x) : ({V}) -> {V} func.return %y : {V} }}')
    with pytest.raises(CompileError, match="the graph interpreter does not know 'test.op'"):
        run_function(module, "main", [X], {})


# ---- @prepare --------------------------------------------------------------------------------------------------------

PREPARE = f"""
func.func @prepare() {{
  %a = graph.parameter @a : {V}
  %b = graph.parameter @b : {V}
  %big = graph.mul %a, %a : ({V}, {V}) -> {V}
  %sum = graph.add %big, %b : ({V}, {V}) -> {V}
  graph.define_parameter @ab, %sum : {V}
  %c = graph.parameter @c : {V}
  %neg = graph.neg %c : ({V}) -> {V}
  graph.define_parameter @c, %neg : {V}
  func.return
}}
func.func @main(%x: {V}) -> {V} {{
  %ab = graph.parameter @ab : {V}
  %c = graph.parameter @c : {V}
  %d = graph.parameter @d : {V}
  %p = graph.add %ab, %c : ({V}, {V}) -> {V}
  %q = graph.add %p, %d : ({V}, {V}) -> {V}
  func.return %q : {V}
}}
"""


class Recorded(Mapping[str, Array]):
    """Parameters that note which ones were read, in order."""

    def __init__(self, **arrays: Array):
        self.arrays = arrays
        self.read: list[str] = []

    def __getitem__(self, name: str) -> Array:
        self.read.append(name)
        return self.arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)


def test_prepared_parameters():
    parameters = Recorded(a=X, b=X + 1, c=X, d=X * 10, unused=X)
    prepared = prepare_parameters(parse(PREPARE), parameters)
    assert list(prepared) == ["ab", "c", "d"]
    np.testing.assert_array_equal(prepared["ab"], X * X + X + 1)
    np.testing.assert_array_equal(prepared["c"], -X)
    assert prepared["d"] is parameters.arrays["d"]
    assert parameters.read == ["a", "b", "c", "d"]


def test_each_parameter_is_evaluated_from_its_own_slice(monkeypatch: pytest.MonkeyPatch):
    """While @c is made, nothing of what made @ab is alive."""
    from tilework.dialects.graph import AddOp, MulOp, NegOp

    alive: list[weakref.ref[Array]] = []
    counts: list[int] = []

    def watched(evaluate: Callable[..., Array]) -> Callable[..., Array]:
        def run(self: object, *inputs: Array) -> Array:
            counts.append(sum(ref() is not None for ref in alive))
            result = evaluate(self, *inputs)
            alive.append(weakref.ref(result))
            return result

        return run

    for kind in (MulOp, AddOp, NegOp):
        monkeypatch.setattr(kind, "evaluate", watched(kind.evaluate))
    prepare_parameters(parse(PREPARE), {"a": X, "b": X, "c": X, "d": X})
    assert counts == [0, 1, 1]  # nothing; the square; the finished @ab


def test_a_module_without_prepare():
    module = parse(f"func.func @main() -> {V} {{ %w = graph.parameter @w : {V} func.return %w : {V} }}")
    assert list(prepare_parameters(module, {"w": X, "v": X})) == ["w"]


def test_a_missing_parameter_is_named():
    with pytest.raises(UsageError, match="there is no parameter @b"):
        prepare_parameters(parse(PREPARE), {"a": X, "c": X, "d": X})
