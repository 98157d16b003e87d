"""Sums and products of half-precision numbers: taken in f32, and rounded once, at the end.

A sum of f16 in f16 stops growing at 2048 ones: the next one is less than half of the last digit.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import AnyFloat, f32
from xdsl.ir import Attribute

from tilework.dialects.graph.base import Array
from tilework.dialects.te_builder import KernelBuilder, Scalar, Tensor


def accumulator(dtype: Attribute) -> Attribute:
    """The element type in which numbers of type `dtype` are summed."""
    return f32 if isinstance(dtype, AnyFloat) and dtype.bitwidth < f32.bitwidth else dtype


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
    return x.astype(np.float32) if x.dtype == np.float16 else x
