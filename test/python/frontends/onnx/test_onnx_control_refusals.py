"""Scan, Loop and If of ONNX: numbers, conditions and graphs that do not fit are refused; loops that end early."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx_loops import DOUBLING, LOOP_INPUTS, ONES, TWOS, loop_model, scan_model
from onnx_models import check, graph, model, node, numbers, refusal

from tilework.runtime.cache import KernelCache

ENDLESS = 2**63 - 1
"""The number of iterations that exporters write for a loop that ends by its condition only."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


# ---- Scan ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, -1, 3])
def test_a_scan_of_no_sequences_or_of_more_than_its_inputs(count: int):
    made = scan_model([3, 4])
    [attribute] = [a for a in made.graph.node[0].attribute if a.name == "num_scan_inputs"]
    attribute.i = count
    assert f"of its 2 inputs some are sequences, not {count}" in refusal(made)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"scan_input_directions": [0, 1]}, "scan_input_directions has a number for each of 1, not 2"),
        ({"scan_output_directions": [1, 1]}, "scan_output_directions has a number for each of 1, not 2"),
        ({"scan_input_axes": [0, 0]}, "scan_input_axes has a number for each of 1, not 2"),
        ({"scan_output_axes": [0, 0, 0]}, "scan_output_axes has a number for each of 1, not 3"),
        ({"scan_input_directions": [2]}, "a direction is 0 or 1, not 2"),
        ({"scan_output_directions": [-1]}, "a direction is 0 or 1, not -1"),
        ({"scan_input_axes": [2]}, "a tensor of rank 2 has no axis 2"),
        ({"scan_output_axes": [-3]}, "a tensor of rank 2 has no axis -3"),
    ],
)
def test_directions_and_axes_that_do_not_fit(attributes: dict[str, Any], message: str):
    assert message in refusal(scan_model([3, 4], **attributes))


@pytest.mark.parametrize("outputs", ["n", "n y y"])
def test_a_body_of_a_scan_of_another_number_of_outputs(outputs: str):
    body = graph([node("Add", "s x", "n"), node("Identity", "x", "y")], {"s": [4], "x": [4]}, outputs)
    assert f"its body has {len(outputs.split())} outputs, not 2" in refusal(scan_model([3, 4], body=body))


# ---- Loop ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [3, 20])
def test_a_body_of_a_loop_of_another_number_of_inputs_or_outputs(count: int):
    short = graph([node("Add", "s s", "n"), node("Identity", "c", "goes_on")], LOOP_INPUTS, "goes_on n")
    assert "its body has 2 outputs, not 3" in refusal(loop_model(short, {"h": [4]}, count))
    without_state = graph([node("Identity", "c", "goes_on")], {"i": [], "c": []}, "goes_on")
    assert "its body has 2 inputs, not 3" in refusal(loop_model(without_state, {"h": [4]}, count))


@pytest.mark.parametrize("counts", [[], [3, 4]])
def test_another_number_of_numbers_of_iterations(counts: list[int]):
    made = loop_model(DOUBLING, {"h": [4]}, given="counts go h", counts=np.array(counts, np.int64), count=1)
    assert f"its number of iterations is one number, not {len(counts)}" in refusal(made)


@pytest.mark.parametrize("go", [[], [True, True]])
def test_a_first_condition_that_is_no_single_truth_value(go: list[bool]):
    made = loop_model(DOUBLING, {"h": [4]}, 3, go=np.array(go, bool))
    assert f"its condition is one truth value, not {len(go)}" in refusal(made)


@pytest.mark.parametrize("count", [3, 20])
def test_a_condition_of_a_body_that_is_no_single_truth_value(count: int):
    body = graph(
        [node("Add", "s s", "n"), node("Identity", "n", "y"), node("Identity", "two", "goes_on")],
        LOOP_INPUTS,
        "goes_on n y",
        {"two": np.array([True, True])},
    )
    assert "its condition is one truth value, not 2" in refusal(loop_model(body, {"h": [4]}, count))


def doubling_up_to(last: int):
    """Until the iteration of that number."""
    nodes = [node("Add", "s s", "n"), node("Identity", "n", "y"), node("Less", "i last", "goes_on")]
    return graph(nodes, LOOP_INPUTS, "goes_on n y", {"last": np.array(last)})


@pytest.mark.parametrize("count", [16, ENDLESS, 2**31])
@pytest.mark.parametrize("iterations", [1, 3, 16])
def test_a_loop_that_its_condition_ends(count: int, iterations: int, cache: KernelCache):
    h = numbers(4)
    made = np.stack([2 ** (i + 1) * h for i in range(iterations)])
    check(loop_model(doubling_up_to(iterations - 1), {"h": [4]}, count), {"h": h}, cache, [made[-1], made], scans=0)


@pytest.mark.parametrize("count", [ENDLESS, 2**31])
def test_a_loop_that_its_condition_ends_too_late(count: int):
    expected = f"it goes on for more than 16 iterations, and would for {count}"
    assert expected in refusal(loop_model(doubling_up_to(16), {"h": [4]}, count))


@pytest.mark.parametrize("count", [ENDLESS, 2**31])
def test_a_loop_that_never_ends(count: int):
    expected = f"it goes on for more than 16 iterations, and would for {count}"
    assert expected in refusal(loop_model(DOUBLING, {"h": [4]}, count))


# ---- If --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [[], [True, False]])
def test_a_condition_that_is_no_single_truth_value(taken: list[bool]):
    nodes = [node("If", "taken", "y", then_branch=ONES, else_branch=TWOS)]
    expected = f"its condition is one truth value, not {len(taken)}"
    assert expected in refusal(model(nodes, {}, "y", {"taken": np.array(taken, bool)}))


def test_a_condition_of_one_element(cache: KernelCache):
    nodes = [node("If", "taken", "b", then_branch=ONES, else_branch=TWOS), node("Mul", "x b", "y")]
    x = numbers(4)
    check(model(nodes, {"x": [4]}, "y", {"taken": np.array([[False]])}), {"x": x}, cache, [2 * x])


@pytest.mark.parametrize(
    ("branch", "inputs", "outputs", "message"),
    [
        ("then_branch", {}, "y y", "its then_branch has 2 outputs, not 1"),
        ("else_branch", {"x": [4]}, "y", "its else_branch has 1 inputs, not 0"),
    ],
)
def test_a_branch_that_does_not_fit(branch: str, inputs: dict[str, Sequence[int]], outputs: str, message: str):
    wrong = graph([node("Identity", "one", "y")], inputs, outputs, {"one": np.ones(4, np.float32)})
    branches = {"then_branch": ONES, "else_branch": ONES, branch: wrong}
    nodes = [node("If", "taken", "y", **branches)]
    assert message in refusal(model(nodes, {}, "y", {"taken": np.array(branch == "then_branch")}))
