"""An If of which data take a branch, and whose branches make tensors of different sizes: equal to onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import Array, check_onnxruntime, graph, model, node, numbers, refusal

from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


SHORT = [node("Slice", "x zero two", "y")]
LONG = [node("Concat", "x x", "y", axis=0)]
POSITIVE = [node("Greater", "x level", "mask"), node("Compress", "x mask", "y", axis=0)]
SAME = [node("Identity", "x", "y")]
CONSTANTS: dict[str, Any] = {"zero": [0], "two": [2], "level": np.float32(0), "one": np.array(1)}


def chosen(then: list[onnx.NodeProto], other: list[onnx.NodeProto], **shapes: list[int | str]) -> onnx.ModelProto:
    """What one of two branches makes of x, and twice that, with its size."""
    branches = {name: graph(nodes, {}, "y") for name, nodes in (("then_branch", then), ("else_branch", other))}
    nodes = [node("If", "c", "z", **branches), node("Add", "z z", "double"), node("Shape", "double", "size")]
    return model(nodes, {"c": [], **(shapes or {"x": ["N"]})}, "z double size", CONSTANTS)


def feeds(*shapes: tuple[int, ...]) -> list[dict[str, Array]]:
    return [{"c": np.array(c), "x": numbers(*shape)} for shape in shapes for c in (True, False)]


@pytest.mark.parametrize(
    ("then", "other"), [(SHORT, LONG), (POSITIVE, SAME), (LONG, POSITIVE)], ids=["sizes", "data", "both"]
)
def test_branches_of_other_sizes(then: list[onnx.NodeProto], other: list[onnx.NodeProto], cache: KernelCache):
    check_onnxruntime(chosen(then, other), cache, *feeds((3,), (2,), (7,)))


def test_known_sizes(cache: KernelCache):
    check_onnxruntime(chosen(SHORT, LONG, x=[5]), cache, *feeds((5,)))


def test_several_axes(cache: KernelCache):
    turned = [node("Transpose", "x", "y")]
    check_onnxruntime(chosen(turned, LONG, x=["N", 3]), cache, *feeds((2, 3), (5, 3)))


def test_nothing_or_something(cache: KernelCache):
    empty = [node("Slice", "x zero zero", "y")]
    check_onnxruntime(chosen(empty, POSITIVE), cache, *feeds((4,)))


@pytest.mark.parametrize("dtype", [np.int64, np.bool_])
def test_other_elements(dtype: type[np.generic], cache: KernelCache):
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    branches = [
        graph([*nodes, node("Cast", "y", "w", to=kind)], {}, "w")
        for nodes in ([node("Identity", "x", "y")], [node("Concat", "x x", "y", axis=0)])
    ]
    choice = node("If", "c", "z", then_branch=branches[0], else_branch=branches[1])
    check_onnxruntime(model([choice], {"c": [], "x": ["N"]}, "z"), cache, *feeds((3,)))


def test_a_size_without_a_limit_is_refused():
    many = [node("Range", "none n once", "numbers"), node("Cast", "numbers", "y", to=1)]
    made = chosen(many, SAME, x=["N"])
    made.graph.input.append(helper.make_tensor_value_info("n", onnx.TensorProto.INT64, []))
    for name, number in (("none", 0), ("once", 1)):
        made.graph.initializer.append(onnx.numpy_helper.from_array(np.array(number), name))
    assert "which one of its branches tells, has no limit that is known before" in refusal(made)
