"""Expressions of graphs: variables, constants, calls of operators, functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from tilework.algebra.errors import UsageError
from tilework.compat.tvm.runtime.ndarray import NDArray

Maker = Callable[..., SSAValue]
"""Appends an operator on values to a graph, and returns its result."""


class Expr:
    """A tensor, or several, that a graph computes; `+ - * /` are operators."""

    def _with(self, name: str, other: Any, swapped: bool = False) -> Expr:
        from tilework.compat.tvm.relay import op  # which makes expressions

        sides = (wrapped(other), self) if swapped else (self, wrapped(other))
        return getattr(op, name)(*sides)

    def __add__(self, other: Any) -> Expr:
        return self._with("add", other)

    def __radd__(self, other: Any) -> Expr:
        return self._with("add", other, swapped=True)

    def __sub__(self, other: Any) -> Expr:
        return self._with("subtract", other)

    def __rsub__(self, other: Any) -> Expr:
        return self._with("subtract", other, swapped=True)

    def __mul__(self, other: Any) -> Expr:
        return self._with("multiply", other)

    def __rmul__(self, other: Any) -> Expr:
        return self._with("multiply", other, swapped=True)

    def __truediv__(self, other: Any) -> Expr:
        return self._with("divide", other)

    def __neg__(self) -> Expr:
        return self._with("multiply", -1.0)


@dataclass(frozen=True)
class TensorType:
    """The shape and the element type of a tensor."""

    shape: tuple[int, ...]
    dtype: str = "float32"


@dataclass(frozen=True, eq=False)
class Var(Expr):
    """An input, or a parameter where `build` is given its array."""

    name_hint: str
    type_annotation: TensorType


@dataclass(frozen=True, eq=False)
class Constant(Expr):
    """An array that is known."""

    array: Any

    @property
    def data(self) -> NDArray:
        """The array as TVM's."""
        return NDArray(self.array)


@dataclass(frozen=True, eq=False)
class Call(Expr):
    """An operator on expressions. make: what appends it to a graph."""

    op: str
    args: tuple[Expr, ...]
    make: Maker


@dataclass(frozen=True, eq=False)
class Tuple(Expr):
    """Several expressions."""

    fields: tuple[Expr, ...]

    def __getitem__(self, index: int) -> Expr:
        return self.fields[index]

    def __len__(self) -> int:
        return len(self.fields)


TupleWrapper = Tuple


def TupleGetItem(tuple_value: Tuple, index: int) -> Expr:  # noqa: N802  TVM's name
    """One of several expressions."""
    return tuple_value[index]


class Function:
    """A graph: what it computes of its parameters; by default these are all variables in it."""

    def __init__(self, params: Sequence[Var], body: Any, ret_type: Any = None):
        self.params = list(params)
        several = isinstance(body, list | tuple)
        self.body: Expr = Tuple(tuple(cast("Sequence[Expr]", body))) if several else body


def var(
    name_hint: str,
    type_annotation: TensorType | None = None,
    shape: Sequence[int] | None = None,
    dtype: str = "float32",
) -> Var:
    """An input of a graph, by a type or by shape and element type."""
    if type_annotation is not None:
        return Var(name_hint, type_annotation)
    if shape is None:
        raise UsageError(f"relay.var '{name_hint}' needs a shape, as in relay.var('x', shape=(1, 64))")
    return Var(name_hint, TensorType(tuple(int(size) for size in shape), dtype))


def const(value: Any, dtype: str | None = None) -> Constant:
    """An array, or a number of float32 or int32, as a tensor that is known."""
    array = value.memory if isinstance(value, NDArray) else np.asarray(value)
    if dtype is None and not hasattr(value, "dtype"):
        dtype = {"f": "float32", "i": "int32", "b": "bool"}.get(array.dtype.kind)
    return Constant(array if dtype is None else array.astype(dtype))


def wrapped(value: Any) -> Expr:
    """An expression as it is; anything else as a constant."""
    return value if isinstance(value, Expr) else const(value)
