"""An If whose condition is one of sizes: the branch that runs decides the shape of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import check_sizes, graph, model, node, numbers

from tilework.algebra.index_expr import var
from tilework.algebra.predicate import at_least, equal
from tilework.frontends.onnx.truths import Truth
from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


SIZE = [node("Shape", "x", "shape"), node("Gather", "shape at", "size")]

CONDITIONS = {
    "equal": ([node("Equal", "size one", "c")], True),
    "unequal": ([node("Equal", "size one", "e"), node("Not", "e", "c")], False),
    "cast": ([node("Equal", "size one", "e"), node("Cast", "e", "c", to=TensorProto.BOOL)], True),
    "greater": ([node("Greater", "size one", "c")], False),
    "and": ([node("Equal", "size one", "e"), node("Equal", "one one", "f"), node("And", "e f", "c")], True),
}
"""Nodes that ask whether a size is 1, or whether it is not."""

SQUEEZED = graph([node("Squeeze", "x axes", "squeezed")], {}, "squeezed", {"axes": [1]})
KEPT = graph([node("Identity", "x", "kept")], {}, "kept")


def chosen(
    condition: str,
    declared: Sequence[int | str] | None,
    squeezed: onnx.GraphProto = SQUEEZED,
    kept: onnx.GraphProto = KEPT,
    behind: Sequence[onnx.NodeProto] = (),
    **constants: Any,
) -> onnx.ModelProto:
    """`squeezed` where axis 1 is of size 1, else `kept`; the result, or that of nodes behind, is declared so."""
    nodes, of_one = CONDITIONS[condition]
    then, other = (squeezed, kept) if of_one else (kept, squeezed)
    out = "z" if behind else "y"
    branch = helper.make_node("If", ["c"], [out], then_branch=then, else_branch=other)
    numbers_: Mapping[str, Any] = {"at": 1, "one": 1, **constants}
    made = model([*SIZE, *nodes, branch, *behind], {"x": ["b", "t", 4]}, "y", numbers_, opset=18)
    if declared is not None:
        made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, declared))
    return made


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_declared_rank_says_which_branch_runs(condition: str, cache: KernelCache):
    three, two = {"b": 2, "t": 3}, {"b": 2, "t": 1}
    refused = r"t = 1 is dimension 1 of input 'x'"
    check_sizes(chosen(condition, ["b", "t", 4]), cache, [three], [(two, refused)])
    check_sizes(chosen(condition, ["b", 4]), cache, [two], [(three, "(must be 1|t = 3 is dimension 1 of input 'x')")])


@pytest.mark.parametrize("condition", ["equal", "greater"])
def test_where_nothing_says_which_the_usual_size_is_served(condition: str, cache: KernelCache):
    check_sizes(chosen(condition, None), cache, [{"b": 2, "t": 3}], [({"b": 2, "t": 1}, "t = 1 is dimension 1")])


def test_what_stands_behind_it_may_say_which(cache: KernelCache):
    """The weights take matrices with as many columns as only one of the branches makes."""
    product = node("Gemm", "z w", "y")
    made = chosen("equal", None, behind=[product], w=numbers(4, 5))
    check_sizes(made, cache, [{"b": 2, "t": 1}], [({"b": 2, "t": 3}, "(must be 1|t = 3)")])


def test_both_run_where_both_make_the_same_shape(cache: KernelCache):
    relu, neg = graph([node("Relu", "x", "r")], {}, "r"), graph([node("Neg", "x", "n")], {}, "n")
    made = chosen("equal", ["b", "t", 4], relu, neg)
    check_sizes(made, cache, [{"b": 2, "t": 3}, {"b": 2, "t": 1}, {"b": 1, "t": 0}])


def test_a_branch_that_cannot_be_compiled_is_not_served(cache: KernelCache):
    unknown = graph([node("Unique", "x", "u")], {}, "u")
    made = chosen("equal", ["b", "t", 4], unknown)
    check_sizes(made, cache, [{"b": 2, "t": 3}], [({"b": 2, "t": 1}, "t = 1 is dimension 1 of input 'x'")])


def test_an_if_in_an_if(cache: KernelCache):
    inner = helper.make_node("If", ["c"], ["i"], then_branch=SQUEEZED, else_branch=KEPT)
    outer = graph([inner, node("Neg", "i", "n")], {}, "n")
    made = chosen("equal", ["b", "t", 4], SQUEEZED, outer)
    check_sizes(made, cache, [{"b": 2, "t": 3}], [({"b": 2, "t": 1}, "t = 1 is dimension 1 of input 'x'")])


def test_the_texts_of_two_requirements_name_their_nodes(cache: KernelCache):
    first, second = (
        helper.make_node("If", ["c"], [out], f"squeeze_{out}", then_branch=SQUEEZED, else_branch=KEPT) for out in "zy"
    )
    made = model([*SIZE, *CONDITIONS["equal"][0], first, second], {"x": ["b", "t", 4]}, "z y", {"at": 1, "one": 1})
    check_sizes(made, cache, [{"b": 2, "t": 3}], [({"b": 2, "t": 1}, "If 'squeeze_[zy]'")])


A, B, C = (Truth.of(condition) for condition in (equal(var("n"), 1), at_least(var("n"), var("m")), equal(var("m"), 2)))


@pytest.mark.parametrize(
    ("truth", "python"),
    [
        (A & B, lambda n, m: n == 1 and n >= m),
        (A | ~B, lambda n, m: n == 1 or n < m),
        (~(A & B) | C, lambda n, m: not (n == 1 and n >= m) or m == 2),
        (A ^ B ^ C, lambda n, m: (n == 1) ^ (n >= m) ^ (m == 2)),
        (~A & A, lambda n, m: False),
        (~A | A, lambda n, m: True),
    ],
)
def test_what_comparisons_of_sizes_say(truth: Truth, python: Callable[[int, int], bool]):
    for n, m in product(range(4), repeat=2):
        expected = python(n, m)
        assert truth.number.evaluate({"n": n, "m": m}) == expected
        assert all(any(p.evaluate({"n": n, "m": m}) for p in clause) for clause in truth.clauses) == expected


def test_what_is_never_or_always_so_is_known():
    sure = Truth.of(at_least(var("n"), 0))
    assert (sure.constant, (~sure).constant, (A | sure).constant, A.constant) == (True, False, True, None)
    assert A.is_exceptional() and (A & B).is_exceptional() and not (A | C).is_exceptional()
