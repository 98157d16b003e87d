"""A case: a model of ONNX with data, interpreted, and at times compiled, beside what onnxruntime makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

import tilework as tw
from tilework.algebra.errors import TileworkError
from tilework.analysis.verification import verify
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.tools.fuzz.check import Outcome, compare
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.onnx.control import DOMAIN, INPUTS, OPSET, fill
from tilework.tools.fuzz.onnx.graphs import Graph, Names

Array = NDArray[Any]

COMPILED = 8
"""One of so many cases is compiled, too."""

LENGTHS = range(4, 21)
"""How many operators a model has, those of bodies not counted."""

SIZES = {"N": 2, "M": 3}


@dataclass(frozen=True)
class Case:
    """A model, the seed of its data, and whether it is compiled, too."""

    model: onnx.ModelProto
    seed: int
    compiled: bool

    def run(self) -> Outcome:
        """Check it; a crash is a difference."""
        feeds = self.feeds()
        try:
            expected = by_onnxruntime(self.model, feeds)
        except Exception as error:  # onnxruntime names no class for what it refuses
            return Outcome(refused=f"by onnxruntime: {_first_line(error)}")
        try:
            return self.checked(feeds, expected)
        except TileworkError as error:
            return Outcome(refused=_first_line(error))
        except Exception as error:  # whatever else escapes is a finding
            return Outcome(difference=f"{type(error).__name__}: {_first_line(error)}")

    def checked(self, feeds: dict[str, Array], expected: Sequence[Array]) -> Outcome:
        """Interpret the model, and compile and run it."""
        imported = import_onnx(self.model)
        verify(imported.module)
        interpreted = run_function(imported.module, "main", list(feeds.values()), imported.parameters)
        difference = _difference("interpreted", interpreted[: len(expected)], expected)
        if difference is None and self.compiled:
            made = self._compiled().run(feeds)
            difference = _difference("compiled", list(made.values()), expected)
        return Outcome(difference=difference, counts={"compiled": int(self.compiled)})

    def _compiled(self) -> tw.CompiledModel:
        """The model compiled; as it was imported and interpreted, a refusal is a defect."""
        try:
            return tw.compile(self.model, processes=1)
        except TileworkError as error:
            raise AssertionError(f"it is imported but not compiled: {error}") from error

    def feeds(self) -> dict[str, Array]:
        """Small integers for each input."""
        rng, feeds = np.random.default_rng(self.seed), dict[str, Array]()
        for value in self.model.graph.input:
            tensor = value.type.tensor_type
            shape = [SIZES[d.dim_param] if d.dim_param else d.dim_value for d in tensor.shape.dim]
            feeds[value.name] = rng.integers(-3, 5, shape).astype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        return feeds

    def traits(self) -> list[str]:
        """What accepted cases are counted by."""
        text = onnx.printer.to_text(self.model)
        words = ("If", "Loop", "Scan", "Slice", "Range", "NonZero", "Compress", "Expand")
        return [f"have {word}" for word in words if f"= {word} " in text]

    def smaller(self) -> Iterator[Case]:
        """Cases with fewer outputs, or with one that is computed earlier; what nobody reads is left out."""
        outputs = [value.name for value in self.model.graph.output]
        if len(outputs) > 1:
            yield from (self._returning(outputs[:i] + outputs[i + 1 :]) for i in range(len(outputs)))
        given = {value.name for value in self.model.graph.input}
        made = [name for node in self.model.graph.node for name in node.output]
        for output in outputs[:1] if len(outputs) == 1 else []:
            yield from (self._returning([name]) for name in made[: made.index(output)] if name not in given)

    def _returning(self, outputs: Sequence[str]) -> Case:
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        del model.graph.output[:]
        model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in outputs)
        needed, kept = set(outputs), list[onnx.NodeProto]()
        for node in reversed(self.model.graph.node):
            if needed.intersection(node.output):
                kept.append(node)
                needed |= _read(node)
        del model.graph.node[:]
        model.graph.node.extend(reversed(kept))
        return replace(self, model=model)

    def __str__(self) -> str:
        return f"// data seed = {self.seed}, {self.feeds()}\n{onnx.printer.to_text(self.model)}\n"


def _difference(how: str, results: Sequence[Array], expected: Sequence[Array]) -> str | None:
    """Where results differ. Of what a loop of no iteration makes, onnxruntime does not know the sizes inside."""
    for i, (result, wanted) in enumerate(zip(results, expected, strict=True)):
        are_empty = not result.size and not wanted.size and result.ndim == wanted.ndim
        if result.dtype != wanted.dtype or (result.shape != wanted.shape and not are_empty):
            return f"{how}, result {i}: {result.dtype}{result.shape}, not {wanted.dtype}{wanted.shape}"
    filled = [pair for pair in zip(results, expected, strict=True) if pair[1].size]
    return compare(how, [result for result, _ in filled], [wanted for _, wanted in filled])


def by_onnxruntime(model: onnx.ModelProto, feeds: dict[str, Array]) -> list[Array]:
    """What onnxruntime computes, without optimizing the model."""
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))


def random_case(draw: Draw, seed: int) -> Case:
    """A model of some operators and control flow that returns the values that it computes last, and some others."""
    g = Graph(draw, Names())
    inputs = [g.argument(type_, "x") for type_ in INPUTS]
    fill(g, LENGTHS)
    made = [name for node in g.nodes for name in node.output]
    outputs = dict.fromkeys([*made[-2:], *(draw.choice(made) for _ in range(3))] if made else [])
    graph = g.graph("fuzz", inputs, list(outputs))
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=opsets, functions=g.names.functions, ir_version=10)
    return Case(model, seed, seed % COMPILED == 0)


def _read(node: onnx.NodeProto) -> set[str]:
    """The names that a node reads, in its bodies too."""
    bodies = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    inside = {name for body in bodies for inner in body.node for name in _read(inner)}
    return {*node.input, *inside, *(value.name for body in bodies for value in body.output)}


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else ""
