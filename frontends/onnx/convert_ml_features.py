"""Converters: what ai.onnx.ml makes of columns of numbers, each row by itself. Texts are refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import AnyFloat, BoolAttr, f32
from xdsl.ir import Attribute

from tilework.algebra.index_expr import const, product
from tilework.dialects.graph import (
    AbsOp,
    AndOp,
    ArgMaxOp,
    ConcatOp,
    DivOp,
    EqualOp,
    GatherOp,
    LessOp,
    MulOp,
    NotOp,
    OrOp,
    ReduceMaxOp,
    ReduceMinOp,
    ReduceSumOp,
    SliceOp,
    SqrtOp,
    SubOp,
    WhereOp,
)
from tilework.dialects.graph.base import ints, numpy_dtype
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.values import Array, Known, Value

ML = "ai.onnx.ml"


def refuse_texts(node: Node, *attributes: str) -> None:
    """Refuse a node that maps from or to texts, by the attributes that hold them."""
    if found := [name for name in attributes if node.attribute(name)]:
        raise node.error(f"its {found[0]} are texts, which Tilework does not compute with")


def numbers(node: Node, name: str, default: Sequence[float] = (), dtype: type[np.generic] = np.float32) -> Array:
    """An attribute as a vector of numbers."""
    return np.array([*node.attribute(name, default)], dtype)


def by_column(node: Node, name: str, value: Value, default: Sequence[float]) -> Known:
    """An attribute that is one number, or one for each column of a value."""
    vector, columns = numbers(node, name, default), value_dims(value)[-1]
    if len(vector) != 1:
        node.require_equal(
            columns, const(len(vector)), f"its {name} is one number, or one for each of {columns} columns"
        )
    return Known(vector if len(vector) != 1 else vector.reshape(()), node.title)


@converter("Scaler", domain=ML)
def scaler(node: Node) -> Value:
    """Subtract an offset from each column and multiply it by a scale."""
    x = node.cast(node.value(0), f32)
    distance = node.emit(SubOp, x, by_column(node, "offset", x, [0.0]))
    return node.emit(MulOp, distance, by_column(node, "scale", x, [1.0]))


@converter("Normalizer", domain=ML)
def normalizer(node: Node) -> Value:
    """Divide each row by its largest number, the sum of its magnitudes or its length, unless that is 0."""
    x, norm = node.cast(node.value(0), f32), node.attribute("norm", "MAX")
    along = {"axes": ints([len(value_dims(x)) - 1]), "keep_dims": BoolAttr.from_bool(True)}
    match norm:
        case "MAX":
            size = node.emit(ReduceMaxOp, x, **along)
        case "L1":
            size = node.emit(ReduceSumOp, node.emit(AbsOp, x), **along)
        case "L2":
            size = node.emit(SqrtOp, node.emit(ReduceSumOp, node.emit(MulOp, x, x), **along))
        case _:
            raise node.error(f"its norm is MAX, L1 or L2, not {norm}")
    is_zero = node.emit(EqualOp, size, node.scalar(0.0, x))
    return node.emit(DivOp, x, node.emit(WhereOp, is_zero, node.scalar(1.0, x), size))


@converter("Binarizer", domain=ML)
def binarizer(node: Node) -> Value:
    """Make 1 of what is above a threshold, 0 of the rest."""
    x = node.value(0)
    return node.cast(node.emit(LessOp, node.scalar(node.attribute("threshold", 0.0), x), x), node.dtype(0))


@converter("Imputer", domain=ML)
def imputer(node: Node) -> Value:
    """Put a number for each column in the place of another one, or of NaN."""
    x, is_float = node.value(0), isinstance(node.dtype(0), AnyFloat)
    kind = "floats" if is_float else "int64s"
    replaced = node.attribute("replaced_value_float" if is_float else "replaced_value_int64", 0)
    dtype = numpy_dtype(node.dtype(0))
    if not node.attribute(f"imputed_value_{kind}"):
        raise node.error(f"it has no imputed_value_{kind} for elements of type {node.dtype(0)}")
    imputed = by_column(node, f"imputed_value_{kind}", x, [])
    imputed = Known(numbers(node, f"imputed_value_{kind}", (), dtype.type).reshape(imputed.array.shape), node.title)
    is_missing = node.emit(NotOp, node.emit(EqualOp, x, x))
    if replaced == replaced:
        is_missing = node.emit(EqualOp, x, node.scalar(replaced, x))
    return node.emit(WhereOp, is_missing, imputed, x)


@converter("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(node: Node) -> Value:
    """Take columns, by number."""
    x, columns = node.value(0), node.value(1)
    if len(node.dims(0)) == 1:
        x = node.reshape(x, [const(1), *node.dims(0)])
    chosen = node.reshape(columns, [product(value_dims(columns))])
    return node.emit(GatherOp, x, chosen, axis=int_attr(len(value_dims(x)) - 1))


@converter("FeatureVectorizer", domain=ML)
def feature_vectorizer(node: Node) -> Value:
    """Put the columns of all inputs beside each other; of each as many as are said."""
    widths = node.attribute("inputdimensions") or [None] * len(node.inputs)
    parts: list[Value] = []
    for i, width in zip(range(len(node.inputs)), widths, strict=True):
        part = node.cast(node.value(i), f32)
        dims = value_dims(part)
        if len(dims) == 1:
            part = node.reshape(part, [const(1), *dims])
        if width is not None and value_dims(part)[1] != width:
            what = f"it takes {width} columns of input {i}, which has {value_dims(part)[1]}"
            if (value_dims(part)[1].constant or 0) < width:
                raise node.error(what)
            bounds = {"axes": ints([1]), "starts": ints([0]), "stops": ints([width]), "steps": ints([1])}
            part = node.emit(SliceOp, part, **bounds)
        parts.append(part)
    return parts[0] if len(parts) == 1 else node.emit(ConcatOp, *parts, axis=int_attr(1))


@converter("OneHotEncoder", domain=ML)
def one_hot_encoder(node: Node) -> Value:
    """Mark along a new last axis which category a number is, as f32; with zeros = 0 it has to be one."""
    refuse_texts(node, "cats_strings")
    x = node.value(0)
    dtype = numpy_dtype(node.dtype(0))
    categories = Known(numbers(node, "cats_int64s", (), dtype.type), node.title)
    marks = node.emit(EqualOp, node.reshape(x, [*node.dims(0), const(1)]), categories)
    if not node.attribute("zeros", 1):
        _ask_for_all(node, _any(node, marks), "a number is none of its categories")
    return node.cast(marks, f32)


@converter("LabelEncoder", domain=ML)
def label_encoder(node: Node) -> Value:
    """Put for each number the value that stands beside it as a key, or a default; NaN is a key as others are."""
    refuse_texts(node, "keys_strings", "values_strings", "classes_strings")
    keys, values = _table(node, "keys", node.dtype(0)), _table(node, "values", None)
    if keys.shape != values.shape or keys.ndim != 1:
        raise node.error(f"it has {keys.size} keys and {values.size} values")
    if keys.size == 0:
        raise node.error("it has no keys")
    x = node.reshape(node.value(0), [*node.dims(0), const(1)])
    marks = node.emit(EqualOp, x, Known(keys, node.title))
    if keys.dtype.kind == "f" and np.isnan(keys).any():
        is_nan = node.emit(NotOp, node.emit(EqualOp, x, x))
        marks = node.emit(OrOp, marks, node.emit(AndOp, is_nan, Known(np.isnan(keys), node.title)))
    no = BoolAttr.from_bool(False)
    along = {"axis": int_attr(len(node.dims(0))), "keep_dims": no, "last": no}
    place = node.emit(ArgMaxOp, node.cast(marks, f32), **along)
    found = node.emit(GatherOp, Known(values, node.title), place, axis=int_attr(0))
    return node.emit(WhereOp, _any(node, marks), found, Known(_default(node, values), node.title))


@converter("ZipMap", domain=ML)
def zip_map(node: Node) -> Value:
    """Return the numbers themselves, a column for each class, in the place of maps from classes to them."""
    return node.value(0)


def _table(node: Node, kind: str, element: Attribute | None) -> Array:
    """The keys or the values of a map, of the type of the input where it is told."""
    tensor = node.attribute(f"{kind}_tensor")
    if tensor is not None and tensor.dtype.kind in "OSU":
        raise node.error(f"its {kind}_tensor is of texts, which Tilework does not compute with")
    table = tensor
    if table is None:
        floats, integers = node.attribute(f"{kind}_floats"), node.attribute(f"{kind}_int64s")
        if not floats and not integers:
            raise node.error(f"it has no {kind}")
        table = np.array(floats, np.float32) if floats else np.array(integers, np.int64)
    if element is not None and numpy_dtype(element) != table.dtype:
        raise node.error(f"its {kind} are of type {table.dtype}, its input is of {element}")
    return table


def _default(node: Node, values: Array) -> Array:
    tensor = node.attribute("default_tensor")
    if tensor is not None:
        return tensor.reshape(()).astype(values.dtype)
    default = node.attribute("default_float", -0.0) if values.dtype.kind == "f" else node.attribute("default_int64", -1)
    return np.array(default, values.dtype)


def _any(node: Node, marks: Value) -> Value:
    """Whether one of the last axis holds."""
    last = {"axes": ints([len(value_dims(marks)) - 1]), "keep_dims": BoolAttr.from_bool(False)}
    return node.emit(
        LessOp, node.scalar(0.0, node.cast(marks, f32)), node.emit(ReduceMaxOp, node.cast(marks, f32), **last)
    )


def _ask_for_all(node: Node, holds: Value, text: str) -> None:
    """Let a call fail where one of these truths does not hold."""
    axes = ints(range(len(value_dims(holds))))
    least = node.emit(ReduceMinOp, node.cast(holds, f32), axes=axes, keep_dims=BoolAttr.from_bool(False))
    holds = node.emit(LessOp, node.scalar(0.0, least), least)
    node.emitter.ask_of_data(holds, f"{node.op_type} '{node.title}': {text}")
