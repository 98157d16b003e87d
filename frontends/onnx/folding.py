"""Nodes that are computed while importing: arithmetic on shapes, and on other small arrays that are known.

Elements may be symbolic dimensions, so that `Reshape(x, Concat(Gather(Shape(x), 0), [-1]))` keeps its batch symbol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
import onnx

from tilework.algebra.index_expr import Expr
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.values import Array, Known, dims_array, known

SMALL = 256
"""Floating-point arrays are computed with here up to so many elements: scales and such, never weights."""

Folder: TypeAlias = "Callable[..., Any]"

_FOLDERS: dict[str, Folder] = {}


def can_fold(op_type: str) -> bool:
    """Whether nodes of this operator can be computed while importing, given the right inputs."""
    return op_type in _FOLDERS or op_type in ("Shape", "Size", "Constant")


def fold(node: Node) -> Known | None:
    """The node's only output, where it can be known; None where it cannot."""
    if node.op_type in ("Shape", "Size") and node.has(0):
        return known(_shape(node), node.title)
    if node.op_type == "Constant":
        return known(_constant(node), node.proto.output[0])
    if node.op_type not in _FOLDERS:
        return None
    arrays: list[Array | None] = []
    for value in node.inputs:
        if value is not None and not (isinstance(value, Known) and _is_cheap(value.array, node.op_type)):
            return None
        arrays.append(None if value is None else value.array)
    try:
        result = _FOLDERS[node.op_type](node, *arrays)
    except (ValueError, IndexError, TypeError, ZeroDivisionError) as error:
        raise node.error(f"it cannot be computed: {error}") from error
    return None if result is None else known(result, node.proto.output[0])


def _is_cheap(array: Array, op_type: str) -> bool:
    return array.dtype.kind in "iuObB" or array.size <= SMALL or op_type in ("ConstantOfShape", "Identity")


def folds(op_type: str) -> Callable[[Folder], Folder]:
    """Register a function of a node and its arrays (None for absent ones) that computes the node's output."""

    def register(function: Folder) -> Folder:
        _FOLDERS[op_type] = function
        return function

    return register


# ---- Sources ---------------------------------------------------------------------------------------------------------


def _shape(node: Node) -> Array:
    dims = value_dims(node.value(0))
    if node.op_type == "Size":
        size: Any = 1
        for d in dims:
            size = d * size
        return np.array(size, object)
    return dims_array(dims)[slice(node.attribute("start", 0), node.attribute("end"))]


def _constant(node: Node) -> Array:
    for name, dtype in (("value_float", np.float32), ("value_floats", np.float32), ("value_int", np.int64)):
        if (value := node.attribute(name)) is not None:
            return np.array(value, dtype)
    if (value := node.attribute("value_ints")) is not None:
        return np.array(value, np.int64)
    value = node.attribute("value")
    if not isinstance(value, np.ndarray):
        raise node.error("only constants that are dense tensors of numbers are supported")
    return cast(Array, value)


@folds("ConstantOfShape")
def _constant_of_shape(node: Node, shape: Array) -> Array | None:
    value = node.attribute("value")
    value = np.zeros(1, np.float32) if value is None else value
    if shape.dtype == object:
        raise node.error("its shape depends on symbolic dimensions")
    return np.full([int(n) for n in shape], value.reshape(()))


@folds("Range")
def _range(node: Node, start: Array, limit: Array, delta: Array) -> Array:
    if object in (start.dtype, limit.dtype, delta.dtype):
        raise node.error("its length depends on symbolic dimensions")
    return np.array(np.arange(*(a.item() for a in (start, limit, delta))), start.dtype)


# ---- Arithmetic ------------------------------------------------------------------------------------------------------


@folds("Add")
def _add(node: Node, a: Array, b: Array) -> Array:
    return np.asarray(a + b, _joint(a, b))


@folds("Sub")
def _sub(node: Node, a: Array, b: Array) -> Array:
    return np.asarray(a - b, _joint(a, b))


@folds("Mul")
def _mul(node: Node, a: Array, b: Array) -> Array:
    return np.asarray(a * b, _joint(a, b))


@folds("Div")
def _div(node: Node, a: Array, b: Array) -> Array:
    """Whole numbers are cut off towards zero; dimensions, which are not negative, may be rounded down as well."""
    if object in (a.dtype, b.dtype):
        return np.asarray(np.floor_divide(a.astype(object), b.astype(object)), object)
    if a.dtype.kind == "f":
        return np.divide(a, b)
    quotient = np.abs(a) // np.abs(b)
    return np.asarray(np.where((a < 0) == (b < 0), quotient, -quotient), a.dtype)


@folds("Neg")
def _neg(node: Node, a: Array) -> Array:
    return np.asarray(-a, a.dtype)


@folds("Floor")
def _floor(node: Node, a: Array) -> Array:
    return np.floor(a)


@folds("Ceil")
def _ceil(node: Node, a: Array) -> Array:
    return np.ceil(a)


@folds("Sqrt")
def _sqrt(node: Node, a: Array) -> Array:
    return np.sqrt(a)


@folds("Identity")
def _identity(node: Node, a: Array) -> Array:
    return a


def _joint(a: Array, b: Array) -> Any:
    return object if object in (a.dtype, b.dtype) else a.dtype


@folds("Cast")
def _cast(node: Node, a: Array) -> Array | None:
    to = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(node.required("to")))
    if a.dtype == object:
        return a if to.kind == "i" else None
    return a.astype(to)


@folds("ReduceProd")
def _reduce_prod(node: Node, a: Array, axes: Array | None = None) -> Any:
    chosen = node.attribute("axes") if axes is None else axes.tolist()
    keep = bool(node.attribute("keepdims", 1))
    return np.asarray(a.prod(axis=None if chosen is None else tuple(chosen), keepdims=keep), a.dtype)


# ---- Movement --------------------------------------------------------------------------------------------------------


@folds("Gather")
def _gather(node: Node, a: Array, indices: Array) -> Array:
    return np.asarray(np.take(a, indices.astype(np.int64), axis=node.attribute("axis", 0)), a.dtype)


@folds("Concat")
def _concat(node: Node, *arrays: Array) -> Array:
    dtype: Any = object if any(a.dtype == object for a in arrays) else arrays[0].dtype
    return np.concatenate([a.astype(dtype) for a in arrays], axis=node.attribute("axis", 1))


@folds("Slice")
def _slice(node: Node, a: Array, *given: Array | None) -> Array:
    if given:
        starts, ends, axes, steps = ([*given, None, None])[:4]
    else:
        starts, ends, axes, steps = node.required("starts"), node.required("ends"), node.attribute("axes"), None
    assert starts is not None and ends is not None
    chosen = list(range(len(starts))) if axes is None else [int(axis) for axis in axes]
    strides = [1] * len(chosen) if steps is None else [int(step) for step in steps]
    index: list[slice] = [slice(None)] * a.ndim
    for axis, start, end, step in zip(chosen, starts, ends, strides, strict=True):
        if isinstance(start, Expr) or isinstance(end, Expr):
            raise node.error("its bounds depend on symbolic dimensions")
        index[axis] = python_slice(int(start), int(end), step)
    return a[tuple(index)]


def python_slice(start: int, end: int, step: int) -> slice:
    """ONNX's bounds as Python's. Walking backwards, ONNX writes "to the very front" as a very negative end."""
    return slice(start, None if step < 0 and end < -(2**30) else end, step)


@folds("Transpose")
def _transpose(node: Node, a: Array) -> Array:
    return a.transpose(node.attribute("perm"))


@folds("Equal")
def _equal(node: Node, a: Array, b: Array) -> Array:
    return np.asarray(np.equal(a, b), bool)


@folds("Where")
def _where(node: Node, condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition, a, b).astype(_joint(a, b))


@folds("Expand")
def _expand(node: Node, a: Array, shape: Array) -> Array | None:
    if shape.dtype == object:
        return None
    return np.broadcast_to(a, np.broadcast_shapes(a.shape, tuple(shape)))
