"""Scan, Loop and If of ONNX: what onnx's own evaluator, or numpy, computes, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from onnx_loops import DOUBLING, LOOP_INPUTS, ONES, TWOS, loop_model, scan_model
from onnx_models import Array, check, graph, model, node, numbers, refusal

from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


# ---- Scan ------------------------------------------------------------------------------------------------------------


def sums(h: Array, xs: Array, walks_back: bool = False, makes_back: bool = False) -> list[Array]:
    """What SUMS makes of sequences along axis 0."""
    ends = h + np.cumsum(xs[::-1] if walks_back else xs, axis=0)
    made = ends * np.float32([2, 2, 2, 3])
    return [ends[-1] if len(xs) else h, made[::-1] if makes_back else made]


@pytest.mark.parametrize("opset", [9, 11, 16, 21])
@pytest.mark.parametrize("steps", [1, 3, 40])
def test_a_scan(steps: int, opset: int, cache: KernelCache):
    h, xs = numbers(4), numbers(steps, 4, seed=1)
    check(scan_model([steps, 4], opset), {"h": h, "xs": xs}, cache, sums(h, xs), scans=1)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_a_scan_of_unknown_length(steps: int, cache: KernelCache):
    h, xs = numbers(4), numbers(steps, 4, seed=1)
    check(scan_model(["T", 4]), {"h": h, "xs": xs}, cache, sums(h, xs), scans=1)


@pytest.mark.parametrize("walks_back", [0, 1])
@pytest.mark.parametrize("makes_back", [0, 1])
def test_directions_of_a_scan(walks_back: int, makes_back: int, cache: KernelCache):
    made = scan_model([5, 4], scan_input_directions=[walks_back], scan_output_directions=[makes_back])
    h, xs = numbers(4), numbers(5, 4, seed=1)
    check(made, {"h": h, "xs": xs}, cache, sums(h, xs, bool(walks_back), bool(makes_back)), scans=1)


def test_a_scan_of_unknown_length_backwards(cache: KernelCache):
    made = scan_model(["T", 4], scan_input_directions=[1], scan_output_directions=[1])
    h, xs = numbers(4), numbers(5, 4, seed=1)
    check(made, {"h": h, "xs": xs}, cache, sums(h, xs, True, True), scans=1)


@pytest.mark.parametrize("walks_back", [0, 1])
def test_a_scan_of_unknown_length_that_makes_its_sequence_the_other_way(walks_back: int, cache: KernelCache):
    makes_back = 1 - walks_back
    made = scan_model(["T", 4], scan_input_directions=[walks_back], scan_output_directions=[makes_back])
    for steps in (1, 5):
        h, xs = numbers(4), numbers(steps, 4, seed=1)
        check(made, {"h": h, "xs": xs}, cache, sums(h, xs, bool(walks_back), bool(makes_back)), scans=1)


@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("steps", [3, "T"])
def test_axes_of_a_scan(axis: int, steps: int | str, cache: KernelCache):
    made = scan_model([4, steps], scan_input_axes=[axis], scan_output_axes=[axis])
    h, xs = numbers(4), numbers(4, 3, seed=1)
    end, ys = sums(h, xs.T)
    check(made, {"h": h, "xs": xs}, cache, [end, ys.T], scans=1)


def test_sequences_of_different_directions(cache: KernelCache):
    """One from its beginning along axis 0, one from its end along axis 1; no states."""
    body = graph([node("Sub", "a b", "y"), node("Add", "a b", "z")], {"a": [4], "b": [4]}, "y z")
    made = model(
        [
            node(
                "Scan",
                "xs zs",
                "p q",
                num_scan_inputs=2,
                body=body,
                scan_input_axes=[0, 1],
                scan_input_directions=[0, 1],
                scan_output_directions=[1, 0],
            )
        ],
        {"xs": [3, 4], "zs": [4, 3]},
        "p q",
        opset=11,
    )
    xs, zs = numbers(3, 4), numbers(4, 3, seed=1)
    turned = zs.T[::-1]
    check(made, {"xs": xs, "zs": zs}, cache, [(xs - turned)[::-1], xs + turned], scans=1)


@pytest.mark.parametrize("op", ["Softmax", "MatMul"])
def test_elements_of_unknown_size_as_rows(op: str, cache: KernelCache):
    """A step looks at its element under other dimensions, where it lies in the sequence."""
    table = numbers(4, 5, seed=2)
    last = node("Softmax", "f", "y", axis=0) if op == "Softmax" else node("MatMul", "f table", "y")
    nodes = [node("Reshape", "x shape", "f"), last, node("Identity", "s", "n")]
    body = graph(nodes, {"s": [4], "x": ["N", 3, 4]}, "n y", {"shape": np.array([-1, 4]), "table": table})
    for steps, batch in ((3, 2), (1, 1), (5, 4)):
        h, xs = numbers(4), numbers(steps, batch, 3, 4, seed=1)
        flat, powers = xs.reshape(steps, -1, 4), np.exp(xs.reshape(steps, -1, 4))
        wanted = powers / powers.sum(axis=1, keepdims=True) if op == "Softmax" else flat @ table
        check(scan_model(["S", "N", 3, 4], 13, body), {"h": h, "xs": xs}, cache, [h, wanted], scans=1)


def test_a_scan_in_a_scan(cache: KernelCache):
    """Sums along rows, whose rows are the elements of the outer one."""
    inner = graph([node("Add", "t e", "m"), node("Identity", "m", "z")], {"t": [4], "e": [4]}, "m z")
    outer = graph([node("Scan", "s x", "n y", num_scan_inputs=1, body=inner)], {"s": [4], "x": ["K", 4]}, "n y")
    made = scan_model(["T", "K", 4], body=outer)
    h, xs = numbers(4), numbers(3, 2, 4, seed=1)
    running = h + np.cumsum(xs.reshape(6, 4), axis=0)
    check(made, {"h": h, "xs": xs}, cache, [running[-1], running.reshape(3, 2, 4)], scans=2)


def test_a_body_that_changes_the_shape_of_its_state_is_refused():
    body = graph([node("Concat", "s x", "n", axis=0), node("Identity", "x", "y")], {"s": [4], "x": [4]}, "n y")
    expected = "its state 0 is of [4] before a step and of [8] behind it"
    assert expected in refusal(scan_model([20, 4], body=body))


def test_sequences_of_different_lengths_are_refused():
    body = graph([node("Add", "a b", "y")], {"a": [4], "b": [4]}, "y")
    scan = node("Scan", "xs zs", "ys", num_scan_inputs=2, body=body)
    made = model([scan], {"xs": [3, 4], "zs": [5, 4]}, "ys", opset=11)
    assert "its sequences are of different lengths: 3, 5" in refusal(made)


def test_a_body_of_another_number_of_inputs_is_refused():
    body = graph([node("Add", "s x", "n"), node("Identity", "x", "y")], {"s": [4], "x": [4], "z": [4]}, "n y")
    assert "its body has 3 inputs, not 2" in refusal(scan_model([3, 4], body=body))


def test_what_a_body_does_that_is_not_supported_is_told_once():
    """With the node around it, which is none of its kind, left out."""
    body = graph(
        [node("RandomNormalLike", "x", "d", name="d"), node("Add", "s d", "n"), node("Add", "s d", "y")],
        {"s": [], "x": [2, 2]},
        "n y",
    )
    made = model(
        [node("Scan", "h xs", "end ys", num_scan_inputs=1, body=body)], {"h": [], "xs": [20, 2, 2]}, "end ys", opset=11
    )
    assert refusal(made).split("\n") == [
        "1 node(s) use an operator that Tilework does not support (opset 11):",
        "  RandomNormalLike 'd' of (2x2xf32)",
    ]


# ---- Loop ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "scans"), [(1, 0), (3, 0), (16, 0), (17, 1)])
def test_a_loop_of_known_many_iterations(count: int, scans: int, cache: KernelCache):
    """Few are unrolled; a constant of the body, and new sequences."""
    check(loop_model(DOUBLING, {"h": [4]}, count), {"h": numbers(4)}, cache, scans=scans)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_loop_of_as_many_iterations_as_an_input_has_rows(steps: int, cache: KernelCache):
    feeds = {"xs": numbers(steps, 2), "h": numbers(4)}
    check(loop_model(DOUBLING, {"xs": ["T", 2], "h": [4]}), feeds, cache, scans=1)


def test_a_loop_that_has_no_iteration_when_it_is_run(cache: KernelCache):
    h = numbers(4)
    wanted = [h, np.zeros((0, 4), np.float32)]
    check(loop_model(DOUBLING, {"xs": ["T", 2], "h": [4]}), {"xs": numbers(0, 2), "h": h}, cache, wanted)


@pytest.mark.parametrize("count", [0, -3])
def test_a_loop_of_no_iterations(count: int, cache: KernelCache):
    body = graph([node("Add", "s s", "n"), node("Identity", "c", "goes_on")], LOOP_INPUTS, "goes_on n")
    h = numbers(4)
    check(loop_model(body, {"h": [4]}, count, outputs="end"), {"h": h}, cache, [h])


def test_a_loop_that_is_told_not_to_begin(cache: KernelCache):
    body = graph([node("Add", "s s", "n"), node("Identity", "c", "goes_on")], LOOP_INPUTS, "goes_on n")
    h = numbers(4)
    check(loop_model(body, {"h": [4]}, 5, outputs="end", go=np.array(False)), {"h": h}, cache, [h])


def test_a_loop_without_a_first_condition(cache: KernelCache):
    made = loop_model(DOUBLING, {"h": [4]}, 3, given="count  h")
    h = numbers(4)
    factors = np.float32([[2], [4], [8]])
    check(made, {"h": h}, cache, [8 * h, factors * h + np.float32([3, 3, 3, 4])])


@pytest.mark.parametrize("count", [10, 16])
def test_a_loop_that_ends_early(count: int, cache: KernelCache):
    """After the iteration of number 3, which is known beforehand where iterations are unrolled."""
    body = graph(
        [node("Add", "s s", "n"), node("Identity", "n", "y"), node("Less", "i last", "goes_on")],
        LOOP_INPUTS,
        "goes_on n y",
        {"last": np.array(3)},
    )
    h = numbers(4)
    check(loop_model(body, {"h": [4]}, count), {"h": h}, cache, [16 * h, np.stack([2 * h, 4 * h, 8 * h, 16 * h])])


@pytest.mark.parametrize("count", [3, 20])
def test_the_number_of_the_iteration(count: int, cache: KernelCache):
    """Gathers a row of what the body holds itself, and is a state and a sequence."""
    table = numbers(20, 4, seed=3)
    body = graph(
        [
            node("Gather", "table i", "row", axis=0),
            node("Add", "s row", "n"),
            node("Add", "i k", "k_next"),
            node("Identity", "i", "number"),
            node("Identity", "c", "goes_on"),
        ],
        {"i": [], "c": [], "s": [4], "ik": []},
        "goes_on n k_next number",
        {"table": table},
    )
    body.node[2].input[1] = "ik"
    made = loop_model(body, {"h": [4], "ik0": []}, count, given="count go h ik0", outputs="end k numbers")
    h = numbers(4)
    wanted = [h + table[:count].sum(axis=0), np.array(7 + sum(range(count))), np.arange(count)]
    check(made, {"h": h, "ik0": np.array(7)}, cache, wanted)


def test_states_that_change_places(cache: KernelCache):
    body = graph(
        [node("Identity", "s", "was_s"), node("Identity", "t", "was_t"), node("Identity", "c", "goes_on")],
        {**LOOP_INPUTS, "t": [4]},
        "goes_on was_t was_s",
    )
    made = loop_model(body, {"xs": ["T", 2], "h": [4], "g": [4]}, given="count go h g", outputs="a b")
    h, g = numbers(4), numbers(4, seed=1)
    for steps in (2, 3):
        wanted = [h, g] if steps == 2 else [g, h]
        check(made, {"xs": numbers(steps, 2), "h": h, "g": g}, cache, wanted, scans=1)


@pytest.mark.parametrize("shapes", [{"h": [4]}, {"xs": ["T", 2], "h": [4]}], ids=["known", "open"])
def test_a_body_that_always_ends_its_loop(shapes: Mapping[str, Sequence[int | str]], cache: KernelCache):
    """There is one iteration, or none, whatever the number of iterations is."""
    body = graph(
        [node("Add", "s s", "n"), node("Identity", "n", "y"), node("Not", "c", "goes_on")], LOOP_INPUTS, "goes_on n y"
    )
    made = loop_model(body, shapes, None if "xs" in shapes else 20)
    for steps in (3, 0) if "xs" in shapes else (20,):
        h = numbers(4)
        inputs = {"xs": numbers(steps, 2), "h": h} if "xs" in shapes else {"h": h}
        check(made, inputs, cache, [h + h, (h + h)[None]] if steps else [h, np.zeros((0, 4), np.float32)])


def test_a_loop_of_no_iterations_that_makes_sequences(cache: KernelCache):
    h = numbers(4)
    check(loop_model(DOUBLING, {"h": [4]}, 0), {"h": h}, cache, [h, np.zeros((0, 4), np.float32)])


# ---- If --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", [True, False])
def test_a_branch_that_is_known(condition: bool, cache: KernelCache):
    nodes = [node("If", "taken", "b", then_branch=ONES, else_branch=TWOS), node("Mul", "x b", "y")]
    made = model(nodes, {"x": [4]}, "y", {"taken": np.array(condition)})
    check(made, {"x": numbers(4)}, cache)


def test_a_branch_that_a_size_decides(cache: KernelCache):
    nodes = [
        node("Shape", "x", "sizes"),
        node("Size", "sizes", "rank"),
        node("Equal", "rank three", "taken"),
        node("If", "taken", "b", then_branch=ONES, else_branch=TWOS),
        node("Mul", "x b", "y"),
    ]
    check(model(nodes, {"x": [2, 4]}, "y", {"three": np.array(3)}), {"x": numbers(2, 4)}, cache)


def test_a_branch_in_a_loop(cache: KernelCache):
    """Where iterations are unrolled the number of each is known: one doubles, the others multiply by one."""
    body = graph(
        [
            node("Equal", "i second", "taken"),
            node("If", "taken", "b", then_branch=TWOS, else_branch=ONES),
            node("Mul", "s b", "n"),
            node("Identity", "n", "y"),
            node("Identity", "c", "goes_on"),
        ],
        LOOP_INPUTS,
        "goes_on n y",
        {"second": np.array(1)},
    )
    check(loop_model(body, {"h": [4]}, 3), {"h": numbers(4)}, cache, scans=0)


@pytest.mark.parametrize("shape", [(), (1,)])
@pytest.mark.parametrize("condition", [True, False])
def test_a_branch_that_data_decides(condition: bool, shape: tuple[int, ...], cache: KernelCache):
    """It has several outputs, which read what is around them, and in a branch of a branch."""
    inner = node("If", "other", "z", then_branch=ONES, else_branch=TWOS)
    branches = [
        graph([node("Neg", "x", "y"), node("Identity", "x", "z")], {}, "y z"),
        graph([node("Exp", "x", "y"), inner], {}, "y z"),
    ]
    nodes = [
        node("Greater", "x0 zero", "other"),
        node("If", "c", "y z", then_branch=branches[0], else_branch=branches[1]),
    ]
    made = model(nodes, {"c": shape, "x": [4], "x0": []}, "y z", {"zero": np.zeros((), np.float32)})
    for number in (-1, 1):
        feeds = {"c": np.full(shape, condition), "x": numbers(4), "x0": np.float32(number)}
        check(made, {name: np.asarray(value) for name, value in feeds.items()}, cache)


def test_branches_of_different_ranks_and_types_that_data_decides_are_refused():
    for rows in (np.ones((2, 3), np.float32), np.ones(3, np.int64)):
        other = graph([node("Identity", "rows", "y")], {}, "y", {"rows": rows})
        made = model([node("If", "c", "y", then_branch=ONES, else_branch=other)], {"c": []}, "y")
        assert "so both have to make tensors of the same type" in refusal(made)
    made = model([node("If", "c", "y", then_branch=ONES, else_branch=TWOS)], {"c": [2]}, "y")
    assert "its condition is one truth value" in refusal(made)
