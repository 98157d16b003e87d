"""What every matrix operator is: operands, a rule for its result's type, a meaning in numpy.

Operands are matrices of rows, or tensors that are the same for all rows: fitted numbers, statistics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.matrix.types import MatrixType
from tilework.dialects.support.inferred_op import InferredOp
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type

Array: TypeAlias = NDArray[Any]

Value: TypeAlias = Any
"""What an operand is while a program is interpreted: an array, or for a bag its columns by name."""


class MatrixOp(InferredOp, ABC):
    """Base of the operators on rows and on what is known of them. A subclass declares operands and properties."""

    @abstractmethod
    def evaluate(self, *inputs: Value) -> Value | Sequence[Value]:
        """The result(s) in numpy."""


def matrix_of(value: SSAValue) -> MatrixType:
    """The type of a matrix. Raises VerifyException for another value."""
    if not isinstance(value.type, MatrixType):
        raise VerifyException(f"expected a matrix, got {value.type}")
    return value.type


def require_shape(value: SSAValue, shape: Sequence[int], element: Attribute, what: str) -> None:
    """Refuse a tensor of another shape or element type; `what` it is stands in the message."""
    expected = tensor_type(shape, element)
    if value.type != expected:
        raise VerifyException(f"{what} is {value.type}, where {expected} is needed")


def vector_length(value: SSAValue) -> int:
    """How many elements a vector has, a known number. Raises VerifyException for another value."""
    dims = dims_of(value.type)
    if len(dims) != 1 or dims[0].constant is None:
        raise VerifyException(f"expected a vector of known length, got {value.type}")
    return dims[0].constant


def float_of(value: SSAValue) -> Attribute:
    """The element type of a matrix or tensor."""
    if isinstance(value.type, MatrixType):
        return value.type.element_type
    return element_type(value.type)


def regression_columns(mean: SSAValue, scatter: SSAValue, count: SSAValue) -> tuple[int, Attribute]:
    """How many columns a regression on these statistics has, the one to predict last, and of which element type.

    Raises VerifyException for statistics that do not fit each other.
    """
    columns, element = vector_length(mean), float_of(mean)
    if columns < 2:
        raise VerifyException("a regression needs a column to predict from and one to predict")
    require_shape(scatter, (columns, columns), element, "the scatter")
    require_shape(count, (), element, "the number of rows")
    return columns, element


def known(array: Array) -> Array:
    """Which elements of a matrix are not missing."""
    return ~np.isnan(array)
