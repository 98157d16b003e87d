"""Dimensions of tensor types, static or over named symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, MemRefType, NoneAttr, TensorType, VectorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, const, to_expr
from tilework.dialects.support.index_attr import DimsAttr


def dims_of(type_: Attribute) -> tuple[Expr, ...]:
    """The dimensions of a tensor; raises VerifyException where a dynamic one has no expression."""
    if not isinstance(type_, TensorType):
        raise VerifyException(f"expected a tensor, got {type_}")
    shape = type_.get_shape()
    if isinstance(type_.encoding, NoneAttr):
        if DYNAMIC_INDEX in shape:
            raise VerifyException(f"{type_} has a dynamic dimension without a #graph.dims encoding")
        return tuple(map(const, shape))
    if not isinstance(type_.encoding, DimsAttr):
        raise VerifyException(f"the encoding of {type_} is not #graph.dims")
    dims = type_.encoding.data
    if len(dims) != len(shape) or any(s != DYNAMIC_INDEX and d != s for d, s in zip(dims, shape, strict=True)):
        raise VerifyException(f"{type_}: the encoding disagrees with the shape")
    return dims


def tensor_type(dims: Sequence[ExprLike], element_type: Attribute) -> TensorType[Attribute]:
    """The tensor type with these dimensions; an encoding is present only where a dimension is symbolic."""
    exprs = tuple(map(to_expr, dims))
    shape = [DYNAMIC_INDEX if e.constant is None else e.constant for e in exprs]
    if DYNAMIC_INDEX not in shape:
        return TensorType(element_type, shape)
    return TensorType(element_type, shape, DimsAttr(exprs))


def element_type(type_: Attribute) -> Attribute:
    """The element type of a tensor, memref or vector; a scalar type as it is."""
    if isinstance(type_, TensorType | MemRefType | VectorType):
        return cast("TensorType[Attribute]", type_).element_type
    return type_


def is_narrow(type_: Attribute) -> bool:
    """Whether the elements are integers of four bits, of which a byte holds two."""
    element = element_type(type_)
    return isinstance(element, IntegerType) and cast("IntegerType", element).width.data == 4


def scalar_type(type_: Attribute) -> Attribute:
    """The type that an element has as a value: as `arith` wants it, an unsigned integer is one without a sign."""
    element = element_type(type_)
    if isinstance(element, IntegerType):
        return IntegerType(cast("IntegerType", element).width.data)
    return element
