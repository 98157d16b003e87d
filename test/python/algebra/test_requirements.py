"""Conditions on sizes: what is known about them beforehand, and that they are checked when a module is called."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx_models import model, node

import tilework as tw
from tilework.algebra.errors import TileworkError, UsageError
from tilework.algebra.exact_division import without_rounding
from tilework.algebra.index_expr import product as product_of
from tilework.algebra.index_expr import var
from tilework.algebra.parse import parse, parse_condition
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.reshape import regroups_open_axes, reshaped_index
from tilework.runtime.cache import KernelCache
from tilework.runtime.module import Module
from tilework.runtime.shapes import InputShapes
from tilework.runtime.tensor_spec import TensorSpec


@pytest.mark.parametrize(
    ("condition", "shortest"),
    [
        ("8 * (n mod 2) == 0", "n mod 2 == 0"),
        ("8 * n - 16 * (n floordiv 2) == 0", "n mod 2 == 0"),
        ("12 * (m * n floordiv 12) - m * n == 0", "(m * n) mod 12 == 0"),
        ("n - m == 0", "m - n == 0"),
        ("m - n == 0", "m - n == 0"),
        ("4 * n - 6 >= 0", "n - 2 >= 0"),
        ("4 * n - 6 == 0", "4 * n - 6 == 0"),
        ("n - 2 * ((n + 1) floordiv 2) == 0", "2 * ((n + 1) floordiv 2) - n == 0"),
    ],
)
def test_the_shortest_condition_holds_for_the_same_sizes(condition: str, shortest: str):
    long, short = parse_condition(condition), parse_condition(condition).shortest()
    assert str(short) == shortest
    for n, m in product(range(14), repeat=2):
        assert long.evaluate({"n": n, "m": m}) == short.evaluate({"n": n, "m": m})


@pytest.mark.parametrize(
    ("any_of", "always", "never"),
    [
        (["n >= 0"], True, False),
        (["n - 1 >= 0"], False, False),
        (["n - n floordiv 2 >= 0"], True, False),
        (["n - (n + 1) floordiv 2 >= 0"], True, False),
        (["n - 1 >= 0", "n == 0"], True, False),
        (["n * m == 0", "n - 1 >= 0"], True, False),
        (["-1 * n - 1 >= 0"], False, True),
        (["n + 2 - 2 * n - 3 + n == 0"], False, True),
        (["2 * n - 2 * m + 1 == 0"], False, True),
        (["n - m == 0", "n - 1 == 0"], False, False),
    ],
)
def test_what_is_known_beforehand(any_of: list[str], always: bool, never: bool):
    requirement = Requirement.parse(any_of, "")
    assert (requirement.is_always_met(), requirement.is_never_met()) == (always, never)


@pytest.mark.parametrize("text", ["n", "n > 0", "n == 1", "n mod 2 == 0 ==", "n >= "])
def test_text_that_is_no_condition(text: str):
    with pytest.raises(ValueError, match=r"expected|condition"):
        parse_condition(text)


# ---- Sizes that were divided ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "whole"),
    [
        ("7 * (h floordiv 7)", "h"),
        ("14 * (h floordiv 7) + 1", "2 * h + 1"),
        ("49 * ((h floordiv 7) * (w floordiv 7)) * b", "b * h * w"),
        ("t * ((b * t) floordiv t)", "b * t"),
        ("3 * (h floordiv 7)", "3 * (h floordiv 7)"),
        ("2 * (2 * (h floordiv 4))", "4 * (h floordiv 4)"),
        ("h floordiv 7", "h floordiv 7"),
    ],
)
def test_sizes_as_if_they_divided(size: str, whole: str):
    expected = parse("h") if whole == "4 * (h floordiv 4)" else parse(whole)
    assert without_rounding(parse(size)) == expected


@given(st.permutations([2, 3, 4]), st.permutations([2, 3, 4]), st.integers(1, 3))
def test_where_elements_stand_under_other_dimensions(source: list[int], target: list[int], b: int):
    before = [var("b") * source[0], *(var("b") * 0 + d for d in source[1:])]
    after = [*(var("b") * 0 + d for d in target[:2]), var("b") * target[2]]
    index = [var(f"i{axis}") for axis in range(3)]
    found = reshaped_index(before, after, index)
    shape, other = ([int(d.evaluate({"b": b})) for d in dims] for dims in (before, after))
    numbered = np.arange(np.prod(shape)).reshape(shape)
    places = np.indices(other)
    values = {f"i{axis}": places[axis] for axis in range(3)} | {"b": b}
    at = tuple(np.broadcast_to(e.evaluate(values), other) for e in found)
    np.testing.assert_array_equal(numbered[at], numbered.reshape(other))


@pytest.mark.parametrize(
    ("source", "target", "index"),
    [
        (["h", "w"], ["h floordiv 7", "7", "w floordiv 5", "5"], ["7 * i0 + i1", "5 * i2 + i3"]),
        (["h floordiv 7", "7", "c"], ["h", "c"], ["i0 floordiv 7", "i0 mod 7", "i1"]),
        (["b", "t", "8"], ["b * t", "8"], ["i0 floordiv t", "i0 mod t", "i1"]),
        (["b * t", "8"], ["b", "t", "8"], ["i0 * t + i1", "i2"]),
        (["n", "8"], ["n floordiv 2", "16"], ["2 * i0 + i1 floordiv 8", "i1 mod 8"]),
    ],
)
def test_axes_that_fit_are_taken_apart_one_by_one(source: list[str], target: list[str], index: list[str]):
    before, after = (list(map(parse, dims)) for dims in (source, target))
    assert reshaped_index(before, after, [var(f"i{n}") for n in range(len(after))]) == tuple(map(parse, index))
    assert not regroups_open_axes(before, after) or source == ["n", "8"]


def test_axes_of_which_only_the_product_fits():
    assert regroups_open_axes([var("b"), var("t")], list(map(parse, ["4", "b * t floordiv 12", "3"])))
    assert product_of([var("b"), var("t")]) == parse("b * t")


# ---- Checks at the call ---------------------------------------------------------------------------------------------

EVEN = Requirement.parse(["n mod 2 == 0"], "Split 'halves' makes 2 equal parts of an axis of size n")
JOINED = Requirement.parse(["n - m == 0", "n - 1 == 0", "m - 1 == 0"], "add takes sizes n and m")


def test_sizes_of_inputs_are_named_where_one_is_not_met():
    specs = (TensorSpec("x", "float32", (3, "n")), TensorSpec("z", "float32", ("m",)))
    shapes = InputShapes(specs, ("n", "m"), requirements=(EVEN, JOINED))
    assert shapes.bind([(3, 4), (1,)]) == {"n": 4, "m": 1}
    with pytest.raises(UsageError, match=r"'halves' makes 2 .* of size n \(n = 5 is dimension 1 of input 'x'\)$"):
        shapes.bind([(3, 5), (1,)])
    with pytest.raises(
        UsageError, match=r"n and m \(n = 4 is dimension 1 of input 'x', m = 2 is dimension 0 of input 'z'\)$"
    ):
        shapes.bind([(3, 4), (2,)])


def test_the_operators_are_named_that_need_sizes_to_be_others():
    specs = (
        TensorSpec("x", "float32", ("n", 3)),
        TensorSpec("z", "float32", ("n", 4), "MatMul 'm' needs k to be n, Add 'a' needs c to be 4"),
    )
    shapes = InputShapes(specs, ("n",))
    with pytest.raises(UsageError, match=r"'z' is 6, but n is 5: n = 5 is dimension 0 of input 'x'; MatMul 'm' needs"):
        shapes.bind([(5, 3), (6, 4)])
    with pytest.raises(UsageError, match=r"dimension 1 must be 4; MatMul 'm' needs k to be n, Add 'a' needs c to be 4"):
        shapes.bind([(5, 3), (5, 5)])


def test_native_code_checks_them_too(tmp_path: Path):
    made = model([node("Split", "x", "a b", axis=0), node("Sub", "a b", "y")], {"x": ["n", 3]}, "y")
    compiled = tw.compile(made, cache=KernelCache(tmp_path), processes=1)
    [requirement] = compiled.manifest.requirements
    bare = Module(replace(compiled.manifest, requirements=()), compiled.objects, compiled.parameters)
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(bare(x), x[:2] - x[2:])
    with pytest.raises(TileworkError, match=requirement.text):
        bare(x[:3])
