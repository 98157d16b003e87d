"""ONNX models whose results are as large as data decide: equal to onnxruntime, in one native call."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np
import onnx
import pytest
from onnx_models import Array, check_onnxruntime, graph, model, node, numbers

import tilework as tw
from tilework.algebra.errors import TileworkError, UsageError
from tilework.frontends.onnx import import_onnx
from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def sparse(*shape: int, share: float, seed: int = 0) -> Array:
    return (np.random.default_rng(seed).random(shape) < share).astype(np.float32)


# ---- what is counted -------------------------------------------------------------------------------------------------

SHARES = (0.0, 0.4, 1.0)


def test_where_elements_are_not_zero(cache: KernelCache):
    made = model([node("NonZero", "x", "y")], {"x": ["N", 3, 2]}, "y")
    check_onnxruntime(made, cache, *({"x": sparse(n, 3, 2, share=share)} for n in (0, 1, 7) for share in SHARES))


def test_nan_is_not_zero_and_neither_zero_is(cache: KernelCache):
    made = model([node("NonZero", "x", "y")], {"x": [5]}, "y")
    [[places]] = check_onnxruntime(made, cache, {"x": np.float32([np.nan, 0.0, -0.0, np.inf, -1])})
    np.testing.assert_array_equal(places, [[0, 3, 4]])


@pytest.mark.parametrize("x", [0.0, 2.0])
def test_a_number_that_is_not_zero(x: float, cache: KernelCache):
    check_onnxruntime(model([node("NonZero", "x", "y")], {"x": []}, "y"), cache, {"x": np.array(x, np.float32)})


@pytest.mark.parametrize("axis", [0, 1, None])
def test_elements_whose_condition_holds(axis: int | None, cache: KernelCache):
    attributes = {} if axis is None else {"axis": axis}
    made = model([node("Compress", "x c", "y", **attributes)], {"x": ["N", 4], "c": ["C"]}, "y")
    feeds = [
        {"x": numbers(n, 4), "c": sparse(min(length, n) if axis == 0 else length, share=share).astype(bool)}
        for n, length in ((1, 1), (5, 3), (7, 4))
        for share in SHARES
    ]
    check_onnxruntime(made, cache, *feeds)


def test_more_conditions_than_elements_are_refused(cache: KernelCache):
    module = tw.compile(model([node("Compress", "x c", "y", axis=0)], {"x": ["N", 2], "c": ["C"]}, "y"), cache=cache)
    with pytest.raises(UsageError, match="it has C conditions for N elements"):
        module(numbers(2, 2), np.ones(3, bool))


def test_what_follows_works_on_as_many_as_there_are(cache: KernelCache):
    """A product, a sum and a softmax over elements of which data decide the number."""
    nodes = [
        node("Compress", "x c", "kept", axis=0),
        node("MatMul", "kept w", "m"),
        node("Softmax", "m", "p", axis=0),
        node("ReduceSum", "p", "total", keepdims=0),
        node("Shape", "p", "shape"),
        node("Transpose", "p", "t"),
        node("MatMul", "t m", "square"),
    ]
    weights = {"w": numbers(6, 5, seed=3)}
    made = model(nodes, {"x": ["N", 6], "c": ["N"]}, "p total shape square", weights)
    feeds = [{"x": numbers(n, 6), "c": sparse(n, share=share).astype(bool)} for n in (1, 9, 40) for share in SHARES]
    check_onnxruntime(made, cache, *feeds)


# ---- non-maximum suppression -----------------------------------------------------------------------------------------


def boxes_and_scores(count: int, classes: int, seed: int = 0, images: int = 2) -> dict[str, Array]:
    """Numbers of one digit, so that scores tie and boxes touch."""
    rng = np.random.default_rng(seed)
    boxes = np.round(rng.random((images, count, 4)), 1).astype(np.float32)
    return {"boxes": boxes, "scores": np.round(rng.random((images, classes, count)), 1).astype(np.float32)}


def suppression(inputs: str = "boxes scores most overlap score", **attributes: int) -> onnx.ModelProto:
    constants = {"most": np.array(4), "overlap": np.float32(0.3), "score": np.float32(0.2)}
    used = {name: value for name, value in constants.items() if name in inputs.split()}
    shapes = {"boxes": ["B", "N", 4], "scores": ["B", "C", "N"]}
    return model([node("NonMaxSuppression", inputs, "kept", **attributes)], shapes, "kept", used)


@pytest.mark.parametrize("center", [0, 1])
def test_boxes_are_suppressed(center: int, cache: KernelCache):
    made = suppression(center_point_box=center)
    check_onnxruntime(made, cache, *(boxes_and_scores(n, c, seed=n) for n in (0, 1, 2, 30) for c in (1, 3)))


def test_without_limits(cache: KernelCache):
    """Without a score every box is considered, without an overlap none may touch, without a number none is kept."""
    for inputs in ("boxes scores", "boxes scores most", "boxes scores most overlap"):
        check_onnxruntime(suppression(inputs), cache, boxes_and_scores(9, 2))


def test_limits_that_are_data(cache: KernelCache):
    inputs = {"boxes": ["B", "N", 4], "scores": ["B", "C", "N"], "imost": [], "overlap": [], "score": []}
    made = model([node("NonMaxSuppression", "boxes scores imost overlap score", "kept")], inputs, "kept")
    limits = {"overlap": np.array(0.4, np.float32), "score": np.array(0.3, np.float32)}
    feeds = [{**boxes_and_scores(12, 2), "imost": np.array(most), **limits} for most in (-1, 0, 1, 5, 10**9)]
    check_onnxruntime(made, cache, *feeds)


def test_a_score_that_is_no_number_is_never_kept(cache: KernelCache):
    given = boxes_and_scores(6, 1, images=1)
    given["scores"][0, 0, [1, 4]] = np.nan
    [[kept]] = check_onnxruntime(suppression(), cache, given)
    assert not {1, 4} & set(kept[:, 2])


def test_the_first_of_equal_scores_is_kept(cache: KernelCache):
    boxes = np.tile(np.float32([0, 0, 1, 1]), (1, 5, 1))
    [[kept]] = check_onnxruntime(suppression(), cache, {"boxes": boxes, "scores": np.full((1, 1, 5), 0.5, np.float32)})
    np.testing.assert_array_equal(kept, [[0, 0, 0]])


def test_the_tail_of_a_yolo_detector(cache: KernelCache):
    """Predictions [1, N, 5 + classes]: centers and extents, whether there is something, and what it is."""
    nodes = [
        node("Split", "predictions parts", "boxes objectness classes", axis=2),
        node("Mul", "objectness classes", "by_box"),
        node("Transpose", "by_box", "scores", perm=[0, 2, 1]),
        node("NonMaxSuppression", "boxes scores most overlap score", "kept", center_point_box=1),
        node("Gather", "kept last", "places", axis=1),
        node("Squeeze", "places one", "index"),
        node("Gather", "boxes index", "chosen", axis=1),
        node("GatherND", "scores kept", "confidence"),
        node("Gather", "kept one", "labels", axis=1),
    ]
    constants = {
        "parts": np.array([4, 1, 3]),
        "most": np.array(20),
        "overlap": np.float32(0.45),
        "score": np.float32(0.25),
        "last": np.array([2]),
        "one": np.array([1]),
    }
    made = model(nodes, {"predictions": [1, "N", 8]}, "chosen confidence labels", constants)
    rng = np.random.default_rng(0)
    feeds = [{"predictions": rng.random((1, n, 8), np.float32)} for n in (1, 50, 300)]
    check_onnxruntime(made, cache, *feeds, {"predictions": np.zeros((1, 7, 8), np.float32)})


def test_the_tail_of_an_ssd_detector(cache: KernelCache):
    """Offsets to fixed boxes are decoded, scores are a softmax whose first class is the background."""
    priors = np.random.default_rng(1).random((60, 4)).astype(np.float32) * np.float32([1, 1, 0.3, 0.3]) + np.float32(
        0.05
    )
    nodes = [
        node("Split", "offsets halves", "shift stretch", axis=2),
        node("Split", "priors halves", "middles extents", axis=1),
        node("Mul", "shift extents", "moved"),
        node("Add", "moved middles", "centers"),
        node("Exp", "stretch", "factor"),
        node("Mul", "factor extents", "sizes"),
        node("Div", "sizes two", "half"),
        node("Sub", "centers half", "low"),
        node("Add", "centers half", "high"),
        node("Concat", "low high", "boxes", axis=2),
        node("Softmax", "logits", "all", axis=2),
        node("Slice", "all from to axis", "likely"),
        node("Transpose", "likely", "scores", perm=[0, 2, 1]),
        node("NonMaxSuppression", "boxes scores most overlap score", "kept"),
        node("Gather", "kept box", "index", axis=1),
        node("Gather", "boxes_flat index", "chosen", axis=0),
        node("Squeeze", "boxes image", "boxes_flat"),
    ]
    constants = {
        "priors": priors,
        "halves": np.array([2, 2]),
        "two": np.float32(2),
        "from": np.array([1]),
        "to": np.array([4]),
        "axis": np.array([2]),
        "most": np.array(10),
        "overlap": np.float32(0.5),
        "score": np.float32(0.3),
        "box": np.array(2),
        "image": np.array([0]),
    }
    made = model(nodes, {"offsets": [1, 60, 4], "logits": [1, 60, 4]}, "kept chosen", constants)
    feeds = [{"offsets": numbers(1, 60, 4, seed=i) / 4, "logits": 3 * numbers(1, 60, 4, seed=i + 9)} for i in range(3)]
    check_onnxruntime(made, cache, *feeds)


# ---- sizes that are inputs -------------------------------------------------------------------------------------------


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


SHAPED = [
    (model([node("Reshape", "x i", "y")], {"x": ["N", 4], "i": [2]}, "y"), 4, [(3, 4), (6, 2), (12, 1)]),
    (model([node("Expand", "x i", "e"), node("Exp", "e", "y")], {"x": ["N", 1], "i": [2]}, "y"), 1, [(3, 5), (3, 0)]),
    (model([node("Tile", "x i", "y")], {"x": ["N", 2], "i": [2]}, "y"), 2, [(1, 1), (2, 3), (0, 2), (3, 0)]),
]


@pytest.mark.parametrize("case", SHAPED, ids=lambda case: case[0].graph.node[0].op_type)
def test_a_shape_that_is_an_input(case: tuple[onnx.ModelProto, int, list[tuple[int, int]]], cache: KernelCache):
    made, columns, shapes = case
    check_onnxruntime(made, cache, *({"x": numbers(3, columns), "i": integers(*shape)} for shape in shapes))


def test_a_tensor_of_a_shape_that_is_an_input(cache: KernelCache):
    made = model([node("ConstantOfShape", "i", "y")], {"i": [3]}, "y")
    check_onnxruntime(made, cache, *({"i": integers(*shape)} for shape in ((1, 2, 3), (4, 0, 7), (1, 1, 1))))


def test_bounds_that_are_inputs(cache: KernelCache):
    made = model([node("Slice", "x i0 i1", "y")], {"x": ["N", 4], "i0": [1], "i1": [1]}, "y")
    feeds = [{"x": numbers(6, 4), "i0": integers(a), "i1": integers(b)} for a, b in ((0, 6), (2, 3), (4, 99), (5, 2))]
    check_onnxruntime(made, cache, *feeds)


def test_a_count_that_is_an_input(cache: KernelCache):
    nodes = [node("Range", "zero i two", "r"), node("Cast", "r", "f", to=1), node("Mul", "f f", "y")]
    made = model(nodes, {"i": []}, "y", {"zero": np.array(0), "two": np.array(2)})
    check_onnxruntime(made, cache, *({"i": np.array(n)} for n in (0, 1, 2, 9)))


def test_a_diagonal_that_is_an_input(cache: KernelCache):
    made = model([node("Trilu", "x i", "y")], {"x": [4, 5], "i": []}, "y", opset=14)
    check_onnxruntime(made, cache, *({"x": numbers(4, 5), "i": np.array(k)} for k in (-9, -2, 0, 3, 9)))


def test_one_number_is_one_size(cache: KernelCache):
    """The same number says the sizes of two tensors, which therefore fit each other."""
    nodes = [
        node("Concat", "i one", "shape", axis=0),
        node("Expand", "x shape", "a"),
        node("ConstantOfShape", "i", "b"),
        node("Unsqueeze", "b last", "column"),
        node("Add", "a column", "y"),
    ]
    made = model(nodes, {"x": [1, 1], "i": [1]}, "y", {"one": np.array([1]), "last": np.array([1])})
    check_onnxruntime(made, cache, *({"x": numbers(1, 1), "i": integers(n)} for n in (1, 4, 0)))


# ---- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["host", "c"])
def test_sizes_that_no_memory_holds(target: str, cache: KernelCache):
    made = model([node("ConstantOfShape", "i", "y")], {"i": [3]}, "y")
    module = tw.compile(made, cache=cache, target=target)
    for shape in ((1 << 31, 1 << 31, 1 << 31), (1 << 62, 4, 1), (1 << 40, 4, 4)):
        with pytest.raises(TileworkError, match="there is no memory for a tensor of which data decide the size"):
            module(integers(*shape))
    with pytest.raises(TileworkError, match=r"the size ConstantOfShape_0, which data tell, is less than 0"):
        module(integers(-1, 2, 3))
    assert module(integers(1, 2, 3)).shape == (1, 2, 3)


def test_a_shape_of_another_number_of_elements(cache: KernelCache):
    module = tw.compile(SHAPED[0][0], cache=cache)
    with pytest.raises(TileworkError, match="it cannot reshape"):
        module(numbers(3, 4), integers(5, 2))


def test_arrays_for_results_of_open_size_are_refused(cache: KernelCache):
    module = tw.compile(model([node("NonZero", "x", "y")], {"x": [3]}, "y"), cache=cache)
    with pytest.raises(UsageError, match=r"out\['y'\] cannot be written to: data decide how large the output is"):
        module.run({"x": numbers(3)}, out={"y": np.empty((1, 3), np.int64)})


def test_a_library_of_c_has_no_results_of_open_size(cache: KernelCache, tmp_path):
    module = tw.compile(model([node("NonZero", "x", "y")], {"x": [3]}, "y"), cache=cache)
    with pytest.raises(UsageError, match="data decide how large outputs are"):
        module.save_library(tmp_path / "library")


def test_shapes_of_floats_and_of_unknown_ranks_are_refused():
    made = model([node("Reshape", "x i", "y")], {"x": [4], "i": ["R"]}, "y")
    with pytest.raises(TileworkError, match="its shape is computed from data, and is no vector of a few sizes"):
        import_onnx(made)


# ---- modules ---------------------------------------------------------------------------------------------------------


def test_artefacts_and_threads(cache: KernelCache, tmp_path):
    """A loaded module makes the same; calls at one time do not see each other's sizes."""
    made = model([node("NonZero", "x", "y"), node("Tile", "x i", "z")], {"x": ["N"], "i": [1]}, "y z")
    tw.compile(made, cache=cache).save(tmp_path / "m.tw")
    module = tw.load(tmp_path / "m.tw")
    wrong: list[str] = []

    def call(n: int) -> None:
        x = sparse(n, share=0.5, seed=n)
        for _ in range(20):
            y, z = module(x, integers(n % 5))
            if not (np.array_equal(y, [np.flatnonzero(x)]) and np.array_equal(z, np.tile(x, n % 5))):
                wrong.append(f"{n}: {y.shape} {z.shape}")

    threads = [threading.Thread(target=call, args=(n,)) for n in (1, 17, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_sizes_inside_of_branches_and_bodies(cache: KernelCache):
    """What is counted in a branch, or in each run of a loop, stays there."""
    counted = [node("NonZero", "s", "places"), node("Shape", "places", "dims"), node("Gather", "dims one", "k", axis=0)]
    body = graph(
        [
            *counted,
            node("Cast", "k", "number", to=1),
            node("Sub", "s number", "shifted"),
            node("Relu", "shifted", "n"),
            node("Greater", "k zero", "goes_on"),
        ],
        {"i": [], "c": [], "s": [5]},
        "goes_on n",
    )
    constants: Mapping[str, Array] = {
        "one": np.array(1),
        "zero": np.array(0),
        "ten": np.array(10),
        "yes": np.array(True),
    }
    made = model([node("Loop", "ten yes h", "end", body=body)], {"h": [5]}, "end", constants)
    check_onnxruntime(made, cache, {"h": np.float32([1, 9, 14, 0, 3])}, {"h": np.zeros(5, np.float32)})


# ---- the largest, of which data decide how many ----------------------------------------------------------------------


def test_as_many_of_the_largest_as_data_say(cache: KernelCache):
    made = model([node("TopK", "x i", "values places", axis=1)], {"x": ["N", 6], "i": [1]}, "values places")
    check_onnxruntime(made, cache, *({"x": np.round(numbers(3, 6), 1), "i": integers(k)} for k in (0, 1, 4, 6)))
    with pytest.raises(TileworkError, match="the size TopK_0, which data tell, is not from 0 to 6"):
        tw.compile(made, cache=cache, processes=1)(numbers(3, 6), integers(7))


def test_open_counts_of_open_axes_are_refused():
    made = model([node("TopK", "x i", "values places", axis=0)], {"x": ["N"], "i": [1]}, "values places")
    with pytest.raises(TileworkError, match="its k is TopK_0: that is open for axes of known size only, not of N"):
        import_onnx(made)
