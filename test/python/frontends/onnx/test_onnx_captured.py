"""Graphs inside of nodes of ONNX that read what lies around them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx_loops import LOOP_INPUTS, loop_model, scan_model
from onnx_models import check, graph, model, node, numbers, refusal

from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


ROWS = graph(
    [
        node("Gather", "xs i", "x", axis=0),
        node("Add", "s x", "n"),
        node("Mul", "n k", "y"),
        node("Identity", "c", "on"),
    ],
    LOOP_INPUTS,
    "on n y",
)
"""A running sum of the rows of `xs`, and `k` times that."""


def rows_of(h, xs, k):
    sums = h + np.cumsum(xs, axis=0)
    return [sums[-1] if len(xs) else h, sums * k]


@pytest.mark.parametrize(("count", "scans"), [(3, 0), (20, 1)])
def test_the_row_of_an_iteration(count: int, scans: int, cache: KernelCache):
    h, xs, k = numbers(4), numbers(20, 4, seed=1), numbers(4, seed=2)
    made = loop_model(ROWS, {"h": [4], "xs": [20, 4], "k": [4]}, count)
    check(made, {"h": h, "xs": xs, "k": k}, cache, rows_of(h, xs[:count], k), scans=scans)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_every_row_of_an_input(steps: int, cache: KernelCache):
    h, xs, k = numbers(4), numbers(steps, 4, seed=1), numbers(4, seed=2)
    made = loop_model(ROWS, {"h": [4], "xs": ["T", 4], "k": [4]})
    check(made, {"h": h, "xs": xs, "k": k}, cache, rows_of(h, xs, k), scans=1)


def test_a_computed_value_and_a_constant_from_outside(cache: KernelCache):
    """The node that makes the value stands behind the loop in the file, as the order of nodes is not the file's."""
    made = loop_model(ROWS, {"h": [4], "xs": ["T", 4], "z": [4]}, k2=numbers(4, seed=3))
    made.graph.node.append(node("Mul", "z k2", "k"))
    h, xs, z = numbers(4), numbers(3, 4, seed=1), numbers(4, seed=2)
    check(made, {"h": h, "xs": xs, "z": z}, cache, rows_of(h, xs, z * numbers(4, seed=3)), scans=1)


def test_a_scan_that_reads_what_is_around_it(cache: KernelCache):
    body = graph([node("Add", "s x", "n"), node("Mul", "n k", "y")], {"s": [4], "x": [4]}, "n y")
    made = scan_model(["T", 4], body=body)
    made.graph.input.append(onnx.helper.make_tensor_value_info("k", onnx.TensorProto.FLOAT, [4]))
    h, xs, k = numbers(4), numbers(3, 4, seed=1), numbers(4, seed=2)
    check(made, {"h": h, "xs": xs, "k": k}, cache, rows_of(h, xs, k), scans=1)


@pytest.mark.parametrize("count", [2, 20])
def test_a_loop_in_a_loop(count: int, cache: KernelCache):
    """The inner one reads the state and the number of the outer iteration, and an input of the model."""
    inner = graph(
        [
            node("Gather", "xs i", "x", axis=0),
            node("Mul", "x s", "a"),
            node("Add", "t a", "b"),
            node("Add", "b k", "m"),
            node("Identity", "cj", "cj_on"),
        ],
        {"ij": [], "cj": [], "t": [4]},
        "cj_on m",
    )
    outer = graph(
        [
            node("Loop", "count go h", "r", body=inner),
            node("Sub", "r s", "d"),
            node("Tanh", "d", "n"),
            node("Identity", "r", "y"),
            node("Identity", "c", "on"),
        ],
        LOOP_INPUTS,
        "on n y",
    )
    made = loop_model(outer, {"h": [4], "xs": [20, 4], "k": [4]}, count)
    h, xs, k = numbers(4), numbers(20, 4, seed=1), numbers(4, seed=2)
    s, made_rows = h, []
    for i in range(count):
        r = h + count * (xs[i] * s + k)
        s = np.tanh(r - s)
        made_rows.append(r)
    check(made, {"h": h, "xs": xs, "k": k}, cache, [s, np.array(made_rows)], scans=2 if count > 16 else 0)


@pytest.mark.parametrize("condition", [True, False])
def test_branches_that_read_what_is_around_them(condition: bool, cache: KernelCache):
    then_branch = graph([node("Add", "x b", "u")], {}, "u")
    else_branch = graph([node("Mul", "x b", "v")], {}, "v")
    nodes = [
        node("Exp", "x", "b"),
        node("If", "taken", "w", then_branch=then_branch, else_branch=else_branch),
        node("Neg", "w", "y"),
    ]
    made = model(nodes, {"x": [4]}, "y", {"taken": np.array(condition)})
    x = numbers(4)
    check(made, {"x": x}, cache, [-(x + np.exp(x)) if condition else -(x * np.exp(x))])


def test_a_branch_in_a_loop(cache: KernelCache):
    """The second iteration multiplies, the others add."""
    body = graph(
        [
            node("Equal", "i second", "taken"),
            node(
                "If",
                "taken",
                "n",
                then_branch=graph([node("Mul", "s x", "u")], {}, "u"),
                else_branch=graph([node("Add", "s x", "v")], {}, "v"),
            ),
            node("Identity", "c", "on"),
        ],
        LOOP_INPUTS,
        "on n",
        {"second": np.array(1)},
    )
    h, x = numbers(4), numbers(4, seed=1)
    check(loop_model(body, {"h": [4], "x": [4]}, 3, outputs="end"), {"h": h, "x": x}, cache, [(h + x) * x + x], scans=0)


def test_a_branch_that_the_number_of_a_step_decides(cache: KernelCache):
    """There are so many steps that they are a loop, which reads what is around it in either branch."""
    body = graph(
        [
            node("Equal", "i second", "taken"),
            node(
                "If",
                "taken",
                "n",
                then_branch=graph([node("Mul", "s x", "u")], {}, "u"),
                else_branch=graph([node("Add", "s x", "v")], {}, "v"),
            ),
            node("Identity", "c", "on"),
        ],
        LOOP_INPUTS,
        "on n",
        {"second": np.array(1)},
    )
    made = loop_model(body, {"h": [4], "x": [4]}, 20, outputs="end")
    check(made, {"h": numbers(4), "x": numbers(4, seed=1)}, cache, scans=1)


def test_a_name_that_is_nowhere_is_told():
    body = graph([node("Add", "s nowhere", "n"), node("Identity", "x", "y")], {"s": [4], "x": [4]}, "n y")
    assert refusal(scan_model([3, 4], body=body)) == "'Scan_0' (Scan) reads 'nowhere', which nothing in the graph makes"


@pytest.mark.parametrize("count", [3, 20])
def test_zeros_as_the_first_state(count: int, cache: KernelCache):
    """One number repeated, which kernels hold, but a state is a buffer."""
    xs, k = numbers(20, 4, seed=1), numbers(4, seed=2)
    made = loop_model(ROWS, {"xs": [20, 4], "k": [4]}, count, h=np.zeros(4, np.float32))
    check(made, {"xs": xs, "k": k}, cache, rows_of(np.zeros(4, np.float32), xs[:count], k))


def test_a_large_table_from_outside_is_one_parameter(cache: KernelCache):
    """It is read in both directions."""
    table = numbers(40, 4, seed=3)
    made = loop_model(ROWS, {"h": [4], "k": [4]}, 40, xs=table)
    h, k = numbers(4), numbers(4, seed=2)
    check(made, {"h": h, "k": k}, cache, rows_of(h, table, k), scans=1)
