"""Nodes that are computed while importing: arithmetic on shapes, and on other small arrays that are known.

Elements may be symbolic dimensions, so that `Reshape(x, Concat(Gather(Shape(x), 0), [-1]))` keeps its batch symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np
from onnx.helper import make_empty_tensor_value_info, make_graph
from onnx.reference import ReferenceEvaluator

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, maximum, minimum, to_expr
from tilework.algebra.predicate import at_least
from tilework.dialects.graph.accumulation import widened_array
from tilework.dialects.graph.base import BFLOAT16, is_float, numpy_dtype
from tilework.dialects.graph.broadcast import integer_power, truncated_quotient
from tilework.frontends.onnx.axes import reduced_axes, right_operand, slice_bounds, slice_range
from tilework.frontends.onnx.conversions import converted_array
from tilework.frontends.onnx.fractions import (
    FRACTIONAL,
    LARGEST_DIVIDENDS,
    SizeFraction,
    as_fraction,
    computed,
    has_fractions,
)
from tilework.frontends.onnx.load import PACKED_BITS
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.truths import COMPARISONS, Truth, as_truth, compared
from tilework.frontends.onnx.values import Array, Known, as_numbers, dims_array, known

LARGEST = 1 << 31
"""Bytes of the largest array that is computed here: what an ONNX file itself can hold at most."""

SMALL = 256
"""Floating-point arrays are computed with here up to so many elements: scales and such, never weights."""

Folder: TypeAlias = "Callable[..., Any]"

_FOLDERS: dict[str, Folder] = {}

_SELECTING = ("ArgMax", "ArgMin", "Compress", "GatherND", "NonZero", "ScatterElements", "ScatterND")
_COMPUTING = ("Abs", "Ceil", "Clip", "CumSum", "Floor", "Round", "Sign", "Sqrt")
_REDUCING = ("ReduceMax", "ReduceMin", "ReduceSum")
_SHAPING = ("EyeLike", "Trilu")

_EVALUATED = frozenset((*_SELECTING, *_COMPUTING, *_REDUCING, *_SHAPING))
"""Operators that onnx itself evaluates: of one output, which is no larger than the inputs broadcast together."""


_MOVING = ("Concat", "Gather", "Slice", "Transpose")
"""Operators that only move elements, whatever they are."""

_ALIGNED = ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")
"""Operators whose right operand had to be aligned before opset 7."""


def can_fold(op_type: str) -> bool:
    """Whether nodes of this operator can be computed while importing, given the right inputs."""
    return op_type in _FOLDERS or op_type in _EVALUATED or op_type in ("Shape", "Size", "Constant")


def fold(node: Node) -> Known | None:
    """The node's only output, where it can be known; None where it cannot."""
    if node.op_type in ("Shape", "Size") and node.has(0):
        return known(_shape(node), node.title)
    if node.op_type == "Constant":
        return known(_constant(node), node.proto.output[0])
    folder: Folder | None = _evaluate if node.op_type in _EVALUATED else _FOLDERS.get(node.op_type)
    if folder is None:
        return None
    arrays: list[Array | None] = []
    for value in node.inputs:
        if value is not None and not (isinstance(value, Known) and _is_cheap(value.array, node.op_type)):
            return None
        arrays.append(None if value is None else value.array)
    if node.opset < 7 and node.op_type in _ALIGNED:
        aligned = right_operand(node)
        assert isinstance(aligned, Known)
        arrays[1] = aligned.array
    if any(has_fractions(array) for array in arrays if array is not None) and node.op_type not in _MOVING:
        folder = _of_fractions
    try:
        with np.errstate(all="ignore"):  # infinities and NaN are results as others are
            result = folder(node, *arrays)
    except (ValueError, IndexError, TypeError, ArithmeticError, RuntimeError) as error:
        raise node.error(f"it cannot be computed: {error}") from error
    return None if result is None else known(result, node.proto.output[0], _element(node))


def _element(node: Node) -> np.dtype[Any] | None:
    """The type of what a node computes from sizes."""
    if node.op_type == "Cast":
        return numpy_dtype(node.element_type(node.attribute("to")))
    if node.op_type in COMPARISONS:
        return np.dtype(bool)
    if node.op_type == "Where":
        return next((v.element for v in node.inputs[1:] if isinstance(v, Known) and v.is_symbolic), None)
    return next((v.element for v in node.inputs if isinstance(v, Known) and v.is_symbolic), None)


def _is_cheap(array: Array, op_type: str) -> bool:
    is_integer = array.dtype.kind in "iuObB" or array.dtype.name in PACKED_BITS
    return is_integer or array.size <= SMALL or op_type == "ConstantOfShape"


def folds(op_type: str) -> Callable[[Folder], Folder]:
    """Register a function of a node and its arrays (None for absent ones) that computes the node's output."""

    def register(function: Folder) -> Folder:
        _FOLDERS[op_type] = function
        return function

    return register


def _evaluate(node: Node, *arrays: Array | None) -> Array | None:
    """What onnx's own evaluator makes of a node, by the operator's version in the model's opset.

    It knows those of opset 6 and later, which before differ in nothing that matters here.
    """
    if any(array is not None and array.dtype == object for array in arrays):
        return None
    given = {name: a for name, a in zip(node.proto.input, arrays, strict=True) if name and a is not None}
    narrow = node.op_type in (*_COMPUTING, *_REDUCING) and any(a.dtype == BFLOAT16 for a in given.values())
    if narrow:  # onnx's evaluator does not, or not always, make bfloat16 of such
        given = {name: widened_array(array) for name, array in given.items()}
    inputs, outputs = ([make_empty_tensor_value_info(name) for name in names] for names in (given, node.proto.output))
    graph = make_graph([node.proto], node.title, inputs, outputs)
    evaluator: Any = ReferenceEvaluator(graph, opsets={"": max(node.opset, 6)})
    [result] = evaluator.run(None, given)
    return result.astype(BFLOAT16) if narrow else result


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
    if len(node.proto.attribute) != 1:
        raise node.error(f"a constant has one attribute, not {len(node.proto.attribute)}")
    for name, dtype in (("value_float", np.float32), ("value_floats", np.float32), ("value_int", np.int64)):
        if (value := node.attribute(name)) is not None:
            return np.array(value, dtype)
    if (value := node.attribute("value_ints")) is not None:
        return np.array(value, np.int64)
    value = node.attribute("value")
    if not isinstance(value, np.ndarray):  # a string, or a sparse tensor
        raise node.error("only constants that are dense tensors of numbers are supported")
    return cast(Array, value)


@folds("ConstantOfShape")
def _constant_of_shape(node: Node, shape: Array) -> Array | None:
    value = node.attribute("value", np.zeros(1, np.float32))
    if value.size != 1:
        raise node.error(f"its value is one number, not {value.size}")
    if shape.dtype == object:
        return None
    extents = [int(n) for n in shape]
    _require_small(node, prod(extents), value)
    return np.full(extents, value.reshape(()))


@folds("Range")
def _range(node: Node, start: Array, limit: Array, delta: Array) -> Array | None:
    if object in (start.dtype, limit.dtype, delta.dtype):
        return None
    first, end, step = (a.item() for a in (start, limit, delta))
    _require_small(node, (end - first) / step, start)
    return np.array(np.arange(first, end, step), start.dtype)


def _require_small(node: Node, count: float, like: Array) -> None:
    if count * like.itemsize > LARGEST:
        raise node.error(f"its {count:.3g} elements are more than is computed beforehand")


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
def _div(node: Node, a: Array, b: Array) -> Array | None:
    """Whole numbers are cut off towards zero, so that those that are not negative may be rounded down."""
    if object in (a.dtype, b.dtype):
        if any(map(_may_be_negative, b.flat)):
            return None
        return np.asarray(np.frompyfunc(_quotient, 2, 1)(a, b), object)
    if is_float(a.dtype):
        return np.divide(a, b)
    _refuse_zero(b)
    return truncated_quotient(a, b)


def _quotient(a: int | Expr, b: int | Expr) -> Expr:
    """The quotient of a whole number and one that is not negative, cut off towards zero."""
    if not _may_be_negative(a):
        return to_expr(a) // b
    return maximum(a, 0) // b - maximum(-a, 0) // b


def _refuse_zero(divisor: Array) -> None:
    if divisor.dtype.kind in "iu" and not divisor.all():
        raise ZeroDivisionError("division by zero")


def _may_be_negative(e: int | Expr) -> bool:
    """Whether an expression may be negative for sizes of 1 and more."""
    low = Domain({key: (1, None) for key in to_expr(e).variables()}).lower(e)
    return low is None or low < 0


@folds("DequantizeLinear")
def _dequantize(node: Node, a: Array, scale: Array, zero: Array | None = None) -> Array | None:
    """One number, such as that around an image; weights stay bytes."""
    is_one = a.size == scale.size == 1 and (zero is None or zero.size == 1)
    if not is_one or a.dtype.kind not in "iu" or scale.dtype != np.float32 or node.attribute("output_dtype", 0):
        return None
    distance = a.astype(np.int32) - (0 if zero is None else zero.astype(np.int32).reshape(()))
    return distance.astype(np.float32) * scale.reshape(())


@folds("Neg")
def _neg(node: Node, a: Array) -> Array:
    return np.asarray(-a, a.dtype)


@folds("Mod")
def _mod(node: Node, a: Array, b: Array) -> Array | None:
    """Fold remainders of sizes by positive ones, where `fmod` is not asked for; onnx evaluates those of numbers."""
    if object not in (a.dtype, b.dtype):
        _refuse_zero(b)
        return _evaluate(node, a, b)
    if any(map(_may_be_negative, b.flat)) or 0 in b or node.attribute("fmod", 0):
        return None
    return np.asarray(a.astype(object) % b.astype(object), object)


@folds("Max")
def _max(node: Node, *arrays: Array) -> Array | None:
    return _extremum(node, maximum, arrays)


@folds("Min")
def _min(node: Node, *arrays: Array) -> Array | None:
    return _extremum(node, minimum, arrays)


def _extremum(node: Node, function: Callable[..., Expr], arrays: Sequence[Array]) -> Array | None:
    if all(a.dtype != object for a in arrays):
        return _evaluate(node, *arrays)
    joined: Array = arrays[0].astype(object)
    for array in arrays[1:]:
        joined = np.asarray(np.frompyfunc(function, 2, 1)(joined, array.astype(object)), object)
    return joined


@folds("Pow")
def _pow(node: Node, a: Array, b: Array) -> Array | None:
    if object in (a.dtype, b.dtype):
        return None
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        return integer_power(a, b)
    return np.power(widened_array(a), widened_array(b)).astype(a.dtype)


def _joint(a: Array, b: Array) -> Any:
    return object if object in (a.dtype, b.dtype) else a.dtype


@folds("Cast")
def _cast(node: Node, a: Array) -> Array | None:
    element = node.element_type(node.attribute("to"))
    to = numpy_dtype(element)
    if a.dtype != object:
        return converted_array(node, a, element)
    if to.kind == "b":
        return np.asarray(np.frompyfunc(as_truth, 1, 1)(a), object)
    if to in LARGEST_DIVIDENDS:
        return np.asarray(np.frompyfunc(as_fraction, 1, 1)(as_numbers(a)), object)
    return as_numbers(a) if to.kind == "i" else None


def _of_fractions(node: Node, *arrays: Array) -> Array | None:
    """Compute with sizes as floating-point numbers: arithmetic that rounds nothing, and casts to whole numbers."""
    if node.op_type == "Cast":
        to = numpy_dtype(node.element_type(node.attribute("to")))
        result = arrays[0] if to in LARGEST_DIVIDENDS else _each(_truncated, *arrays) if to.kind == "i" else None
    else:
        result = _each(partial(computed, node.op_type), *arrays) if node.op_type in FRACTIONAL else None
    if result is None or None in result.flat:
        return None
    for fraction in (e for array in (*arrays, result) for e in array.flat if isinstance(e, SizeFraction)):
        largest = LARGEST_DIVIDENDS[_element_of(node)]
        text = f"{fraction.dividend} is more than {largest}, up to which floating-point numbers are exact"
        node.require(text, at_least(largest, fraction.dividend))
    return result


def _each(function: Callable[..., Any], *arrays: Array) -> Array:
    return np.asarray(np.frompyfunc(function, len(arrays), 1)(*(a.astype(object) for a in arrays)), object)


def _truncated(number: SizeFraction | float) -> Expr | int | None:
    return number.truncated() if isinstance(number, SizeFraction) else int(number)


def _element_of(node: Node) -> np.dtype[Any]:
    return next(v.element for v in node.inputs if isinstance(v, Known) and v.is_symbolic)


@folds("ReduceProd")
def _reduce_prod(node: Node, a: Array, _: Array | None = None) -> Any:
    keep = bool(node.attribute("keepdims", 1))
    return np.asarray(widened_array(a).prod(axis=tuple(reduced_axes(node, a.ndim)), keepdims=keep), a.dtype)


# ---- Movement --------------------------------------------------------------------------------------------------------


@folds("Gather")
def _gather(node: Node, a: Array, indices: Array) -> Array | None:
    if indices.dtype == object:
        return None
    return np.asarray(np.take(a, indices.astype(np.int64), axis=node.attribute("axis", 0)), a.dtype)


@folds("GatherElements")
def _gather_elements(node: Node, a: Array, indices: Array) -> Array | None:
    if indices.dtype == object:
        return None
    axis = node.attribute("axis", 0) % a.ndim
    if any(size > a.shape[d] for d, size in enumerate(indices.shape) if d != axis):
        raise ValueError("there are more indices than elements beside each other")
    beside = tuple(slice(None if d == axis else size) for d, size in enumerate(indices.shape))
    return np.take_along_axis(a[beside], indices.astype(np.int64), axis)


@folds("Concat")
def _concat(node: Node, *arrays: Array) -> Array:
    dtype: Any = object if any(a.dtype == object for a in arrays) else arrays[0].dtype
    return np.concatenate([a.astype(dtype) for a in arrays], axis=node.attribute("axis", 1))


@folds("Slice")
def _slice(node: Node, a: Array, *bounds: Array | None) -> Array | None:
    if any(b is not None and b.dtype == object for b in bounds):
        return None
    for axis, start, end, step in slice_bounds(node):
        assert isinstance(start, int) and isinstance(end, int)
        a = a.take(slice_range(start, end, step, a.shape[axis]), axis=axis)
    return a


@folds("Transpose")
def _transpose(node: Node, a: Array) -> Array:
    return a.transpose(node.attribute("perm"))


@folds("Tile")
def _tile(node: Node, a: Array, repeats: Array) -> Array | None:
    if repeats.dtype == object or repeats.shape != (a.ndim,):
        return None
    _require_small(node, a.size * prod(int(n) for n in repeats), a)
    return np.tile(a, repeats)


@folds("Where")
def _where(node: Node, condition: Array, a: Array, b: Array) -> Array | None:
    """Where sizes decide, c * a + (1 - c) * b for a c that is 0 or 1."""
    if condition.dtype != object:
        return np.where(condition, a, b).astype(_joint(a, b))
    if any(array.dtype.kind not in "iuO" or _has_truths(array) for array in (a, b)):
        return None
    c, a, b = (as_numbers(array) for array in (condition, a, b))
    return np.asarray(b + c * (a - b), object)


def _has_truths(array: Array) -> bool:
    return any(isinstance(e, Truth) for e in array.flat)


@folds("Expand")
def _expand(node: Node, a: Array, shape: Array) -> Array | None:
    if shape.dtype == object:
        return None
    extents = np.broadcast_shapes(a.shape, tuple(int(n) for n in shape))
    _require_small(node, prod(extents), a)
    return np.broadcast_to(a, extents)


# ---- Comparisons -----------------------------------------------------------------------------------------------------


def _compare(node: Node, *arrays: Array) -> Array | None:
    """Compare sizes, or join what comparisons of sizes say."""
    if all(a.dtype != object for a in arrays):
        return np.equal(*arrays) if node.op_type == "Equal" else _evaluate(node, *arrays)
    if any(a.dtype.kind not in "iubO" for a in arrays):
        return None
    compare = np.frompyfunc(partial(compared, node.op_type), len(arrays), 1)
    return np.asarray(compare(*(a.astype(object) for a in arrays)), object)


for _name in COMPARISONS:
    folds(_name)(_compare)
