"""ONNX models that compute sizes in floating point, as in `floor(float(h) * 0.5)`."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx_models import Sizes, check_sizes, model, node, refusal

from tilework.algebra.index_expr import var
from tilework.frontends.onnx.fractions import LARGEST_DIVIDENDS, Number, SizeFraction, as_fraction, computed
from tilework.runtime.cache import KernelCache

SIZES: list[Sizes] = [{"n": 2, "h": h, "w": w} for h, w in [(2, 3), (7, 8), (16, 5), (33, 10)]]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def sized(*nodes: onnx.NodeProto, **constants: float) -> onnx.ModelProto:
    """As many rows and columns of `x` as nodes make, in int64, of `size`: the last two sizes as f32."""
    around = [
        node("Shape", "x", "shape"),
        node("Gather", "shape at", "pixels"),
        node("Cast", "pixels", "size", to=TensorProto.FLOAT),
    ]
    behind = [node("Slice", "x zeros count at", "y")]
    numbers = {name: np.array(value, np.float32) for name, value in constants.items()}
    at = {"at": np.array([2, 3]), "zeros": np.array([0, 0])}
    return model([*around, *nodes, *behind], {"x": ["n", 3, "h", "w"]}, "y", {**numbers, **at}, opset=18)


def to_int64(name: str) -> onnx.NodeProto:
    return node("Cast", name, "count", to=TensorProto.INT64)


ROUNDED = {
    "floor of a product": sized(node("Mul", "size k", "m"), node("Floor", "m", "f"), to_int64("f"), k=0.5),
    "ceil of a quotient": sized(node("Div", "size k", "m"), node("Ceil", "m", "f"), to_int64("f"), k=2),
    "thirds": sized(node("Div", "size k", "m"), node("Floor", "m", "f"), to_int64("f"), k=3),
    "cut off": sized(node("Mul", "k size", "m"), to_int64("m"), k=0.625),
    "sums": sized(
        node("Mul", "size k", "m"), node("Add", "m one", "a"), node("Div", "a k", "d"), to_int64("d"), k=0.75, one=-0.5
    ),
    "a difference": sized(
        node("Mul", "size k", "m"), node("Sub", "size m", "d"), node("Ceil", "d", "f"), to_int64("f"), k=0.75
    ),
    "in f64": sized(
        node("Cast", "size", "wide", to=TensorProto.DOUBLE),
        node("Cast", "k", "k64", to=TensorProto.DOUBLE),
        node("Mul", "wide k64", "m"),
        to_int64("m"),
        k=0.25,
    ),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_whole_numbers_of_fractions(name: str, cache: KernelCache):
    check_sizes(ROUNDED[name], cache, SIZES)


def test_images_of_a_multiple_of_their_size(cache: KernelCache):
    nodes = [
        node("Shape", "x", "shape"),
        node("Slice", "shape two four", "pixels"),
        node("Cast", "pixels", "size", to=TensorProto.FLOAT),
        node("Mul", "size scale", "more"),
        node("Floor", "more", "floor"),
        node("Cast", "floor", "target", to=TensorProto.INT64),
        node("Slice", "shape zero two", "batch"),
        node("Concat", "batch target", "sizes", axis=0),
        node("Resize", "x   sizes", "y", mode="nearest", coordinate_transformation_mode="asymmetric"),
    ]
    constants = {"two": [2], "four": [4], "zero": [0], "scale": np.array(2, np.float32)}
    check_sizes(model(nodes, {"x": ["n", 3, "h", "w"]}, "y", constants, opset=18), cache, SIZES)


def test_numbers_that_are_data_after_all(cache: KernelCache):
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape at", "size"),
        node("Cast", "size", "float", to=TensorProto.FLOAT),
        node("Div", "float three", "third"),
        node("Concat", "float third one", "numbers", axis=0),
        node("Sqrt", "numbers", "roots"),
        node("Mul", "x roots", "y"),
    ]
    one, three = np.array([1.5], np.float32), np.array([3], np.float32)
    made = model(nodes, {"x": ["n", 3]}, "y", {"at": [0], "one": one, "three": three})
    check_sizes(made, cache, [{"n": 1}, {"n": 7}])


def test_factors_that_round_are_data(cache: KernelCache):
    made = sized(node("Mul", "size k", "m"), node("Floor", "m", "f"), to_int64("f"), k=0.7)
    check_sizes(made, cache, SIZES)


def test_scales_that_sizes_decide_are_refused():
    nodes = [
        node("Shape", "x", "shape"),
        node("Cast", "shape", "float", to=TensorProto.FLOAT),
        node("Div", "float four", "scales"),
        node("Resize", "x  scales", "y"),
    ]
    made = model(nodes, {"x": ["n", 3, "h", "w"]}, "y", {"four": np.array(4, np.float32)}, opset=18)
    assert "its list of scales depends on symbolic dimensions (inputs: nx3xhxwxf32, -, 4xf32)" in refusal(made)


FACTORS = [0.5, 1.5, 0.375, 2.0, 3.0, 7.0, 0.1]


@pytest.mark.parametrize(("first", "second"), list(product(["Mul", "Div"], ["Mul", "Div", "Add", "Sub"])))
def test_fractions_are_what_floats_are(first: str, second: str):
    """Wherever something is computed at all, for sizes up to a large one."""
    python = {"Mul": np.multiply, "Div": np.divide, "Add": np.add, "Sub": np.subtract}
    known = 0
    for a, b in product(FACTORS, repeat=2):
        once = computed(first, as_fraction(var("h")), a)
        twice = None if once is None else computed(second, once, b)
        if twice is None:
            continue
        known += 1
        h = np.concatenate([np.arange(1, 300), np.array([4095, 4096, 65535, 99999, 262144])])
        fits = twice.dividend.evaluate({"h": h}) <= LARGEST_DIVIDENDS[np.dtype(np.float32)]
        h = h[fits & (once.dividend.evaluate({"h": h}) <= LARGEST_DIVIDENDS[np.dtype(np.float32)])]
        floats = python[second](python[first](h.astype(np.float32), np.float32(a)), np.float32(b))
        np.testing.assert_array_equal(np.floor(floats), twice.floor().evaluate({"h": h}))
        np.testing.assert_array_equal(np.ceil(floats), twice.ceil().evaluate({"h": h}))
    assert known >= 12


@pytest.mark.parametrize(
    ("op", "first", "second"),
    [
        ("Div", as_fraction(var("h")), as_fraction(var("w"))),
        ("Div", as_fraction(var("h")), 0.0),
        ("Mul", SizeFraction(var("h"), 3), 2.0),
        ("Add", as_fraction(var("h")), float("inf")),
    ],
)
def test_what_is_not_known(op: str, first: Number, second: Number):
    assert computed(op, first, second) is None
