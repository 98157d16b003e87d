"""A short fuzz run of ONNX models; the long one is `python -m tilework.tools.fuzz --family onnx --accepted 2000`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import onnx
from onnx import helper

from tilework.tools.fuzz.draw import Seeded
from tilework.tools.fuzz.onnx.cases import Case, random_case
from tilework.tools.fuzz.shrink import shrink


def test_models_compute_what_onnxruntime_does():
    counts: Counter[str] = Counter()
    accepted = 0
    for seed in range(150):
        case = replace(random_case(Seeded(seed), seed), compiled=seed in (10, 11))
        outcome = case.run()
        assert outcome.difference is None, f"{outcome.difference}\n{case}"
        if outcome.refused is None:
            accepted += 1
            counts.update(case.traits())
    assert accepted >= 120
    assert min(counts[f"have {word}"] for word in ("If", "Loop", "Slice", "Range", "NonZero")) >= 3


def test_a_finding_is_shrunk_to_the_nodes_that_it_needs():
    case = next(c for c in (random_case(Seeded(seed), seed) for seed in range(9)) if len(c.model.graph.node) > 12)
    returned = {value.name for value in case.model.graph.output}
    wanted = next(node.op_type for node in case.model.graph.node if returned.intersection(node.output))

    def has_it(smaller: Case) -> bool:
        return any(node.op_type == wanted for node in smaller.model.graph.node)

    smallest = shrink(case, has_it)
    kinds = [node.op_type for node in smallest.model.graph.node]
    assert kinds.count(wanted) == 1 and len(kinds) < len(case.model.graph.node)


def test_a_wrong_result_is_a_finding():
    """A model that onnxruntime runs on other data."""
    node = helper.make_node("Neg", ["x0"], ["y"])
    given = helper.make_tensor_value_info("x0", onnx.TensorProto.FLOAT, [2])
    graph = helper.make_graph([node], "neg", [given], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    case = Case(model, 0, compiled=False)
    outcome = case.checked({"x0": np.ones(2, np.float32)}, [np.ones(2, np.float32)])
    assert outcome.difference is not None and outcome.difference.startswith("interpreted, result 0 at (0,): -1.0")
