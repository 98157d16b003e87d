"""Models of one Loop or Scan of ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx_models import graph, model, node

SUMS = graph(
    [node("Add", "s x", "n"), node("Mul", "n two", "y")], {"s": [4], "x": [4]}, "n y", {"two": np.float32([2, 2, 2, 3])}
)


def scan_model(shape: Sequence[int | str], opset: int = 11, body: onnx.GraphProto = SUMS, **attributes: Any):
    scan = node("Scan", "h xs", "end ys", num_scan_inputs=1, body=body, **attributes)
    return model([scan], {"h": [4], "xs": shape}, "end ys", opset=opset)


def loop_model(
    body: onnx.GraphProto,
    inputs: Mapping[str, Sequence[int | str]],
    count: int | None = None,
    given: str = "count go h",
    outputs: str = "end ys",
    **constants: Any,
) -> onnx.ModelProto:
    """So many iterations; without `count`, as many as input `xs` has rows."""
    known = {"go": np.array(True), **constants}
    nodes = [node("Loop", given, outputs, body=body)]
    if count is None:
        nodes[:0] = [node("Shape", "xs", "sizes"), node("Gather", "sizes first", "count", axis=0)]
        known["first"] = np.array(0)
    else:
        known["count"] = np.array(count)
    return model(nodes, inputs, outputs, known)


LOOP_INPUTS = {"i": [], "c": [], "s": [4]}
"""The inputs of a body: the number of the iteration, whether it is one, a state."""

DOUBLING = graph(
    [node("Add", "s s", "n"), node("Add", "n three", "y"), node("Identity", "c", "goes_on")],
    LOOP_INPUTS,
    "goes_on n y",
    {"three": np.float32([3, 3, 3, 4])},
)
ONES = graph([node("Identity", "one", "y")], {}, "y", {"one": np.ones(4, np.float32)})
TWOS = graph([node("Add", "one one", "y")], {}, "y", {"one": np.ones(4, np.float32)})
