"""Operators written in te, and ONNX models that have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import tilework as tw
from tilework import te

Array = np.ndarray[Any, Any]


@tw.kernel
def swish(x: te.Tensor, beta: te.Tensor, scale: float = 1.0) -> te.Tensor:
    """An activation with a number for each channel, which are the last axis."""
    return te.compute(x.shape, lambda *i: x(*i) * te.sigmoid(scale * beta(i[-1]) * x(*i)), name="swish")


@tw.kernel
def gelu(x: te.Tensor) -> te.Tensor:
    """The kernel computes what Gelu of ONNX does."""
    half, root = te.const(0.5, "float32"), 2**-0.5
    return te.compute(x.shape, lambda *i: half * x(*i) * (1.0 + te.erf(x(*i) * root)), name="gelu")


@tw.kernel
def softmax(x: te.Tensor) -> te.Tensor:
    """The kernel takes the softmax of each row of a matrix."""
    n, m = x.shape
    k, k2 = te.reduce_axis((0, m), "k"), te.reduce_axis((0, m), "k2")
    most = te.compute((n,), lambda i: te.max(x[i, k], axis=k), name="most")
    e = te.compute((n, m), lambda i, j: te.exp(x[i, j] - most[i]), name="e")
    total = te.compute((n,), lambda i: te.sum(e[i, k2], axis=k2), name="total")
    return te.compute((n, m), lambda i, j: e[i, j] / total[i], name="softmax")


@tw.kernel
def transpose(x: te.Tensor) -> te.Tensor:
    """The kernel transposes a matrix."""
    return te.compute(tuple(reversed(x.shape)), lambda i, j: x[j, i], name="transpose")


@tw.kernel
def matmul(a: te.Tensor, b: te.Tensor) -> te.Tensor:
    """The kernel multiplies two matrices."""
    k = te.reduce_axis((0, a.shape[1]), "k")
    return te.compute((a.shape[0], b.shape[1]), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="matmul")


KERNELS = {f"my.ops::{k.name.capitalize()}": k for k in (swish, gelu, softmax, transpose, matmul)}

FLOAT, HALF, BFLOAT = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: str = "y",
    constants: Mapping[str, Array] | None = None,
    dtype: int = FLOAT,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, dtype, shape) for name, shape in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs.split()],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("my.ops", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def own(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(" "), outputs.split(), domain="my.ops", **attributes)


def standard(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(" "), outputs.split(), **attributes)


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def silu(x: Array, by: Array | float = 1.0) -> Array:
    return x / (1 + np.exp(-x * by))
