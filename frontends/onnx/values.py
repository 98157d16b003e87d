"""What a name in an ONNX graph stands for while it is imported: an SSA value, or an array that is known already.

Sequences and optionals are there while importing only: how many elements they have is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const, to_expr
from tilework.frontends.onnx.fractions import SizeFraction
from tilework.frontends.onnx.truths import Truth

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Known:
    """An array known while importing: an initializer, or what is computed from shapes alone.

    Elements that depend on symbolic dimensions make it an array of objects, each a number, an `Expr`, a `Truth` or a
    `SizeFraction`; `element` is their type then. `name` is the ONNX name it had first.
    """

    array: Array
    name: str
    element: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.int64))

    @property
    def is_symbolic(self) -> bool:
        return self.array.dtype == object

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self.element if self.is_symbolic else self.array.dtype


Value: TypeAlias = "SSAValue | Known"


@dataclass(frozen=True, eq=False)
class ValueSequence:
    """A sequence of ONNX; `element` is ONNX's number of the type of its tensors' elements."""

    values: tuple[Value, ...]
    element: int


@dataclass(frozen=True, eq=False)
class OptionalValue:
    """An optional of ONNX, None where it has no element; `holds` is what ONNX calls the type of one."""

    value: Value | ValueSequence | None
    holds: str


AnyValue: TypeAlias = "Value | ValueSequence | OptionalValue"
"""Only tensors of these are inputs of operators; sequences and optionals are taken apart before."""


def known(array: Any, name: str, element: np.dtype[Any] | None = None) -> Known:
    """A known array; one of objects, of this type or int64, that are all constant becomes one of numbers."""
    array, element = np.asarray(array), element or np.dtype(np.int64)
    if array.dtype == object:
        constants = [_constant(e) for e in array.flat]
        if None not in constants:
            exact = element if element.kind == "f" else np.dtype(np.int64)
            array = np.array(constants, exact).astype(element).reshape(array.shape)
    return Known(array, name, element)


def _constant(element: Any) -> float | int | bool | None:
    """The number that an element is, where no symbol decides about it."""
    if isinstance(element, Truth | SizeFraction):
        return element.constant
    return element if isinstance(element, float) else to_expr(element).constant


def as_numbers(array: Array) -> Array:
    """Elements that depend on symbolic dimensions, with numbers in place of truths."""
    result = np.empty(array.shape, object)
    for index, element in np.ndenumerate(array.astype(object)):
        result[index] = element.number if isinstance(element, Truth) else element
    return result


def dims_array(dims: tuple[Expr, ...]) -> Array:
    """Dimensions as a vector, of int64 where all are constant."""
    result = np.empty(len(dims), object)
    result[:] = dims
    return result


def as_dims(array: Array) -> list[Expr]:
    """The elements of a vector of dimensions."""
    return [element if isinstance(element, Expr) else const(int(element)) for element in array.flat]
