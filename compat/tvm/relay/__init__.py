"""Graphs of operators, as programs of `tvm.relay` write them; they become graph modules of Tilework."""

from tilework.compat.tvm.relay import nn, op, transform
from tilework.compat.tvm.relay.build_module import GraphExecutorFactory, build
from tilework.compat.tvm.relay.expr import (
    Call,
    Constant,
    Expr,
    Function,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleWrapper,
    Var,
    const,
    var,
)
from tilework.compat.tvm.relay.op import *  # noqa: F403

__all__ = [
    *op.__all__,
    "Call",
    "Constant",
    "Expr",
    "Function",
    "GraphExecutorFactory",
    "TensorType",
    "Tuple",
    "TupleGetItem",
    "TupleWrapper",
    "Var",
    "build",
    "const",
    "nn",
    "op",
    "transform",
    "var",
]
