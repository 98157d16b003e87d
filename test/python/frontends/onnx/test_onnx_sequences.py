"""Sequences and optionals of ONNX, which are taken apart while importing, compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx_models import INT64, Array, graph, node, numbers
from onnx_sequences import OPSET, TENSOR, branch, loop_over, map_model, sequence_model, split_model
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

import tilework as tw
from tilework.algebra.errors import TileworkError
from tilework.dialects import arith
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def runtime(made: onnx.ModelProto, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """What onnxruntime computes; elements of a sequence have numbers behind its name."""
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    results: dict[str, Array] = {}
    for output, value in zip(made.graph.output, session.run(None, dict(feeds)), strict=True):
        is_many = isinstance(value, list)
        results |= {f"{output.name}_{i}": v for i, v in enumerate(value)} if is_many else {output.name: value}
    return results


def same(results: Mapping[str, Array], wanted: Mapping[str, Array]) -> None:
    assert list(results) == list(wanted)
    for name, array in wanted.items():
        assert results[name].dtype == array.dtype and results[name].shape == array.shape
        np.testing.assert_array_equal(results[name], array)


def check(made: onnx.ModelProto, feeds: Mapping[str, Array], cache: KernelCache | None = None) -> None:
    """Interpreted, and compiled where there is a cache."""
    wanted = runtime(made, feeds)
    imported = import_onnx(made)
    results = run_function(imported.module, "main", list(feeds.values()), imported.parameters)
    same(dict(zip(wanted, results, strict=True)), wanted)
    if cache is not None:
        same(tw.compile(made, cache=cache, processes=1).run(dict(feeds)), wanted)


# ---- Splitting and concatenating -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_a_tensor_is_split(seed: int):
    """Into parts of one size, given sizes, or single ones with and without their axis."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 6, rng.integers(1, 4)).tolist()
    axis = int(rng.integers(-len(shape), len(shape)))
    extent = shape[axis]
    cuts = np.sort(rng.integers(0, extent + 1, rng.integers(0, 4)))
    given = [None, int(rng.integers(1, extent + 2)), np.diff([0, *cuts, extent]).tolist()][seed % 3]
    keepdims = None if isinstance(given, int) else [None, 0, 1][rng.integers(0, 3)]
    check(split_model(shape, axis, given, keepdims), {"x": numbers(*shape, seed=seed)})


@pytest.mark.parametrize(("sizes", "keepdims"), [([2, 0, 3], None), (2, None), (None, 0)])
def test_what_is_split_is_compiled(sizes: Any, keepdims: int | None, cache: KernelCache):
    check(split_model([3, 5], 1, sizes, keepdims), {"x": numbers(3, 5)}, cache)


@pytest.mark.parametrize("axis", [0, -1])
def test_single_parts_lose_their_axis_as_onnxruntime_reads_it(axis: int, cache: KernelCache):
    """The standard keeps it where the size is given, which PyTorch's exporters do for `unbind`."""
    check(split_model([3, 4], axis, 1, 0), {"x": numbers(3, 4)}, cache)


def test_other_parts_keep_their_axis():
    """The standard says so; onnxruntime computes nothing then."""
    made, x = split_model([3, 4], 1, 2, 0), numbers(3, 4)
    [wanted] = ReferenceEvaluator(made).run(None, {"x": x})
    results = run_function(import_onnx(made).module, "main", [x], {})
    same({f"s_{i}": result for i, result in enumerate(results)}, {"s_0": wanted[0], "s_1": wanted[1]})


@pytest.mark.parametrize(("sizes", "keepdims"), [([2, 3], 0), ([1, 0, 4], None), (2, None), (None, 0)])
def test_other_axes_may_be_open(sizes: Any, keepdims: int | None, cache: KernelCache):
    made = split_model(["N", 5], 1, sizes, keepdims)
    for rows in (1, 4):
        check(made, {"x": numbers(rows, 5)}, cache)


def test_an_open_axis_is_split_into_given_sizes(cache: KernelCache):
    """That they are all of it is asked when it is run; onnxruntime asks too."""
    made = split_model(["N", 2], 0, [2, 0, 3])
    check(made, {"x": numbers(5, 2)}, cache)
    module = tw.compile(made, cache=cache, processes=1)
    for rows in (4, 6):
        with pytest.raises(TileworkError, match="5"):
            module.run({"x": numbers(rows, 2)})


@pytest.mark.parametrize("rows", [1, 2])
def test_an_open_axis_that_is_one_part(rows: int, cache: KernelCache):
    made = split_model(["N", 2], 0, [1])
    if rows == 1:
        check(made, {"x": numbers(1, 2)}, cache)
        return
    with pytest.raises(TileworkError):
        tw.compile(made, cache=cache, processes=1).run({"x": numbers(rows, 2)})


def test_sizes_of_parts_that_follow_from_open_ones(cache: KernelCache):
    """The first row, and as many as are left; as many as there are of another input, and as many."""
    constants = {"zero": np.array([0]), "one": np.array([1]), "at": np.array(1)}
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "rows"),
        node("Sub", "rows one", "left"),
        node("Concat", "one left", "sizes", axis=0),
        node("SplitToSequence", "x sizes", "s", axis=0),
        node("SequenceAt", "s at", "y"),
    ]
    made = sequence_model(nodes, {"x": ["N", 3]}, "y s", constants)
    for rows in (2, 5):
        check(made, {"x": numbers(rows, 3)}, cache)
    nodes = [
        node("Shape", "a", "shape_a"),
        node("Shape", "b", "shape_b"),
        node("Concat", "shape_a shape_b", "sizes", axis=0),
        node("Concat", "a b", "x", axis=0),
        node("SplitToSequence", "x sizes", "s", axis=0),
    ]
    made = sequence_model(nodes, {"a": ["A"], "b": ["B"]}, "s")
    for count in (1, 4):
        check(made, {"a": numbers(count), "b": numbers(3, seed=1)}, cache)


@pytest.mark.parametrize("seed", range(20))
def test_elements_are_concatenated(seed: int):
    """Along an axis of theirs, in which they may differ, or a new one."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 4, rng.integers(1, 4)).tolist()
    is_new, count = seed % 2, int(rng.integers(1, 4))
    rank = len(shape) + is_new
    axis = int(rng.integers(-rank, rank))
    shapes = {f"x{i}": list(shape) for i in range(count)}
    if not is_new:
        for other in shapes.values():
            other[axis] = int(rng.integers(1, 5))
    nodes = [node("SequenceConstruct", " ".join(shapes), "s")]
    nodes.append(node("ConcatFromSequence", "s", "y", axis=axis, **({"new_axis": 1} if is_new else {})))
    check(sequence_model(nodes, shapes, "y"), {name: numbers(*s, seed=seed) for name, s in shapes.items()})


@pytest.mark.parametrize("attributes", [{"axis": 0}, {"axis": -1, "new_axis": 1}, {"axis": 1, "new_axis": 1}])
def test_elements_of_open_sizes_are_concatenated(attributes: dict[str, int], cache: KernelCache):
    nodes = [node("SequenceConstruct", "a b", "s"), node("ConcatFromSequence", "s", "y", **attributes)]
    made = sequence_model(nodes, {"a": ["A", 2], "b": ["B", 2]}, "y")
    for rows in (1, 3):
        other = rows if "new_axis" in attributes else 4
        check(made, {"a": numbers(rows, 2), "b": numbers(other, 2, seed=1)}, cache)


def test_sizes_are_concatenated_while_importing():
    """What a sequence of sizes makes together is a shape."""
    nodes = [
        node("Shape", "x", "shape"),
        node("SplitToSequence", "shape", "parts"),
        node("SequenceErase", "parts last", "fewer"),
        node("SequenceInsert", "fewer six", "more"),
        node("ConcatFromSequence", "more", "wanted", axis=0),
        node("Reshape", "x wanted", "y"),
        node("SplitToSequence", "shape", "numbers", keepdims=0),
        node("ConcatFromSequence", "numbers", "i", axis=0, new_axis=1),
    ]
    made = sequence_model(nodes, {"x": ["N", 2, 3]}, "y i", {"last": np.array(-2), "six": np.array([6])})
    made.graph.node[2].input[1] = "last"
    made.graph.node.insert(3, node("SequenceErase", "fewer", "one"))
    made.graph.node[4].input[0] = "one"
    check(made, {"x": numbers(4, 2, 3)})


# ---- Programs of sequences -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_any_program_of_sequences(seed: int):
    """Elements are put in and taken out anywhere; the sequence, its length and one of its elements are outputs."""
    rng = np.random.default_rng(seed)
    feeds = {f"x{i}": numbers(*rng.integers(1, 4, 2), seed=i) for i in range(4)}
    constants: dict[str, Array] = {}

    def position(low: int, high: int) -> str:
        """A constant from low to high - 1, or none."""
        if rng.random() < 0.25:
            return ""
        name = f"at{len(constants)}"
        constants[name] = np.array(rng.integers(low, high), [np.int32, np.int64][rng.integers(0, 2)])
        return f" {name}"

    nodes, length = [node("SequenceEmpty", "", "s0"), node("SequenceConstruct", "x0 x1", "s1")], 2
    if seed % 2:
        nodes, length = nodes[:1], 0
    for _ in range(8):
        source, result = nodes[-1].output[0], f"s{len(nodes)}"
        if length == 0 or rng.random() < 0.6:
            chosen = f"{source} x{rng.integers(0, 4)}{position(-length, length + 1)}"
            nodes.append(node("SequenceInsert", chosen, result))
            length += 1
        else:
            nodes.append(node("SequenceErase", f"{source}{position(-length, length)}", result))
            length -= 1
    if length == 0:
        nodes.append(node("SequenceInsert", f"{nodes[-1].output[0]} x3", f"s{len(nodes)}"))
        length = 1
    last = nodes[-1].output[0]
    constants["at"] = np.array(rng.integers(-length, length))
    nodes += [node("SequenceLength", last, "i"), node("SequenceAt", f"{last} at", "y")]
    inputs = {name: array.shape for name, array in feeds.items()}
    check(sequence_model(nodes, inputs, f"{last} i y", constants), feeds)


def test_other_names_of_a_sequence(cache: KernelCache):
    nodes = [
        node("SplitToSequence", "x", "parts"),
        node("Identity", "parts", "same"),
        node("SequenceAt", "same at", "one"),
        node("Add", "one one", "y"),
    ]
    check(sequence_model(nodes, {"x": [3, 2]}, "y", {"at": np.array(-1)}), {"x": numbers(3, 2)}, cache)


def test_a_length_is_known_while_importing():
    made = sequence_model(
        [node("SplitToSequence", "x", "s"), node("SequenceLength", "s", "i")], {"x": [7]}, "i", opset=11
    )
    [constant] = [op for op in import_onnx(made).module.walk() if isinstance(op, arith.ConstantOp)]
    assert isinstance(constant.value, DenseIntOrFPElementsAttr) and constant.value.get_values() == (7,)
    check(made, {"x": numbers(7)})


# ---- Control ---------------------------------------------------------------------------------------------------------


FORTH = branch([node("SequenceConstruct", "a b", "s")])
BACK = branch([node("SequenceConstruct", "b a", "s")])


@pytest.mark.parametrize("taken", [False, True])
def test_branches_that_make_sequences(taken: bool, cache: KernelCache):
    """Which branch is taken may be known beforehand or not."""
    nodes = [node("If", "c", "s", then_branch=FORTH, else_branch=BACK)]
    shapes = {"a": [2, 3], "b": [2, 3]}
    feeds = {"a": numbers(2, 3), "b": numbers(2, 3, seed=1)}
    check(sequence_model(nodes, shapes, "s", {"c": np.array(taken)}), feeds, cache)
    check(sequence_model(nodes, {"c": [], **shapes}, "s"), {"c": np.array(taken), **feeds}, cache)


def test_a_branch_takes_a_sequence_from_around_it(cache: KernelCache):
    first = graph([node("SequenceAt", "parts zero", "y")], {}, "y", {"zero": np.array(0)})
    other = graph([node("ConcatFromSequence", "parts", "sum", axis=0), node("Slice", "sum one two", "y")], {}, "y")
    other.initializer.extend(
        onnx.numpy_helper.from_array(np.array([n], np.int64), name) for n, name in ((1, "one"), (2, "two"))
    )
    nodes = [node("SplitToSequence", "x", "parts"), node("If", "c", "y", then_branch=first, else_branch=other)]
    made = sequence_model(nodes, {"c": [], "x": [3, 2]}, "y")
    for taken in (False, True):
        check(made, {"c": np.array(taken), "x": numbers(3, 2)}, cache)


@pytest.mark.parametrize("count", [5, 32])
def test_a_loop_that_makes_a_sequence(count: int, cache: KernelCache):
    check(loop_over(count), {"x": numbers(count, 2)}, cache)


def test_a_sequence_is_mapped(cache: KernelCache):
    nodes = [node("Add", "a b", "sum"), node("Mul", "sum w", "s_"), node("Sub", "a w", "s2_")]
    made = map_model([5, 5], nodes)
    feeds = {"x0": numbers(5, 3), "x1": numbers(5, 3, seed=1), "x": numbers(3, seed=2)}
    check(made, feeds, cache)


def test_an_empty_sequence_is_mapped():
    """It becomes a sequence of the type that the body declares."""
    body = graph([node("Neg", "a", "n")], {"a": [2]}, "n")
    body.output[0].CopyFrom(helper.make_tensor_value_info("n", INT64, None))
    nodes = [
        node("SequenceEmpty", "", "none"),
        node("SequenceMap", "none", "mapped", body=body),
        node("SequenceLength", "mapped", "ilength"),
        node("SequenceInsert", "mapped ix", "more"),
        node("SequenceAt", "more ilength", "iy"),
    ]
    made = sequence_model(nodes, {"ix": [2]}, "ilength iy")
    results = run_function(import_onnx(made).module, "main", [np.array([3, 4])], {})
    same(dict(zip(("ilength", "iy"), results, strict=True)), {"ilength": np.array(0), "iy": np.array([3, 4])})


def test_sequences_in_a_function(cache: KernelCache):
    """A function of a sequence and an optional is taken apart as others are."""
    nodes = [
        node("SequenceAt", "s one", "second"),
        node("OptionalGetElement", "o", "x"),
        node("Add", "second x", "y"),
    ]
    nodes.insert(0, node("Constant", "", "one", value_int=1))
    own = helper.make_function("own", "Picked", ["s", "o"], ["y"], nodes, [helper.make_opsetid("", OPSET)])
    calls = [
        node("SequenceConstruct", "a b", "s"),
        node("Optional", "a", "o"),
        node("Picked", "s o", "y", domain="own"),
    ]
    made = sequence_model(calls, {"a": [2], "b": [2]}, "y")
    made.functions.append(own)
    made.opset_import.append(helper.make_opsetid("own", 1))
    check(made, {"a": numbers(2), "b": numbers(2, seed=1)}, cache)


# ---- Optionals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("has_element", [False, True])
def test_an_optional_with_an_element_or_without(has_element: bool, cache: KernelCache):
    held = graph([node("OptionalGetElement", "o", "z")], {}, "z")
    other = graph([node("Neg", "x", "z")], {}, "z")
    first = node("Optional", "x", "o") if has_element else node("Optional", "", "o", type=TENSOR)
    nodes = [
        first,
        node("OptionalHasElement", "o", "c"),
        node("If", "c", "z", then_branch=held, else_branch=other),
        node("Add", "z x", "y"),
    ]
    check(sequence_model(nodes, {"x": [3]}, "y c"), {"x": numbers(3)}, cache)


def test_an_optional_that_is_an_output():
    """The output is the element of the optional."""
    made = sequence_model([node("Optional", "x", "y")], {"x": [3]}, "y")
    made.graph.output[0].type.CopyFrom(helper.make_optional_type_proto(TENSOR))
    imported = import_onnx(made)
    x = numbers(3)
    [y] = run_function(imported.module, "main", [x], imported.parameters)
    np.testing.assert_array_equal(y, x)


def test_data_decide_between_optionals(cache: KernelCache):
    """Both have an element; onnxruntime has no such optionals in branches."""
    then_branch = graph([node("Optional", "a", "o")], {}, "o")
    else_branch = graph([node("Optional", "b", "o")], {}, "o")
    nodes = [
        node("If", "c", "o", then_branch=then_branch, else_branch=else_branch),
        node("OptionalGetElement", "o", "y"),
    ]
    module = tw.compile(sequence_model(nodes, {"c": [], "a": [2], "b": [2]}, "y"), cache=cache, processes=1)
    a, b = numbers(2), numbers(2, seed=1)
    for taken in (False, True):
        np.testing.assert_array_equal(module(np.array(taken), a, b), a if taken else b)
