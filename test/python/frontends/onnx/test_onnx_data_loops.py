"""Loops and branches of ONNX that data decide: one native call each, equal to onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx_models import Array, check_onnxruntime, graph, model, node, numbers

import tilework as tw
from tilework.algebra.errors import TileworkError
from tilework.dialects.graph import IfOp, WhileOp
from tilework.frontends.onnx import import_onnx
from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def count(made: onnx.ModelProto, kind: type) -> int:
    return sum(isinstance(op, kind) for op in import_onnx(made).module.walk())


# ---- while -----------------------------------------------------------------------------------------------------------


def doubling(given: str, inputs: Mapping[str, Sequence[int | str]], outputs: str = "end all") -> onnx.ModelProto:
    """Doubles h, and says so, until an element is 100 or more."""
    body = graph(
        [
            node("Add", "s s", "n"),
            node("ReduceMax", "n", "most", keepdims=0),
            node("Less", "most limit", "goes_on"),
            *([node("Identity", "n", "y")] if outputs == "end all" else []),
        ],
        {"i": [], "c": [], "s": [4]},
        f"goes_on n{' y' if outputs == 'end all' else ''}",
        {"limit": np.float32(100)},
    )
    constants = {"forty": np.array(40), "yes": np.array(True)}
    return model([node("Loop", given, outputs, body=body)], inputs, outputs, constants)


def positive(*shape: int, seed: int = 0) -> Array:
    return np.abs(numbers(*shape, seed=seed)) + np.float32(0.1)


def test_a_loop_that_ends_by_data(cache: KernelCache):
    made = doubling("forty yes h", {"h": [4]})
    answers = check_onnxruntime(
        made, cache, {"h": positive(4)}, {"h": 60 * positive(4)}, {"h": np.zeros(4, np.float32)}
    )
    assert count(made, WhileOp) == 1
    assert 1 < len(answers[1][1]) < len(answers[0][1]) and len(answers[2][1]) == 40


def test_a_condition_that_is_data_from_the_first(cache: KernelCache):
    made = doubling("forty c h", {"c": [], "h": [4]})
    feeds = [{"c": np.array(c), "h": positive(4)} for c in (True, False)]
    answers = check_onnxruntime(made, cache, *feeds)
    assert answers[1][1].shape == (0, 4), "a loop of no iteration makes no element"


@pytest.mark.parametrize("outputs", ["end", "end all"])
def test_a_number_of_iterations_that_is_data(outputs: str, cache: KernelCache):
    made = doubling("i yes h", {"i": [], "h": [4]}, outputs)
    feeds = [{"i": np.array(i), "h": positive(4)} for i in (0, 1, 3, 1000, -2)]
    check_onnxruntime(made, cache, *feeds)


def test_a_loop_without_a_number_of_iterations(cache: KernelCache):
    check_onnxruntime(doubling(" yes h", {"h": [4]}, "end"), cache, {"h": positive(4)})


def sums_of_slices(given: str, outputs: str) -> onnx.ModelProto:
    """Adds the element of each iteration, which is a slice of as many as data say, to a state of one element."""
    body = graph(
        [
            node("Add", "i one", "next"),
            node("Unsqueeze", "i axes", "start"),
            node("Unsqueeze", "next axes", "end"),
            node("Slice", "x start end", "part"),
            node("Add", "s part", "sum"),
            node("Identity", "c", "goes_on"),
            node("Identity", outputs, "element"),
        ],
        {"i": [], "c": [], "s": [1]},
        "goes_on sum element",
        {"one": np.array(1), "axes": np.array([0]), "x": np.array([1, 2, 3, 4, 5], np.float32)},
    )
    loop = node("Loop", given, "end all", body=body)
    return model([loop], {"c": [], "h": [1]}, "end all", {"five": np.array(5), "yes": np.array(True)})


@pytest.mark.parametrize("given", ["five c h", "five yes h"])
def test_elements_that_are_states_have_their_sizes(given: str, cache: KernelCache):
    feeds = {"c": np.array(True), "h": np.array([7], np.float32)}
    check_onnxruntime(sums_of_slices(given, "sum"), cache, feeds)


def test_elements_of_sizes_that_data_tell_inside_are_refused():
    with pytest.raises(TileworkError, match="a result has the size Slice_3.*, which data tell inside of the region"):
        import_onnx(sums_of_slices("five c h", "part"))


def test_elements_of_a_loop_without_any_limit(cache: KernelCache):
    """There is none, or the largest number that there is: the condition ends it."""
    for most in (None, 2**63 - 1):
        made = doubling(" yes h" if most is None else "forty yes h", {"h": [4]})
        if most is not None:
            [forty] = (c for c in made.graph.initializer if c.name == "forty")
            forty.CopyFrom(numpy_helper.from_array(np.array(most), "forty"))
        check_onnxruntime(made, cache, {"h": positive(4)}, {"h": 60 * positive(4)}, {"h": np.full(4, 100, np.float32)})


def test_a_body_that_asks_data_must_find_it_in_every_run(cache: KernelCache):
    """An index that is not there fails the call, though later ones are there."""
    body = graph(
        [
            node("Gather", "table i", "row", axis=0),
            node("Add", "s row", "n"),
            node("ReduceMax", "n", "most", keepdims=0),
            node("Less", "most limit", "goes_on"),
        ],
        {"i": [], "c": [], "s": [4]},
        "goes_on n",
        {"table": np.ones((3, 4), np.float32), "limit": np.float32(5)},
    )
    made = model(
        [node("Loop", "forty yes h", "end", body=body)], {"h": [4]}, "end", {"forty": np.array(40), "yes": True}
    )
    module = tw.compile(made, cache=cache, processes=1)
    np.testing.assert_array_equal(module(np.full(4, 3, np.float32)), np.full(4, 5))
    with pytest.raises(TileworkError, match="an index into axis 0 of size 3 is not within"):
        module(np.zeros(4, np.float32))


def test_loops_inside_each_other(cache: KernelCache):
    inner = graph(
        [node("Add", "t t", "u"), node("ReduceSum", "u", "sum", keepdims=0), node("Less", "sum bound", "more")],
        {"i": [], "c": [], "t": [4]},
        "more u",
    )
    body = graph(
        [
            node("Loop", "ten yes s", "n", body=inner),
            node("ReduceMax", "n", "most", keepdims=0),
            node("Less", "most limit", "goes_on"),
        ],
        {"ik": [], "c": [], "s": [4]},
        "goes_on n",
        {"limit": np.float32(100)},
    )
    constants = {"ten": np.array(10), "yes": np.array(True)}
    made = model([node("Loop", "ten yes h", "end", body=body)], {"h": [4], "bound": []}, "end", constants)
    check_onnxruntime(
        made,
        cache,
        {"h": positive(4), "bound": np.array(7, np.float32)},
        {"h": positive(4), "bound": np.array(0, np.float32)},
    )
    assert count(made, WhileOp) == 2


# ---- if --------------------------------------------------------------------------------------------------------------


def test_one_branch_runs(cache: KernelCache):
    """A branch whose index is not there is not run where the other one is taken."""
    then = graph([node("Gather", "x i", "y", axis=0)], {}, "y")
    otherwise = graph([node("Identity", "h", "z")], {}, "z")
    made = model(
        [node("If", "c", "r", then_branch=then, else_branch=otherwise)], {"c": [], "x": [5, 3], "i": [], "h": [3]}, "r"
    )
    x, h = numbers(5, 3), numbers(3, seed=1)
    feeds = [{"c": np.array(c), "x": x, "i": np.array(i), "h": h} for c, i in ((True, 2), (False, 2), (False, 9))]
    check_onnxruntime(made, cache, *feeds)
    assert count(made, IfOp) == 1
    with pytest.raises(TileworkError, match="an index into axis 0 of size 5"):
        tw.compile(made, cache=cache, processes=1)(np.array(True), x, np.array(9), h)


def test_branches_with_weights_of_their_own(cache: KernelCache):
    """Weights are known in branches: what depends on them alone is computed when the model is compiled."""
    sides = [
        graph(
            [node("MatMul", "x w", "m"), node("Add", "m b", "a"), node(op, "a", "y")],
            {},
            "y",
            {"w": numbers(8, 6, seed=seed), "b": numbers(6, seed=seed + 9)},
        )
        for seed, op in ((1, "Relu"), (2, "Tanh"))
    ]
    made = model([node("If", "c", "r", then_branch=sides[0], else_branch=sides[1])], {"c": [], "x": ["N", 8]}, "r")
    check_onnxruntime(made, cache, *({"c": np.array(c), "x": numbers(n, 8)} for c in (True, False) for n in (1, 3, 0)))


# ---- programs --------------------------------------------------------------------------------------------------------

BEAMS, WORDS = 3, 7


def beam_search() -> onnx.ModelProto:
    """Beams over a table of transitions, until the best one ends in word 0."""
    body = graph(
        [
            node("Gather", "table ilast", "rows", axis=0),
            node("LogSoftmax", "rows", "likely", axis=1),
            node("Unsqueeze", "scores minus", "column"),
            node("Add", "likely column", "all"),
            node("Reshape", "all minus", "flat"),
            node("TopK", "flat beams", "best place"),
            node("Div", "place words", "parent"),
            node("Mod", "place words", "word"),
            node("Gather", "word zero", "first", axis=0),
            node("Equal", "first zero", "ends"),
            node("Not", "ends", "goes_on"),
            node("Identity", "word", "word_out"),
        ],
        {"i": [], "c": [], "scores": [BEAMS], "ilast": [BEAMS]},
        "goes_on best word parent word_out",
        {
            "minus": np.array([-1]),
            "beams": np.array([BEAMS]),
            "words": np.array(WORDS),
            "zero": np.array(0),
        },
    )
    loop = node("Loop", "i yes start ifirst", "scores ends parents chosen", body=body)
    inputs = {"i": [], "table": [WORDS, WORDS], "start": [BEAMS], "ifirst": [BEAMS]}
    return model([loop], inputs, "scores ends parents chosen", {"yes": np.array(True)})


def test_beam_search(cache: KernelCache):
    start = np.float32([0, -1e9, -1e9])
    feeds: list[dict[str, Array]] = []
    for seed, most in ((0, 30), (1, 30), (2, 30), (3, 2), (4, 0)):
        table = 2 * numbers(WORDS, WORDS, seed=seed)
        table[:, 0] += seed % 3  # some end soon
        feeds.append({"i": np.array(most), "table": table, "start": start, "ifirst": np.array([1, 1, 1])})
    answers = check_onnxruntime(beam_search(), cache, *feeds)
    assert len({len(parents) for _, _, parents, _ in answers}) > 2, "searches end after different numbers of steps"


LENGTH, WIDTH = 12, 16


def greedy_decoding() -> onnx.ModelProto:
    """A layer of attention with a cache of keys and values, word by word until word 0."""
    weights = {name: numbers(WIDTH, WIDTH, seed=i) / 4 for i, name in enumerate(["wq", "wk", "wv"])}
    weights |= {"embedding": numbers(WORDS, WIDTH, seed=5), "wo": numbers(WIDTH, WORDS, seed=6)}
    constants = {"places": np.arange(LENGTH), "far": np.float32(-1e9), "zero": np.array(0), "row": np.array([1, 1])}
    body = graph(
        [
            node("Gather", "embedding iword", "x", axis=0),
            node("MatMul", "x wq", "q"),
            node("MatMul", "x wk", "k"),
            node("MatMul", "x wv", "v"),
            node("Reshape", "inumber row", "at"),
            node("Reshape", "k line", "k_line"),
            node("Reshape", "v line", "v_line"),
            node("ScatterND", "keys at k_line", "keys_now"),
            node("ScatterND", "values at v_line", "values_now"),
            node("MatMul", "keys_now q", "scores"),
            node("Greater", "places inumber", "is_later"),
            node("Where", "is_later far scores", "seen"),
            node("Softmax", "seen", "weights", axis=0),
            node("MatMul", "weights values_now", "read"),
            node("Add", "read x", "h"),
            node("MatMul", "h wo", "logits"),
            node("ArgMax", "logits", "next", axis=0, keepdims=0),
            node("Equal", "next zero", "ends"),
            node("Not", "ends", "goes_on"),
            node("Identity", "next", "out"),
        ],
        {"inumber": [], "c": [], "iword": [], "keys": [LENGTH, WIDTH], "values": [LENGTH, WIDTH]},
        "goes_on next keys_now values_now out",
        {**weights, **constants, "line": np.array([1, WIDTH])},
    )
    loop = node("Loop", "length yes iword0 empty empty", "last keys_end values_end words", body=body)
    outer = {"length": np.array(LENGTH), "yes": np.array(True), "empty": np.zeros((LENGTH, WIDTH), np.float32)}
    return model([loop], {"iword0": []}, "last words", outer)


def test_greedy_decoding_with_a_cache_until_an_end(cache: KernelCache):
    answers = check_onnxruntime(greedy_decoding(), cache, *({"iword0": np.array(word)} for word in range(WORDS)))
    assert all(1 <= len(words) <= LENGTH for _, words in answers)
