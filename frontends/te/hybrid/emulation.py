"""Hybrid scripts in numpy: the function itself, with numpy's meaning of the words that it uses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, cast

import numpy as np

from tilework.runtime.arrays import dtype_named


def _zeros(shape: Sequence[int], dtype: str = "float32", scope: str = "global") -> Any:
    return np.zeros(tuple(shape), dtype_named(dtype))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _popcount(x: Any) -> int:
    return (int(x) % (1 << 8 * np.asarray(x).nbytes)).bit_count()


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


def _likely(condition: Any) -> Any:
    return condition


def _ceil_div(a: Any, b: Any) -> Any:
    return -(-a // b)


_OF_NUMPY = (
    "exp exp2 log log2 log10 log1p sqrt tanh sin cos tan sinh cosh floor ceil trunc power fmod hypot round int8 int16 "
    "int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
).split()

WORDS: dict[str, Any] = {
    "output_tensor": _zeros,
    "allocate": _zeros,
    **dict.fromkeys(("serial", "parallel", "vectorize", "unroll", "const_range"), range),
    **{name: getattr(np, name) for name in _OF_NUMPY},
    "rsqrt": _rsqrt,
    "erf": math.erf,
    "sigmoid": _sigmoid,
    "popcount": _popcount,
    "likely": _likely,
    "ceil_div": _ceil_div,
}
"""What the words of hybrid scripts mean in numpy."""


def run_in_numpy(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """What the function returns for arrays and numbers."""
    given = cast(FunctionType, function)
    own = {name: value for name, value in WORDS.items() if name not in given.__globals__}
    words = {**given.__globals__, **own}
    return FunctionType(given.__code__, words, given.__name__, given.__defaults__, given.__closure__)(*args)
