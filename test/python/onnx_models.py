"""Small ONNX models for tests, and what they are checked by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import tilework as tw
from tilework.analysis.verification import verify
from tilework.dialects.graph import ScanOp
from tilework.dialects.support.diagnostics import TileworkError, UsageError
from tilework.frontends.onnx import ImportedModel, import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

Array = np.ndarray[Any, Any]

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """An input that is absent is a second space."""
    return helper.make_node(op, inputs.split(" ") if inputs else [], outputs.split(), **attributes)


def graph(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: str,
    constants: Mapping[str, Any] | None = None,
) -> onnx.GraphProto:
    """Inputs hold floats, but those whose names begin with i (integers) or c (conditions)."""
    types = {"i": INT64, "c": BOOL}
    infos = [helper.make_tensor_value_info(name, types.get(name[0], FLOAT), shape) for name, shape in inputs.items()]
    return helper.make_graph(
        nodes,
        "graph",
        infos,
        [helper.make_empty_tensor_value_info(name) for name in outputs.split()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()],
    )


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: str,
    constants: Mapping[str, Any] | None = None,
    opset: int = 13,
) -> onnx.ModelProto:
    made = graph(nodes, inputs, outputs, constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def check(
    made: onnx.ModelProto,
    feeds: Mapping[str, Array],
    cache: KernelCache,
    wanted: Sequence[Array] | None = None,
    scans: int | None = None,
) -> None:
    """Interpreted and compiled, the model computes `wanted`, or what onnx's evaluator does; `scans` it becomes."""
    expected = ReferenceEvaluator(made).run(None, dict(feeds)) if wanted is None else wanted
    imported = import_onnx(made)
    verify(imported.module)
    interpreted = run_function(imported.module, "main", list(feeds.values()), imported.parameters)
    compiled = tw.compile(made, cache=cache).run(dict(feeds)).values()
    for array, *results in zip(expected, interpreted, compiled, strict=True):
        for result in results:
            assert result.dtype == array.dtype and result.shape == array.shape
            np.testing.assert_allclose(result, array, rtol=1e-5, atol=1e-6)
    assert scans is None or scans_of(imported) == scans


Sizes = Mapping[str, int]
"""What the symbols of a model are."""


def check_sizes(
    made: onnx.ModelProto, cache: KernelCache, fitting: Iterable[Sizes], refused: Iterable[tuple[Sizes, str]] = ()
) -> None:
    """Compiled once, the model computes what onnxruntime does, and refuses sizes with a message that matches."""
    module = tw.compile(made, cache=cache, processes=1)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for sizes in fitting:
        feeds = feeds_of(made, sizes)
        for array, result in zip(session.run(None, feeds), module.run(feeds).values(), strict=True):
            assert result.dtype == array.dtype and result.shape == array.shape, sizes
            np.testing.assert_allclose(result, array, rtol=1e-5, atol=1e-5, err_msg=str(sizes))
    for sizes, message in refused:
        with pytest.raises(UsageError, match=message):
            module.run(feeds_of(made, sizes))


def check_onnxruntime(made: onnx.ModelProto, cache: KernelCache, *feeds: Mapping[str, Array]) -> list[list[Array]]:
    """Compiled once, and interpreted, the model makes of each feed what onnxruntime does; what that is."""
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    module, imported = tw.compile(made, cache=cache, processes=1), import_onnx(made)
    answers: list[list[Array]] = []
    for feed in feeds:
        wanted = session.run(None, dict(feed))
        interpreted = run_function(imported.module, "main", list(feed.values()), imported.parameters)
        for array, *results in zip(wanted, interpreted, module.run(feed).values(), strict=True):
            for result in results:
                assert result.dtype == array.dtype and result.shape == array.shape
                np.testing.assert_allclose(result, array, rtol=1e-5, atol=1e-5)
        answers.append(wanted)
    return answers


def feeds_of(made: onnx.ModelProto, sizes: Sizes) -> dict[str, Array]:
    """Random inputs; integers and conditions are 0 or 1."""
    rng, feeds = np.random.default_rng(0), dict[str, Array]()
    constants = {initializer.name for initializer in made.graph.initializer}
    for info in made.graph.input:
        if info.name not in constants:
            tensor = info.type.tensor_type
            shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in tensor.shape.dim]
            dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            floats = tensor.elem_type == FLOAT
            feeds[info.name] = (rng.standard_normal(shape) if floats else rng.integers(0, 2, shape)).astype(dtype)
    return feeds


def scans_of(imported: ImportedModel) -> int:
    return sum(isinstance(op, ScanOp) for op in imported.module.walk())


def refusal(made: onnx.ModelProto) -> str:
    with pytest.raises(TileworkError) as caught:
        import_onnx(made)
    return str(caught.value)
