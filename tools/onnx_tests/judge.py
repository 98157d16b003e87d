"""One node test: what Tilework makes of its model, beside what the test expects."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.runner import Runner

import tilework as tw
from tilework.algebra.errors import TileworkError
from tilework.specialized import SpecializedModule

RIGHT, REFUSED, WRONG = "right", "refused", "wrong"


@dataclass(frozen=True)
class Verdict:
    """How a test ended, and why where it is not right."""

    name: str
    operator: str
    outcome: str
    reason: str = ""
    specialized: bool = False
    """Whether it was compiled for the values of some inputs."""


@cache
def node_tests() -> dict[str, TestCase]:
    """The node tests of the installed onnx package, by name; making them computes what they expect."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = collect_testcases()
    return {case.name: case for case in cases}


def judge(name: str) -> Verdict:
    """Compile and run the test of that name. What is raised beside a refusal is a wrong answer, too."""
    case = node_tests()[name]
    operator = operator_of(case)
    try:
        module = tw.compile(case.model, processes=1)
        for inputs, expected in case.data_sets or ():
            given = zip(_graph(case).input, inputs, strict=True)
            results = module.run({value.name: array_of(array) for value, array in given})
            compare([*results.values()], [*map(array_of, flat(expected))], case)
    except TileworkError as error:
        return Verdict(name, operator, REFUSED, " ".join(str(error).split()))
    except Exception as error:  # whatever it is, the test has found it
        text = " ".join(str(error).split())
        return Verdict(name, operator, WRONG, f"{type(error).__name__}: {text}"[:300])
    return Verdict(name, operator, RIGHT, specialized=isinstance(module, SpecializedModule))


def operator_of(case: TestCase) -> str:
    """The operator that a test is about: that of its last node.

    Tests in which a node is written out as its definition are about that node.
    """
    base = case.name.partition("_expanded")[0]
    nodes = _graph(node_tests().get(base, case)).node
    return f"{nodes[-1].domain}.{nodes[-1].op_type}" if nodes[-1].domain else nodes[-1].op_type


def _graph(case: TestCase) -> onnx.GraphProto:
    assert case.model is not None  # as of models that lie in files
    return case.model.graph


def compare(results: Sequence[Any], expected: Sequence[Any], case: TestCase) -> None:
    """Compare as onnx's own runner does, types of 8 bits and less as the numbers that they stand for.

    Raises AssertionError for a difference.
    """
    assert [r.dtype for r in results] == [e.dtype for e in expected], "the types of the results differ"
    Runner.assert_similar_outputs(
        [*map(_comparable, expected)], [*map(_comparable, results)], rtol=case.rtol, atol=case.atol
    )


def flat(values: Any) -> Iterator[Any]:
    """The tensors that outputs consist of: sequences are their elements, optionals what they hold."""
    return chain.from_iterable(flat(value) if isinstance(value, list) else [value] for value in values)


def array_of(value: Any) -> Any:
    """A value of a test as `Module.run` takes it."""
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _comparable(array: Any) -> Any:
    is_narrow = array.dtype.kind not in "fiubcO" and array.dtype.name != "bfloat16"
    return array.astype(np.float32) if is_narrow else array
