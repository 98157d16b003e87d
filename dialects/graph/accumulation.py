"""In which type products are summed: of half-precision numbers in f32, and rounded once, at the end; of bytes in i32.

A sum of f16 in f16 stops growing at 2048 ones, one of bf16 at 256: the next is no more than half of the last digit.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, bf16, f16, f32, i8
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.graph.base import BFLOAT16, Array, GraphOp
from tilework.dialects.support.words import DOT, WORD
from tilework.dialects.te import CallIntrinsicOp
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor

UNSIGNED_BYTE = IntegerType(8, Signedness.UNSIGNED)


def is_half(dtype: Attribute) -> bool:
    """Whether numbers of an element type are floats of 16 bits."""
    return dtype in (f16, bf16)


def accumulator(dtype: Attribute) -> Attribute:
    """The element type in which numbers of type `dtype` are summed."""
    return f32 if isinstance(dtype, AnyFloat) and dtype.bitwidth < f32.bitwidth else dtype


def product_type(op: GraphOp, words: bool = False) -> Attribute:
    """The element type of sums of products of an operator's two operands, of bytes in words or not.

    Raises VerifyException for operands that are not multiplied.
    """
    if words and (op.dtype(0), op.dtype(1)) != (WORD, WORD):
        raise VerifyException(f"words are {WORD}, not {op.dtype(0)} and {op.dtype(1)}")
    if op.dtype(0) in (UNSIGNED_BYTE, i8) and op.dtype(1) == i8:
        return WORD
    op.require_same_dtype()
    return op.dtype()


def matrix_product_type(op: GraphOp, words: bool = False) -> Attribute:
    """The type that `product_type` says, for operators that also multiply f32 by numbers of 16 bits, which are exact in
    f32."""
    return f32 if op.dtype(0) == f32 and is_half(op.dtype(1)) else product_type(op, words)


def multiplied(k: KernelBuilder, a: Scalar, b: Scalar, words: bool = False) -> Scalar:
    """The product of two numbers, or of the bytes in two words, in the type in which it is summed."""
    if words:
        return k.insert(CallIntrinsicOp(DOT, [a.value, b.value], WORD))
    a, b = widened(k, a), widened(k, b)
    if b.dtype == i8:
        return k.cast(a, WORD) * k.cast(b, WORD)
    return a * b


def widened(k: KernelBuilder, x: Scalar) -> Scalar:
    """A number as one of its accumulator's type."""
    return k.cast(x, accumulator(x.dtype))


def rounded(k: KernelBuilder, total: Tensor, dtype: Attribute) -> Tensor:
    """What was accumulated, as a tensor of type `dtype`; the tensor itself where it is one."""
    if total.dtype == dtype:
        return total
    return k.compute("round", total.dims, lambda *i: k.cast(total[i], dtype))


def widened_array(x: Array) -> Array:
    """An array in its accumulator's type."""
    return x.astype(np.float32) if x.dtype in (np.float16, BFLOAT16) else x


def factors(a: Array, b: Array, axis: int, words: bool = False) -> tuple[Array, Array]:
    """Two arrays in the type in which their products are summed; of words, the bytes along `axis` of both."""
    if words:
        a, b = bytes_along(a, axis, np.uint8), bytes_along(b, axis, np.int8)
    a, b = widened_array(a), widened_array(b)
    return (a.astype(np.int32), b.astype(np.int32)) if b.dtype == np.int8 else (a, b)


def bytes_along(x: Array, axis: int, dtype: type[np.uint8] | type[np.int8]) -> Array:
    """The bytes of words, those of each behind each other along an axis."""
    axis %= x.ndim
    taken = np.moveaxis(np.ascontiguousarray(x.astype("<i4"))[..., None].view(dtype), -1, axis + 1)
    return taken.reshape(*x.shape[:axis], -1, *x.shape[axis + 1 :])
