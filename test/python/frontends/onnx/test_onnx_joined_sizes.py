"""ONNX models with two names along one axis of operands that broadcast: only the running model knows what they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_models import check_sizes, model, node

import tilework as tw
from tilework.runtime.cache import KernelCache

PAIRS = [(4, 4), (17, 17), (4, 1), (1, 33), (1, 1), (0, 0), (0, 1), (1, 0)]
"""Sizes that broadcast."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def of_two(one: Sequence[int | str], other: Sequence[int | str], *nodes: onnx.NodeProto, **constants: Any) -> Any:
    return model(nodes, {"a": one, "b": other}, "y", constants, opset=18)


TWO = {
    "outer axes": of_two(["p", 3], ["q", 3], node("Add", "a b", "y")),
    "inner axes": of_two([3, "p"], [3, "q"], node("Sub", "a b", "y")),
    "ranks differ": of_two([3, "p"], ["q"], node("Mul", "a b", "y")),
    "middle axes": of_two([2, "p", 5], ["q", 5], node("Max", "a b", "y")),
    "an axis of one element beside": of_two(["p", 1, 3], ["q", 4, 1], node("Div", "a b", "y")),
    "batches of products": of_two(["p", 2, 3], ["q", 3, 2], node("MatMul", "a b", "y")),
    "slopes": of_two(["p", 3], ["q", 3], node("PRelu", "a b", "y")),
    "comparisons": of_two(["p", 3], ["q", 3], node("Less", "a b", "c"), node("Where", "c b a", "y")),
    "the shape of another": of_two(["p", 5], ["q", 1], node("Shape", "a", "s"), node("Expand", "b s", "y")),
    "a constant beside": of_two(
        ["p", 3], ["q", 3], node("Add", "a k", "s"), node("Add", "s k", "u"), node("Min", "u b", "y"), k=np.float32(2)
    ),
    "several operators in one kernel": of_two(
        ["p", 5],
        ["q", 5],
        node("Relu", "a", "r"),
        node("Add", "r b", "s"),
        node("Mul", "s a", "t"),
        node("Sub", "t b", "y"),
    ),
    "a sum of what is joined": of_two(
        [3, "p"], [3, "q"], node("Add", "a b", "s"), node("ReduceSum", "s axes", "y", keepdims=0), axes=np.array([1])
    ),
    "columns as well as rows": of_two(
        ["p", 3], ["q", 3], node("Add", "a b", "s"), node("Transpose", "s", "t"), node("MatMul", "t s", "y")
    ),
    "behind one another": of_two(["p", 3], ["q", 3], node("Add", "a b", "s"), node("Concat", "s a s", "y", axis=0)),
    "a part of what is joined": of_two(
        ["p", 3],
        ["q", 3],
        node("Add", "a b", "s"),
        node("Slice", "s begin end zero", "y"),
        begin=np.array([1]),
        end=np.array([2**31]),
        zero=np.array([0]),
    ),
}


@pytest.mark.parametrize("name", TWO)
def test_sizes_are_equal_or_one_of_them_is_1(name: str, cache: KernelCache):
    message = r"takes sizes \w+ and \w+ of one axis, which are neither equal nor is one of them 1 .*[ab]'"
    check_sizes(TWO[name], cache, [{"p": p, "q": q} for p, q in PAIRS], [({"p": 3, "q": 4}, message)])


def test_the_operator_and_both_sizes_are_named(cache: KernelCache):
    made = of_two(["p", 3], ["q", 3], node("Add", "a b", "y", name="residual"))
    message = (
        r"add 'residual' takes sizes p and q of one axis, which are neither equal nor is one of them 1 "
        r"\(p = 3 is dimension 0 of input 'a', q = 4 is dimension 0 of input 'b'\)"
    )
    check_sizes(made, cache, [], [({"p": 3, "q": 4}, message)])


@pytest.mark.parametrize("op", ["Where", "Max"])
def test_three_sizes_of_one_axis(op: str, cache: KernelCache):
    names = {"Where": "c", "Max": "a2"}
    made = model(
        [node(op, f"{names[op]} a b", "y")], {names[op]: ["r", 1], "a": ["p", 3], "b": ["q", 3]}, "y", opset=18
    )
    fitting = [dict(zip("pqr", sizes, strict=True)) for sizes in product((1, 4), repeat=3)]
    check_sizes(made, cache, fitting, [({"p": 4, "q": 1, "r": 3}, "neither equal nor is one of them 1")])


def test_a_number_beside_a_size_that_is_open(cache: KernelCache):
    rows = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    made = model([node("Add", "a k", "y")], {"a": ["p", 3]}, "y", {"k": rows})
    message = r"takes sizes p and 4 of one axis, which are neither .* \(p = 2 is dimension 0 of input 'a'\)"
    check_sizes(made, cache, [{"p": 4}, {"p": 1}], [({"p": 2}, message), ({"p": 0}, "neither equal")])


def test_a_mask_for_all_heads_or_rows(cache: KernelCache):
    nodes = [
        node("MatMul", "q k", "scores"),
        node("Add", "scores mask", "masked"),
        node("Softmax", "masked", "weights"),
        node("MatMul", "weights v", "y"),
    ]
    inputs = {"q": ["b", "s", 8], "k": ["b1", 8, "t"], "mask": ["b2", "s2", "t2"], "v": ["b3", "t3", 8]}
    same = {"b": 2, "b1": 2, "b2": 2, "b3": 2, "s": 5, "s2": 5, "t": 7, "t2": 7, "t3": 7}
    fitting = [same, {**same, "b2": 1, "s2": 1}, {**same, "t2": 1}, {**same, "b": 1, "b2": 1, "s": 1, "s2": 1}]
    refused = [({**same, "t2": 6}, "t and t2 of one axis"), ({**same, "t3": 6}, "t3 = 6 is dimension 1 of input 'v'")]
    check_sizes(model(nodes, inputs, "y"), cache, fitting, refused)


def test_images_and_what_is_added_to_all_of_their_pixels(cache: KernelCache):
    weight = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)
    nodes = [node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("Add", "c z", "y")]
    made = model(nodes, {"x": ["n", 3, "h", "v"], "z": ["n2", 4, "h2", "v2"]}, "y", {"w": weight})
    same = {"n": 2, "h": 8, "v": 9, "n2": 2, "h2": 8, "v2": 9}
    fitting = [same, {**same, "n2": 1}, {**same, "h2": 1, "v2": 1}, {**same, "n": 1, "h": 1, "v": 1}]
    check_sizes(made, cache, fitting, [({**same, "v2": 2}, "v2 = 2 is dimension 3 of input 'z'")])


def test_what_callers_give_for_the_output_is_of_the_joined_size(cache: KernelCache):
    module = tw.compile(TWO["outer axes"], cache=cache, processes=1)
    a, b = np.ones((1, 3), np.float32), np.full((5, 3), 2, np.float32)
    out = np.zeros((5, 3), np.float32)
    module.run({"a": a, "b": b}, out={"y": out})
    np.testing.assert_array_equal(out, np.full((5, 3), 3))
