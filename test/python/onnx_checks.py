"""Operators of ONNX that are compiled, interpreted and compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx_models import Array

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

onnxruntime = pytest.importorskip("onnxruntime")
RANDOM = np.random.default_rng(5)


def floats(*shape: int, dtype: type[np.generic] = np.float32) -> Array:
    return RANDOM.standard_normal(shape).astype(dtype)


@dataclass(frozen=True)
class Case:
    """A node of these inputs, None where one is absent; those of `constants` are initializers, sizes of inputs in
    `open` are symbols. onnx itself has the result where `by_onnx`, which onnxruntime does not compute."""

    op: str
    inputs: tuple[Array | None, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    opset: int = 21
    constants: tuple[int, ...] = ()
    tolerance: float = 1e-5
    by_onnx: bool = False
    open: Mapping[int, tuple[int | str, ...]] = field(default_factory=dict)
    title: str = ""

    def __str__(self) -> str:
        return f"{self.op}-{self.title or self.opset}"

    def model(self, sizes: Mapping[int, tuple[int | str, ...]] | None = None) -> onnx.ModelProto:
        names = ["" if x is None else f"x{i}" for i, x in enumerate(self.inputs)]
        given = {i: x for i, x in enumerate(self.inputs) if x is not None}
        graph = helper.make_graph(
            [helper.make_node(self.op, names, ["y"], **self.attributes)],
            "defined",
            [
                helper.make_tensor_value_info(
                    f"x{i}", helper.np_dtype_to_tensor_dtype(x.dtype), (sizes or {}).get(i, x.shape)
                )
                for i, x in given.items()
                if i not in self.constants
            ],
            [helper.make_empty_tensor_value_info("y")],
            [numpy_helper.from_array(given[i], f"x{i}") for i in self.constants],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)

    def feeds(self) -> dict[str, Array]:
        return {f"x{i}": x for i, x in enumerate(self.inputs) if x is not None and i not in self.constants}

    def wanted(self) -> Array:
        if self.by_onnx:
            return onnx.reference.ReferenceEvaluator(self.model()).run(None, self.feeds())[0]
        session = onnxruntime.InferenceSession(self.model().SerializeToString(), providers=["CPUExecutionProvider"])
        return session.run(None, self.feeds())[0]


def check(case: Case, cache: KernelCache) -> None:
    """Interpreted, of given sizes, and compiled, perhaps of open ones."""
    wanted, imported = case.wanted(), import_onnx(case.model())
    [interpreted] = run_function(imported.module, "main", [*case.feeds().values()], imported.parameters)
    [compiled] = tw.compile(case.model(case.open), cache=cache, processes=1).run(case.feeds()).values()
    for got in (interpreted, compiled):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=case.tolerance, atol=case.tolerance)
