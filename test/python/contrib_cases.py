"""A node of onnxruntime's own operators with its inputs, and what onnxruntime makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx_models import Array

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

RANDOM = np.random.default_rng(11)


def floats(*shape: int, scale: float = 1) -> Array:
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def integers(low: int, high: int, *shape: int, dtype: type[np.generic] = np.uint8) -> Array:
    return RANDOM.integers(low, high, shape).astype(dtype)


@dataclass(frozen=True)
class Case:
    """A node of these inputs, None where one is absent; those of `constants` are initializers. How many outputs are
    taken, and by how much they may differ."""

    op: str
    inputs: tuple[Array | np.generic | None, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    outputs: int = 1
    constants: tuple[int, ...] = ()
    tolerance: float = 2e-5
    domain: str = "com.microsoft"
    title: str = ""

    def model(self, open_axes: Mapping[int, tuple[Any, ...]] | None = None) -> onnx.ModelProto:
        names = ["" if x is None else f"x{i}" for i, x in enumerate(self.inputs)]
        given = {name: np.asarray(x) for name, x in zip(names, self.inputs, strict=True) if name}
        constant = {name: given.pop(name) for name in [f"x{i}" for i in self.constants]}
        results = [f"y{i}" for i in range(self.outputs)]
        shapes = {f"x{i}": shape for i, shape in (open_axes or {}).items()}
        graph = helper.make_graph(
            [helper.make_node(self.op, names, results, domain=self.domain, **self.attributes)],
            "contrib",
            [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), shapes.get(name, x.shape))
                for name, x in given.items()
            ],
            [helper.make_empty_tensor_value_info(name) for name in results],
            [numpy_helper.from_array(x, name) for name, x in constant.items()],
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def feeds(self) -> dict[str, Array]:
        return {f"x{i}": np.asarray(x) for i, x in enumerate(self.inputs) if x is not None and i not in self.constants}


def check(case: Case, cache: KernelCache, open_axes: Mapping[int, tuple[Any, ...]] | None = None) -> None:
    """Interpreted, of given sizes, and compiled, perhaps of open ones."""
    made = case.model()
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.run(None, case.feeds())
    imported = import_onnx(made)
    interpreted = run_function(imported.module, "main", [*case.feeds().values()], imported.parameters)
    compiled = tw.compile(case.model(open_axes), cache=cache, processes=1).run(case.feeds())
    for results in (interpreted, list(compiled.values())):
        for got, expected in zip(results, wanted, strict=True):
            assert got.dtype == expected.dtype and got.shape == expected.shape
            np.testing.assert_allclose(got, expected, rtol=case.tolerance, atol=case.tolerance)


def named(case: Case) -> str:
    return f"{case.op}-{case.title}" if case.title else case.op
