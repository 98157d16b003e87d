"""How exact and how fast long sums and tall products are beside numpy's, by their lengths.

    python -m tilework.tools.bench.sums --lengths 1000,1e6 sum xtx

A sum is of that many uniform numbers, a product sums that many terms: the root mean square of relative errors over the
seeds, and medians of times taken in turns. Numpy sums in pairs, and multiplies with the BLAS that it was built with.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import helper

from tilework.api import compile as compile_model

COLUMNS = 100
"""The tables that are multiplied with themselves have so many columns."""

Node: TypeAlias = tuple[str, Sequence[str], str, Mapping[str, Any]]


@dataclass(frozen=True)
class Kind:
    """What is computed: ONNX nodes, the shapes of inputs by length, and the same in numpy."""

    nodes: Sequence[Node]
    shapes: Callable[[int], Mapping[str, Sequence[int]]]
    numpy: Callable[[Mapping[str, Any]], Any]


KINDS: Mapping[str, Kind] = {
    "sum": Kind([("ReduceSum", "x", "y", {"keepdims": 0})], lambda n: {"x": [n]}, lambda v: v["x"].sum()),
    "mean": Kind([("ReduceMean", "x", "y", {"keepdims": 0})], lambda n: {"x": [n]}, lambda v: v["x"].mean()),
    "norm": Kind(
        [("ReduceL2", "x", "y", {"keepdims": 0})], lambda n: {"x": [n]}, lambda v: np.sqrt((v["x"] * v["x"]).sum())
    ),
    "rows": Kind(
        [("ReduceMean", "x", "y", {"axes": [1], "keepdims": 0})], lambda n: {"x": [3, n]}, lambda v: v["x"].mean(axis=1)
    ),
    "columns": Kind(
        [("ReduceMean", "x", "y", {"axes": [0], "keepdims": 0})], lambda n: {"x": [n, 5]}, lambda v: v["x"].mean(axis=0)
    ),
    "pool": Kind(
        [("GlobalAveragePool", "x", "y", {})],
        lambda n: {"x": [1, 2, n, 1]},
        lambda v: v["x"].mean(axis=(2, 3), keepdims=True),
    ),
    "product": Kind([("MatMul", "xz", "y", {})], lambda n: {"x": [10, n], "z": [n, 12]}, lambda v: v["x"] @ v["z"]),
    "vector": Kind([("MatMul", "xz", "y", {})], lambda n: {"x": [10, n], "z": [n]}, lambda v: v["x"] @ v["z"]),
    "xtx": Kind(
        [("Transpose", "x", "t", {}), ("MatMul", "tx", "y", {})],
        lambda n: {"x": [n, COLUMNS]},
        lambda v: v["x"].T @ v["x"],
    ),
    "xty": Kind(
        [("Transpose", "x", "t", {}), ("MatMul", "tz", "y", {})],
        lambda n: {"x": [n, COLUMNS], "z": [n, 1]},
        lambda v: v["x"].T @ v["z"],
    ),
}
LENGTHS = "10,100,1000,1e4,1e5,1e6,1e7"
MOST_ELEMENTS = 1 << 28
"""Inputs with more elements are left out."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=[*KINDS], metavar="KIND", help=f"any of {', '.join(KINDS)}")
    parser.add_argument("--lengths", default=LENGTHS, help="of the sums (default: %(default)s)")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--seeds", type=int, default=20, help="how many inputs (default: %(default)s)")
    options = parser.parse_args()
    unknown = [kind for kind in options.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"unknown kind '{unknown[0]}': it is one of {', '.join(KINDS)}")
    print("| what | terms | error | numpy's | ratio | times as fast |\n| --- | --- | --- | --- | --- | --- |")
    for kind in options.kinds:
        for length in (int(float(text)) for text in options.lengths.split(",")):
            if max(prod(shape) for shape in KINDS[kind].shapes(length).values()) <= MOST_ELEMENTS:
                measured = measure(kind, length, np.dtype(str(options.dtype)), options.seeds)
                print(f"| {kind} | {length:.0e} | {measured} |", flush=True)


def measure(kind: str, length: int, dtype: np.dtype[Any], seeds: int) -> str:
    """The root mean square of our relative errors, numpy's, their ratio, and how many times as fast as numpy we are.

    The errors of double precision are not known: nothing here is more exact and fast.
    """
    what = KINDS[kind]
    module = compile_model(model(what, length, dtype))
    errors: list[tuple[float, float]] = []
    speeds: list[float] = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        feeds = {name: rng.random(shape, dtype) for name, shape in what.shapes(length).items()}
        ours, own_time = _timed(lambda feeds: module.run(feeds)["y"], feeds)
        theirs, their_time = _timed(what.numpy, feeds)
        exact = what.numpy({name: value.astype(np.float64) for name, value in feeds.items()})
        errors.append((_error(ours, exact), _error(theirs, exact)))
        speeds.append(their_time / own_time)
    speed = f"{statistics.median(speeds):.2f}"
    if dtype == np.float64:
        return f"| | | {speed}"
    own, other = (float(np.sqrt(np.mean(found))) for found in zip(*errors, strict=True))
    return f"{own:.1e} | {other:.1e} | {own / other:.2f} | {speed}"


def model(what: Kind, length: int, dtype: np.dtype[Any]) -> onnx.ModelProto:
    """What is computed, for sums of that length; its result is named y."""
    type_ = helper.np_dtype_to_tensor_dtype(dtype)
    nodes = [helper.make_node(op, [*inputs], [output], **attributes) for op, inputs, output, attributes in what.nodes]
    inputs = [helper.make_tensor_value_info(name, type_, shape) for name, shape in what.shapes(length).items()]
    graph = helper.make_graph(nodes, what.nodes[-1][0], inputs, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _timed(run: Callable[[Mapping[str, Any]], Any], feeds: Mapping[str, Any]) -> tuple[Any, float]:
    """What a call returns, and the least time of three."""
    times: list[float] = []
    result = None
    for _ in range(3):
        started = time.perf_counter()
        result = run(feeds)
        times.append(time.perf_counter() - started)
    return result, min(times)


def _error(found: Any, exact: Any) -> float:
    """The mean square of relative errors."""
    relative: Any = (found - exact) / exact
    return float(np.square(relative).mean())


if __name__ == "__main__":
    main()
