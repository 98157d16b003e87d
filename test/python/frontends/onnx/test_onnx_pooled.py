"""MaxPool with the places of what it finds, and MaxUnpool, which takes them: compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import Array, check, refusal

from tilework.runtime.cache import KernelCache

RANDOM = np.random.default_rng(7)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def pooling(
    dims: Sequence[int | str], dtype: type[np.generic] = np.float32, opset: int = 12, **attributes: Any
) -> onnx.ModelProto:
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node("MaxPool", ["x"], ["y", "i"], **attributes)],
        "pooling",
        [helper.make_tensor_value_info("x", element, dims)],
        [helper.make_empty_tensor_value_info(name) for name in "yi"],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def by_onnxruntime(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, dict(feeds))


WINDOWS: list[tuple[Sequence[int], dict[str, Any]]] = [
    ((2, 3, 9, 8), {"kernel_shape": [3, 2]}),
    ((2, 3, 9, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 1, 1]}),
    ((1, 2, 9, 8), {"kernel_shape": [2, 2], "strides": [2, 3], "dilations": [3, 2], "pads": [1, 0, 1, 1]}),
    ((1, 2, 9, 8), {"kernel_shape": [2, 2], "strides": [2, 3], "ceil_mode": 1}),
    ((1, 2, 7, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ((2, 3, 11), {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
    ((1, 2, 5, 6, 7), {"kernel_shape": [2, 3, 2], "strides": [2, 1, 2], "pads": [0, 1, 1, 1, 0, 0]}),
    ((0, 3, 5, 5), {"kernel_shape": [2, 2]}),
]


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("shape", "windows"), WINDOWS, ids=str)
def test_places(shape: Sequence[int], windows: dict[str, Any], order: int, cache: KernelCache):
    """Places count in memory order, or with the first spatial axis as the innermost; of equal elements that of the
    first."""
    model = pooling(shape, **windows, storage_order=order)
    feeds = {"x": RANDOM.integers(-3, 4, shape).astype(np.float32)}
    check(model, feeds, cache, by_onnxruntime(model, feeds))


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int8, np.uint8])
def test_places_of_other_types(dtype: type[np.generic], cache: KernelCache):
    model = pooling((1, 2, 9, 8), dtype, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    feeds = {"x": RANDOM.integers(0, 200, (1, 2, 9, 8)).astype(dtype)}
    check(model, feeds, cache, by_onnxruntime(model, feeds))


def test_places_of_an_older_opset(cache: KernelCache):
    model = pooling((1, 2, 6, 6), opset=8, kernel_shape=[2, 2], strides=[2, 2], storage_order=1)
    feeds = {"x": RANDOM.standard_normal((1, 2, 6, 6)).astype(np.float32)}
    check(model, feeds, cache, by_onnxruntime(model, feeds))


def test_places_in_images_of_open_sizes(cache: KernelCache):
    for order in (0, 1):
        windows = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 1, 1, 0], "storage_order": order}
        model = pooling(["n", "c", "h", "w"], **windows)
        for shape in ((1, 1, 3, 4), (2, 3, 9, 17)):
            feeds = {"x": RANDOM.integers(-3, 4, shape).astype(np.float32)}
            check(model, feeds, cache, by_onnxruntime(model, feeds))


def test_places_of_what_is_no_number(cache: KernelCache):
    """The first NaN of a window is its largest element; one of nothing but -inf has the place of the first of these.

    onnxruntime passes over NaN, and has no place for -inf. A window that lies between elements has the place -1.
    """
    x = np.array([[[[0, np.nan, -np.inf, -np.inf], [np.nan, 9, -np.inf, -np.inf]]]], np.float32)
    model = pooling(x.shape, kernel_shape=[2, 2], strides=[2, 2])
    check(model, {"x": x}, cache, [np.array([[[[np.nan, -np.inf]]]], np.float32), np.array([[[[1, 2]]]])])
    model = pooling((1, 1, 1), kernel_shape=[2], dilations=[3], pads=[2, 2])
    one = np.ones((1, 1, 1), np.float32)
    check(model, {"x": one}, cache, [np.array([[[-np.inf, -np.inf]]], np.float32), np.array([[[-1, -1]]])])


# ---- Back again ------------------------------------------------------------------------------------------------------


def there_and_back(
    dims: Sequence[int | str], windows: Mapping[str, Any], shape: Sequence[int] | None = None
) -> onnx.ModelProto:
    """What MaxPool finds in its place; `shape`: that asked for."""
    known = [] if shape is None else [numpy_helper.from_array(np.array(shape), "shape")]
    nodes = [
        helper.make_node("MaxPool", ["x"], ["pooled", "places"], **windows),
        helper.make_node("MaxUnpool", ["pooled", "places", *(["shape"] if known else [])], ["y"], **windows),
    ]
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
    graph = helper.make_graph(nodes, "unpooling", [image], [helper.make_empty_tensor_value_info("y")], known)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8)


HALVED = {"kernel_shape": [2, 2], "strides": [2, 2]}


@pytest.mark.parametrize(
    ("dims", "windows", "shape"),
    [
        ((2, 3, 4, 8), HALVED, None),
        (("n", 3, 4, 8), HALVED, None),
        ((1, 2, 5, 7), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, None),
        ((2, 2, 6), {"kernel_shape": [2], "strides": [2]}, None),
        ((1, 2, 4, 4, 6), {"kernel_shape": [2] * 3, "strides": [2] * 3}, None),
        # a shape is asked for that windows would not have told
        ((2, 2, 5, 5), HALVED, (2, 2, 5, 5)),
        ((1, 2, 6, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, (1, 2, 6, 6)),
        ((2, 1, 4, 8), HALVED, (2, 1, 4, 8)),
    ],
    ids=str,
)
def test_there_and_back(
    dims: Sequence[int | str], windows: Mapping[str, Any], shape: Sequence[int] | None, cache: KernelCache
):
    model = there_and_back(dims, windows, shape)
    feeds = {"x": RANDOM.standard_normal([n if isinstance(n, int) else 3 for n in dims]).astype(np.float32)}
    check(model, feeds, cache, by_onnxruntime(model, feeds))


def test_places_of_another_image_are_refused():
    """onnxruntime finds out when it runs; onnx's evaluator would take them for places of the smaller image."""
    said = refusal(there_and_back((1, 1, 5, 5), HALVED))
    assert "its indices count in an image [1, 1, 5, 5], not [1, 1, 4, 4]: make that its output shape" in said
