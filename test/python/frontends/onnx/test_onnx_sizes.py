"""ONNX models in which sizes that are known at run time only are numbers, or those of constants and sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilework as tw
from tilework.algebra.errors import TileworkError, UsageError
from tilework.runtime.cache import KernelCache

onnxruntime = pytest.importorskip("onnxruntime")

Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def node(op: str, inputs: str, output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), [output], **attributes)


def model(
    nodes: Sequence[onnx.NodeProto], inputs: dict[str, Sequence[int | str]], **constants: Array
) -> onnx.ModelProto:
    """The result of the last node, for inputs of f32."""
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in inputs.items()]
    outputs = [helper.make_empty_tensor_value_info(nodes[-1].output[0])]
    initializers = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", infos, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(made: onnx.ModelProto, cache: KernelCache, *shapes: Sequence[int]) -> None:
    """Compile once, then compare with onnxruntime for each shape of the only input."""
    module = tw.compile(made, cache=cache, processes=1)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for shape in shapes:
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        (wanted,) = session.run(None, {made.graph.input[0].name: x})
        got = module(x)
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


SHAPE = node("Shape", "x", "shape")


def test_positions_of_an_unknown_number_of_words(cache: KernelCache):
    nodes = [
        SHAPE,
        node("Gather", "shape at", "length"),
        node("Range", "zero length one", "positions"),
        node("Gather", "table positions", "y"),
    ]
    table = np.random.default_rng(1).standard_normal((16, 3)).astype(np.float32)
    numbers = {"at": np.array(1), "zero": np.array(0), "one": np.array(1)}
    check(model(nodes, {"x": ["B", "S"]}, table=table, **numbers), cache, (2, 1), (1, 7), (3, 16))


@pytest.mark.parametrize(("start", "step"), [(3, 2), (-4, 1), (5, 3)])
def test_a_range_ends_before_its_limit(cache: KernelCache, start: int, step: int):
    nodes = [SHAPE, node("Gather", "shape zero", "n"), node("Range", "start n step", "y")]
    numbers = {"zero": np.array(0), "start": np.array(start), "step": np.array(step)}
    check(model(nodes, {"x": ["N", 2]}, **numbers), cache, (6, 2), (7, 2), (8, 2), (21, 2))


def test_a_range_counts_down(cache: KernelCache):
    nodes = [SHAPE, node("Gather", "shape zero", "n"), node("Range", "n last step", "y")]
    numbers = {"zero": np.array(0), "last": np.array(-1), "step": np.array(-2)}
    check(model(nodes, {"x": ["N", 2]}, **numbers), cache, (1, 2), (4, 2), (7, 2))


def test_a_shape_is_a_tensor_too(cache: KernelCache):
    check(model([node("Shape", "x", "y")], {"x": ["N", 4, "M"]}), cache, (2, 4, 3), (5, 4, 1))


def test_a_size_is_a_factor(cache: KernelCache):
    nodes = [
        SHAPE,
        node("Gather", "shape zero", "n"),
        node("Cast", "n", "number", to=TensorProto.FLOAT),
        node("Div", "x number", "y"),
    ]
    check(model(nodes, {"x": ["N", 5]}, zero=np.array(0)), cache, (3, 5), (8, 5))


def test_zeros_of_a_shape_that_is_not_known(cache: KernelCache):
    nodes = [SHAPE, node("ConstantOfShape", "shape", "zeros"), node("Sub", "zeros x", "y")]
    check(model(nodes, {"x": ["N", 3, "M"]}), cache, (2, 3, 5), (1, 3, 1))
    value = numpy_helper.from_array(np.array([7], np.int64))
    check(model([SHAPE, node("ConstantOfShape", "shape", "y", value=value)], {"x": ["N"]}), cache, (2,), (9,))


def test_a_constant_is_repeated_for_each_of_a_batch(cache: KernelCache):
    nodes = [
        node("Shape", "x", "batch", start=0, end=1),
        node("Concat", "batch beside", "shape", axis=0),
        node("Expand", "token shape", "tokens"),
        node("Concat", "tokens x", "y", axis=1),
    ]
    token = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    check(model(nodes, {"x": ["B", 6, 4]}, beside=ints(1, 4), token=token), cache, (1, 6, 4), (5, 6, 4))


def numbers(*shape: int) -> Array:
    return np.random.default_rng(1).random(shape, np.float32)


CERTAIN = {
    "Concat, sample first": ([node("Concat", "x row", "y", axis=1)], {"row": numbers(1, 3)}, ["A", 5], (1, 5)),
    "Concat, sample last": ([node("Concat", "row x", "y", axis=1)], {"row": numbers(1, 3)}, ["A", 5], (1, 5)),
    "Reshape": (
        [node("Reshape", "x shape", "r"), node("Relu", "r", "y")],
        {"shape": ints(8, 6)},
        ["A", 6, 4],
        (2, 6, 4),
    ),
    "Squeeze": ([node("Squeeze", "x axis", "y")], {"axis": ints(0)}, ["A", "B"], (1, 5)),
    "Split": (
        [helper.make_node("Split", ["x", "sizes"], ["p", "q"], axis=1), node("Mul", "p q", "y")],
        {"sizes": ints(3, 3)},
        ["B", "A"],
        (4, 6),
    ),
    "MatMul": ([node("MatMul", "x w", "y")], {"w": numbers(6, 5)}, ["B", "A"], (4, 6)),
    "MatMul, right": ([node("MatMul", "w x", "y")], {"w": numbers(5, 6)}, ["A", "B"], (6, 4)),
    "Gemm": ([node("Gemm", "x w", "y")], {"w": numbers(6, 5)}, ["B", "A"], (4, 6)),
    "Conv": ([node("Conv", "x w", "y")], {"w": numbers(4, 3, 2, 2)}, ["B", "A", "H", "W"], (2, 3, 5, 4)),
    "Conv, groups": (
        [node("Conv", "x w", "y", group=3)],
        {"w": numbers(6, 1, 2, 2)},
        ["B", "A", "H", "W"],
        (2, 3, 5, 4),
    ),
    "ConvTranspose": (
        [node("ConvTranspose", "x w", "y")],
        {"w": numbers(3, 4, 2, 2)},
        ["B", "A", "H", "W"],
        (2, 3, 5, 4),
    ),
    "BatchNormalization": (
        [node("BatchNormalization", "x c c c c", "y")],
        {"c": numbers(3)},
        ["B", "A", "H"],
        (2, 3, 5),
    ),
    "LayerNormalization": ([node("LayerNormalization", "x c c", "y")], {"c": numbers(6)}, ["B", "A"], (4, 6)),
    "LSTM, features": (
        [node("LSTM", "x w r", "y", hidden_size=2)],
        {"w": numbers(1, 8, 3), "r": numbers(1, 8, 2)},
        ["T", "B", "A"],
        (4, 2, 3),
    ),
    "GRU, batch": (
        [helper.make_node("GRU", ["x", "w", "r", "", "", "h"], ["y"], hidden_size=2)],
        {"w": numbers(1, 6, 3), "r": numbers(1, 6, 2), "h": numbers(1, 1, 2)},
        ["T", "A", 3],
        (4, 1, 3),
    ),
}


@pytest.mark.parametrize(("nodes", "constants", "declared", "shape"), CERTAIN.values(), ids=CERTAIN)
def test_a_size_that_is_declared_open_and_cannot_be(
    cache: KernelCache,
    nodes: Sequence[onnx.NodeProto],
    constants: dict[str, Array],
    declared: Sequence[int | str],
    shape: tuple[int, ...],
):
    """What else the graph has says what A is; an input of another size is refused."""
    made, axis = model(nodes, {"x": declared}, **constants), declared.index("A")
    check(made, cache, shape)
    other = tuple(size + (number == axis) for number, size in enumerate(shape))
    with pytest.raises(UsageError, match=f"dimension {axis} must be {shape[axis]}"):
        tw.compile(made, cache=cache, processes=1)(np.zeros(other, np.float32))


NAMED_TWICE = {
    "MatMul": ([node("MatMul", "x z", "y")], {"x": ["B", "N"], "z": ["M", 5]}, {}, {"x": (2, 3), "z": (3, 5)}),
    "GRU": (
        [helper.make_node("GRU", ["x", "w", "r", "", "", "z"], ["y"], hidden_size=2)],
        {"x": ["T", "N", 3], "z": [1, "M", 2]},
        {"w": numbers(1, 6, 3), "r": numbers(1, 6, 2)},
        {"x": (4, 3, 3), "z": (1, 3, 2)},
    ),
}


@pytest.mark.parametrize(("nodes", "declared", "constants", "shapes"), NAMED_TWICE.values(), ids=NAMED_TWICE)
def test_one_size_under_two_names(
    cache: KernelCache,
    nodes: Sequence[onnx.NodeProto],
    declared: dict[str, Sequence[int | str]],
    constants: dict[str, Array],
    shapes: dict[str, tuple[int, ...]],
):
    made = model(nodes, declared, **constants)
    module = tw.compile(made, cache=cache, processes=1)
    inputs = {name: numbers(*shape) for name, shape in shapes.items()}
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(module.run(inputs)["y"], session.run(None, inputs)[0], rtol=1e-6, atol=1e-6)
    longer = tuple(4 if name == "M" else size for name, size in zip(declared["z"], shapes["z"], strict=True))
    with pytest.raises(UsageError, match="of input 'z' is 4, but N is 3"):
        module.run({**inputs, "z": numbers(*longer)})


@pytest.mark.parametrize(
    ("declared", "shape"),
    [(["A", 6, 4], [25]), (["A", 0], [24]), (["A", 6], [0])],
    ids=["a part of a row", "rows of nothing", "nothing"],
)
def test_a_shape_for_which_no_size_can_be_told_is_refused(
    cache: KernelCache, declared: Sequence[int | str], shape: Sequence[int]
):
    made = model([node("Reshape", "x shape", "y")], {"x": declared}, shape=ints(*shape))
    with pytest.raises(TileworkError, match="Reshape 'Reshape_0': "):
        tw.compile(made, cache=cache)


def test_what_a_branch_needs_says_nothing_of_other_sizes(cache: KernelCache):
    def branch(*nodes: onnx.NodeProto) -> onnx.GraphProto:
        return helper.make_graph(nodes, "branch", [], [helper.make_empty_tensor_value_info("b")])

    is_single = branch(node("Squeeze", "x zero", "b"))
    nodes = [
        node("ReduceMax", "x", "most", keepdims=0),
        node("Cast", "most", "has", to=TensorProto.BOOL),
        node("If", "has", "y", then_branch=is_single, else_branch=branch(node("Identity", "x", "b"))),
    ]
    with pytest.raises(TileworkError, match="If 'If_2': its then_branch is for N = 1"):
        tw.compile(model(nodes, {"x": ["N", 5]}, zero=ints(0)), cache=cache)


@pytest.mark.parametrize(("start", "end"), [(1, 2**31), (0, -1), (-3, -1), (-2, 2**63 - 1), (2, 5)])
def test_a_section_of_an_axis_of_unknown_size(cache: KernelCache, start: int, end: int):
    nodes = [node("Slice", "x starts ends axes", "y")]
    made = model(nodes, {"x": [2, "N"]}, starts=ints(start), ends=ints(end), axes=ints(1))
    check(made, cache, (2, 5), (2, 8), (2, 33))


def test_a_slice_that_ends_behind_its_axis_ends_with_it(cache: KernelCache):
    nodes = [SHAPE, node("Add", "shape ends", "stop"), node("Slice", "x starts stop", "y")]
    made = model(nodes, {"x": ["N"]}, starts=ints(1), ends=ints(1))
    check(made, cache, (5,), (1,), (0,))


def test_as_many_rows_of_a_table_as_there_are_words(cache: KernelCache):
    nodes = [
        node("Shape", "x", "length", start=1),
        node("Slice", "table zero length", "rows"),
        node("Add", "rows rows", "y"),
    ]
    made = model(nodes, {"x": ["B", "S"]}, table=np.random.default_rng(2).random((9, 4), np.float32), zero=ints(0))
    check(made, cache, (1, 1), (2, 9), (1, 10))


@pytest.mark.parametrize("op", ["Concat", "Add"])
def test_sizes_that_are_computed_in_two_ways_have_to_be_equal(cache: KernelCache, op: str):
    pool = {"kernel_shape": [2], "strides": [2]}
    nodes = [
        node("MaxPool", "x", "half", **pool),
        node("MaxPool", "half", "quarter", **pool),
        node("Resize", "quarter roi twice", "back", mode="nearest"),
        node(op, "half back", "y", **({"axis": 1} if op == "Concat" else {})),
    ]
    made = model(nodes, {"x": [1, 3, "N"]}, roi=np.zeros(0, np.float32), twice=np.array([1, 1, 2], np.float32))
    check(made, cache, (1, 3, 8), (1, 3, 13))
    with pytest.raises(UsageError, match=rf"^{op} '{op}_3': .*\(N = 11 is dimension 2 of input 'x'\)$"):
        tw.compile(made, cache=cache, processes=1)(np.zeros((1, 3, 11), np.float32))


def test_a_range_without_an_end_is_refused(cache: KernelCache):
    nodes = [SHAPE, node("Gather", "shape zero", "n"), node("Range", "zero n zero", "y")]
    with pytest.raises(TileworkError, match="Range 'Range_2': its step is 0"):
        tw.compile(model(nodes, {"x": ["N"]}, zero=np.array(0)), cache=cache)


def test_a_size_in_another_type(cache: KernelCache):
    nodes = [SHAPE, node("Mul", "shape many", "t"), node("Cast", "t", "y", to=TensorProto.INT8)]
    check(model(nodes, {"x": ["N", "M"]}, many=np.array(100)), cache, (2, 3))


def test_a_size_less_something_is_divided_towards_zero(cache: KernelCache):
    nodes = [
        SHAPE,
        node("Sub", "shape five", "less"),
        node("Div", "less two", "half"),
        node("Cast", "half", "number", to=TensorProto.FLOAT),
        node("Add", "x number", "y"),
    ]
    check(model(nodes, {"x": ["N"]}, five=np.array(5), two=np.array(2)), cache, (2,), (4,), (9,))


def test_whether_a_size_is_one_is_asked_when_the_model_runs(cache: KernelCache):
    nodes = [
        SHAPE,
        node("Gather", "shape zero", "n"),
        node("Equal", "n one", "is_one"),
        node("Where", "is_one x five", "y"),
    ]
    numbers = {"zero": np.array(0), "one": np.array(1), "five": np.array(5, np.float32)}
    check(model(nodes, {"x": ["N", 3]}, **numbers), cache, (1, 3), (2, 3))


def test_a_section_that_ends_before_it_starts_is_empty(cache: KernelCache):
    nodes = [node("Slice", "x starts ends axes", "y")]
    check(model(nodes, {"x": [2, "N"]}, starts=ints(5), ends=ints(2), axes=ints(1)), cache, (2, 9))


def test_a_table_is_repeated_an_unknown_number_of_times(cache: KernelCache):
    nodes = [
        node("Shape", "x", "batch", end=1),
        node("Concat", "batch two", "times", axis=0),
        node("Tile", "table times", "y"),
    ]
    check(model(nodes, {"x": ["N", 3]}, two=ints(2), table=np.ones((1, 4), np.float32)), cache, (1, 3), (5, 3))


def test_sizes_of_32_bits_stay_such(cache: KernelCache):
    """Counted up to, and in other dimensions, beside other numbers of 32 bits."""
    numbers = [
        SHAPE,
        node("Cast", "shape", "short", to=TensorProto.INT32),
        node("Gather", "short zero", "n"),
    ]
    counted = [node("Range", "none n one", "places"), node("Add", "places seven", "y")]
    seven, zero, none, one = (np.array(n, np.int32) for n in (7, 0, 0, 1))
    made = model([*numbers, *counted], {"x": ["B", 2]}, seven=seven, zero=zero, none=none, one=one)
    check(made, cache, (3, 2), (1, 2))
    shaped = [node("Unsqueeze", "n axes", "row"), node("Mul", "row seven", "y")]
    check(model([*numbers, *shaped], {"x": ["B", 2]}, seven=seven, zero=zero, axes=ints(0)), cache, (3, 2), (1, 2))


def test_a_range_that_ends_before_it_begins_is_empty(cache: KernelCache):
    nodes = [
        SHAPE,
        node("Gather", "shape zero", "n"),
        node("Sub", "n three", "less"),
        node("Range", "n less one", "none"),
        node("Concat", "none shape", "y", axis=0),
    ]
    made = model(nodes, {"x": ["B", 2]}, zero=np.array(0), three=np.array(3), one=np.array(1))
    check(made, cache, (2, 2), (5, 2))


@pytest.mark.parametrize("rows", [512, 4])
def test_the_row_of_a_table_that_a_size_names(cache: KernelCache, rows: int):
    """There is a large table, and one that is small enough to be known."""
    nodes = [SHAPE, node("Gather", "shape zero", "n"), node("Sub", "n one", "last"), node("Gather", "table last", "y")]
    table = np.random.default_rng(1).standard_normal((rows, 8)).astype(np.float32)
    check(model(nodes, {"x": ["B", 2]}, zero=np.array(0), one=np.array(1), table=table), cache, (4, 2), (1, 2))


def test_a_constant_of_a_negative_size_is_refused(cache: KernelCache):
    nodes = [SHAPE, node("Concat", "shape less", "sizes", axis=0), node("ConstantOfShape", "sizes", "y")]
    with pytest.raises(TileworkError, match="-1 in its shape .* is no size"):
        tw.compile(model(nodes, {"x": ["B", 2]}, less=ints(-1)), cache=cache)


def test_a_window_of_unknown_size_is_refused(cache: KernelCache):
    made = model([node("Conv", "x w", "y", auto_pad="SAME_UPPER")], {"x": [1, 3, 8, 8], "w": [4, 3, "k", "k"]})
    with pytest.raises(TileworkError, match="its window is of constant size"):
        tw.compile(made, cache=cache)


def test_an_image_without_rows_is_resized(cache: KernelCache):
    how = {"mode": "nearest", "coordinate_transformation_mode": "half_pixel_symmetric"}
    made = model(
        [helper.make_node("Resize", ["x", "", "scales"], ["y"], **how)],
        {"x": [1, 3, 0, 4]},
        scales=np.array([1, 1, 2, 2], np.float32),
    )
    made.opset_import[0].version = 19
    assert tw.compile(made, cache=cache)(np.zeros((1, 3, 0, 4), np.float32)).shape == (1, 3, 0, 8)
