"""Decoding with weights of 4 bits beside onnxruntime: the dense layers of a language model, one word or some at a time.

    python -m tilework.tools.bench.decoding --layers 4 --rows 1 --threads 1,2 --repeat 10 --json measured.json

Layers are those of a model of 7 billion weights, with random numbers: four products of 4096 by 4096, and three of 4096
and 11008. Blocks of 32 numbers have a scale of f32, as MatMulNBits has them. Attention over the words before is left
out. onnxruntime computes at accuracy level 1, in f32 as we do, and at level 4, which rounds rows to 8 bits. Every
engine runs in a process of its own, in turns with a product by a matrix of f32 that no cache holds: its bytes are the
memory's bandwidth. What the machine can do is the best of all runs: that of the bandwidth is from least times.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tilework.tools.bench.load import busy_cores, warn_if_busy
from tilework.tools.bench.measure import machine, summary, take_turns
from tilework.tools.bench.processes import run_task
from tilework.tools.bench.subject import Subject
from tilework.tools.bench.table import columns

SIZE, INNER = 4096, 11008
"""How long a row is between layers, and inside of the two dense ones."""

BITS, BLOCK = 4, 32

LEVELS = {"onnxruntime, f32": 1, "onnxruntime, rows of 8 bits": 4}
"""The accuracy levels of onnxruntime."""

OURS = "tilework"

STREAMED = 16384, 4096
"""The matrix of f32 that is read to measure the bandwidth: 256 MB."""


class Decoder:
    """Collects the nodes of layers."""

    def __init__(self, level: int, rows: int):
        self._level = level
        self._rows = rows
        self._random = np.random.default_rng(0)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[TensorProto] = []

    def model(self, layers: int) -> onnx.ModelProto:
        """So many layers, whose input are the rows."""
        x = "word"
        for _ in range(layers):
            x = self._layer(x)
        graph = helper.make_graph(
            [*self._nodes, helper.make_node("Identity", [x], ["state"])],
            "decoder",
            [helper.make_tensor_value_info("word", TensorProto.FLOAT, [self._rows, SIZE])],
            [helper.make_tensor_value_info("state", TensorProto.FLOAT, [self._rows, SIZE])],
            self._weights,
        )
        domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, ir_version=8, opset_imports=domains)

    def _layer(self, x: str) -> str:
        y = self._normalized(x)
        queries, keys, values = (self._product(y, SIZE, SIZE) for _ in range(3))
        mixed = self._node("Add", self._node("Mul", queries, keys), values)
        x = self._node("Add", x, self._product(mixed, SIZE, SIZE))
        y = self._normalized(x)
        gate, up = (self._product(y, SIZE, INNER) for _ in range(2))
        opened = self._node("Mul", self._node("Mul", gate, self._node("Sigmoid", gate)), up)
        return self._node("Add", x, self._product(opened, INNER, SIZE))

    def _product(self, x: str, channels: int, outputs: int) -> str:
        blocks = channels // BLOCK
        numbers = self._random.integers(0, 256, (outputs, blocks, BLOCK * BITS // 8), np.uint8)
        scale = self._random.uniform(0.1, 0.3, (outputs, blocks)) / sqrt(channels)
        attributes: dict[str, Any] = {"K": channels, "N": outputs, "bits": BITS, "block_size": BLOCK}
        attributes |= {"accuracy_level": self._level, "domain": "com.microsoft"}
        return self._node("MatMulNBits", x, self._weight(numbers), self._weight(scale), **attributes)

    def _normalized(self, x: str) -> str:
        return self._node("LayerNormalization", x, self._weight(np.ones(SIZE)), axis=-1)

    def _weight(self, array: np.ndarray[Any, Any]) -> str:
        held = array if array.dtype == np.uint8 else array.astype(np.float32)
        self._weights.append(numpy_helper.from_array(held, f"weight_{len(self._weights)}"))
        return self._weights[-1].name

    def _node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name


def weight_bytes(layers: int) -> int:
    """How many bytes the weights of so many layers are: numbers, and scales."""
    numbers = layers * (4 * SIZE * SIZE + 3 * SIZE * INNER)
    return numbers * BITS // 8 + numbers // BLOCK * 4


def streaming_model() -> onnx.ModelProto:
    """A row times a matrix of f32."""
    outputs, channels = STREAMED
    weight = numpy_helper.from_array(np.ones((outputs, channels), np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)],
        "streaming",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, channels])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, outputs])],
        [weight],
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def measure_decoding(layers: int, rows: int, threads: Sequence[int], repeat: int) -> dict[str, Any]:
    """Milliseconds of all rows, by engine and number of threads, and the bandwidth, as JSON values."""
    with TemporaryDirectory(prefix="tilework-bench-") as folder:
        models = {
            level: _saved(Decoder(level, rows).model(layers), f"{folder}/{level}.onnx") for level in LEVELS.values()
        }
        artefact = _compiled(models[min(models)], "default", folder)
        streaming = _compiled(_saved(streaming_model(), f"{folder}/streaming.onnx"), "direct", folder)
        runs = [_measured(models, artefact, streaming, number, repeat) for number in threads]
    return {"layers": layers, "rows": rows, "weight_bytes": weight_bytes(layers), "runs": runs}


def _measured(models: Mapping[int, str], artefact: str, streaming: str, threads: int, repeat: int) -> dict[str, Any]:
    with ExitStack() as running:

        def start(kind: str, model: str, ours: str) -> Subject:
            return running.enter_context(Subject(kind, artefact=ours, model=model, dims={}, threads=threads))

        engines = {OURS: start("tilework", models[min(models)], artefact)}
        engines |= {name: start("onnxruntime", models[level], artefact) for name, level in LEVELS.items()}
        engines["streaming"] = start("tilework", streaming.removesuffix(".tw"), streaming)
        for engine in engines.values():
            engine.prepared()
        times = take_turns([*engines.values()], repeat, threads)
    measured = {name: summary(taken) for name, taken in zip(engines, times, strict=True)}
    outputs, channels = STREAMED
    bandwidth = 4 * outputs * channels / (measured.pop("streaming")["least"] / 1000)
    return {"threads": threads, "bytes_per_second": bandwidth, "milliseconds": measured}


def _saved(model: onnx.ModelProto, path: str) -> str:
    Path(path).write_bytes(model.SerializeToString())
    return path


def _compiled(model: str, precision: str, folder: str) -> str:
    run_task("compile", model=model, cache=f"{folder}/cache", artefact=f"{model}.tw", precision=precision)
    return f"{model}.tw"


def decoding_rows(measured: Mapping[str, Any]) -> Iterator[list[str]]:
    """A table of medians and least times; how many times as fast we are; and of least times, what of the weights comes
    from memory in a second."""
    yield ["threads", "engine", "ms", "times as fast", "least", "times as fast", "GB/s", "of the bandwidth"]
    for run in measured["runs"]:
        ours = run["milliseconds"][OURS]
        for name, taken in run["milliseconds"].items():
            speed = measured["weight_bytes"] / (taken["least"] / 1000)
            times: list[str] = []
            for kind in ("median", "least"):
                times += [f"{taken[kind]:.2f}", "" if name == OURS else f"{taken[kind] / ours[kind]:.2f}"]
            share = f"{100 * speed / run['bytes_per_second']:.0f} %"
            yield [str(run["threads"]), name, *times, f"{speed / 1e9:.1f}", share]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=4, help="of 126 MB each (4)")
    parser.add_argument("--rows", type=int, default=1, help="how many words at a time (1)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (1,2)")
    parser.add_argument("--repeat", type=int, default=10, help="blocks of runs for each engine (10)")
    parser.add_argument("--json", help="write all measurements to this file")
    options = parser.parse_args()
    warn_if_busy(busy_cores())
    threads = [int(word) for word in options.threads.split(",")]
    measured = measure_decoding(options.layers, options.rows, threads, options.repeat)
    print(*columns([*decoding_rows(measured)]), sep="\n")
    if options.json is not None:
        content = json.dumps({"machine": machine(), "decoding": measured}, indent=1)
        Path(options.json).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
