"""Modules of unknown sizes, some of which are 0 when they run: results are empty, or those of nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_models import Array, graph, model, node

import tilework as tw
from tilework import te
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.interpreters.loop import run_loop_kernel
from tilework.runtime.cache import KernelCache

TARGETS = ["llvm", "llvm -mcpu=x86-64-v2", "llvm -mcpu=haswell"]

IMAGE = ["B", "H", "W"]

CASES: dict[str, tuple[list[onnx.NodeProto], dict[str, list[int | str]], Callable[..., Array]]] = {
    "one axis of all elements": ([node("Tanh", "x", "y")], {"x": IMAGE}, np.tanh),
    "a number for each row": ([node("Add", "x z", "y")], {"x": IMAGE, "z": ["H", 1]}, np.add),
    "a row for all": ([node("Add", "x z", "y")], {"x": IMAGE, "z": ["W"]}, np.add),
    "a number for each image": ([node("Mul", "x z", "y")], {"x": IMAGE, "z": ["B", 1, 1]}, np.multiply),
    "transposed": (
        [node("Mul", "x z", "t"), node("Transpose", "t", "y", perm=[2, 0, 1])],
        {"x": IMAGE, "z": ["B", 1, "W"]},
        lambda x, z: (x * z).transpose(2, 0, 1),
    ),
    "reshaped": (
        [node("Relu", "x", "t"), node("Flatten", "t", "y", axis=2)],
        {"x": IMAGE},
        lambda x: np.maximum(x, 0).reshape(x.shape[0] * x.shape[1], x.shape[2]),
    ),
    "in front of a mean": (
        [node("ReduceMean", "x", "t", axes=[1, 2]), node("Sub", "x t", "y")],
        {"x": IMAGE},
        lambda x: x - (x.mean((1, 2), keepdims=True) if x.size else 0),
    ),
    "a sum of images": ([node("ReduceSum", "x", "y", keepdims=0)], {"x": IMAGE}, np.sum),
    "sums of rows": (
        [node("ReduceSum", "x axes", "y", keepdims=0)],
        {"x": IMAGE},
        lambda x: x.sum(2),
    ),
    "a sum of nothing or something": (
        [node("MatMul", "x z", "y")],
        {"x": IMAGE, "z": ["W", 3]},
        np.matmul,
    ),
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def feeds(inputs: Mapping[str, list[Any]], sizes: Mapping[str, int]) -> list[Array]:
    shapes = [[sizes.get(d, d) for d in shape] for shape in inputs.values()]
    return [np.random.default_rng(1).integers(-3, 4, shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_sizes_of_zero(name: str, target: str, cache: KernelCache):
    nodes, inputs, wanted = CASES[name]
    constants = {"axes": np.array([2])} if name == "sums of rows" else {}
    module = tw.compile(model(nodes, inputs, "y", constants), target, cache=cache, processes=1)
    for sizes in product((1, 0, 2), (3, 0, 17), (16, 0, 7, 33)):
        arrays = feeds(inputs, dict(zip("BHW", sizes, strict=True)))
        result, expected = module(*arrays), np.asarray(wanted(*arrays))
        assert result.shape == expected.shape, sizes
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5, err_msg=str(sizes))


@pytest.mark.parametrize("target", TARGETS)
def test_the_mean_of_no_point_is_no_number(target: str, cache: KernelCache):
    """The mean of no image is nothing."""
    module = tw.compile(
        model([node("GlobalAveragePool", "x", "y")], {"x": ["N", 3, "H", "W"]}, "y"), target, cache=cache, processes=1
    )
    for height, width in ((0, 5), (5, 0), (0, 0)):
        result = module(np.zeros((2, 3, height, width), np.float32))
        assert result.shape == (2, 3, 1, 1) and np.isnan(result).all()
    assert module(np.zeros((0, 3, 4, 5), np.float32)).shape == (0, 3, 1, 1)
    assert module(np.ones((2, 3, 4, 5), np.float32)).tolist() == [[[[1]]] * 3] * 2


def test_the_interpreter_of_a_loop_that_does_not_run():
    text = """
    loop.kernel @rest outs(%y: memref<?xindex> [N]) symbols(%N) {
      loop.for %i = 0 to %N "i" {
        %r = loop.apply (%i + 5) mod %N
        loop.store %r, %y[%i] : memref<?xindex>
      }
    }"""
    [kernel] = SourceParser(make_context(), text, "<test>").parse_module().ops
    assert isinstance(kernel, KernelOp)
    run_loop_kernel(kernel, [], [np.zeros(0, np.int64)], symbols=[0])


def test_a_size_less_a_number_divides_as_what_it_is():
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    c = te.compute((n,), lambda i: (i // (n - 5)).astype("float32") + a[i], name="C")
    function, result = tw.build(te.create_schedule(c.op), [a, c]), np.zeros(3, np.float32)
    function(np.zeros(3, np.float32), result)
    np.testing.assert_array_equal(result, [i // -2 for i in range(3)])


def test_new_elements_have_a_size_even_where_no_step_makes_one(cache: KernelCache):
    """Elements of x[1:], of which there is none to be cut off."""
    constants = {"one": np.array([1]), "end": np.array([2**31 - 1]), "axes": np.array([0])}
    body = graph([node("Slice", "x one end axes", "y")], {"x": ["H"]}, "y", constants)
    made = model([node("Scan", "xs", "ys", num_scan_inputs=1, body=body)], {"xs": ["T", "H"]}, "ys")
    module = tw.compile(made, cache=cache, processes=1)
    assert module(np.zeros((0, 3), np.float32)).shape == (0, 2)
    assert module(np.zeros((0, 0), np.float32)).shape == (0, 0)
