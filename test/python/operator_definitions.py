"""Operators of graphs that are computed by their te definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    TensorType,
    f32,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute

from tilework.algebra.index_expr import ExprLike
from tilework.analysis.verification import verify
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.interpreters.te import run_kernel

Array = np.ndarray[Any, Any]


def tensor(*dims: ExprLike) -> TensorType[Attribute]:
    return tensor_type(dims, f32)


def make(op: type[GraphOp], types: Sequence[Attribute], **properties: Attribute) -> GraphOp:
    return op.of(*TestOp(result_types=types).results, **properties)


def by_definition(op: GraphOp, *arrays: Array) -> Array:
    k = KernelBuilder("kernel")
    made = op.define(k, *(k.argument(t, f"x{i}") for i, t in enumerate(op.operand_types)))
    assert isinstance(made, Tensor)
    kernel = k.finish([made])
    verify(kernel)
    return run_kernel(kernel, arrays)[0]
