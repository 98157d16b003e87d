"""Operators of the elements of one tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tilework import te
from tilework.compat.tvm.topi import tag

_OF_TE = (
    "acos acosh asin asinh atan atanh ceil cos cosh erf exp floor isfinite isinf isnan log log10 log2 round rsqrt "
    "sigmoid sin sinh sqrt tan tanh trunc abs"
).split()


def _operator(name: str, function: Callable[[Any], Any]) -> Callable[[te.Tensor], te.Tensor]:
    def operator(x: te.Tensor) -> te.Tensor:
        return te.compute(x.shape, lambda *i: function(x(*i)), f"T_{name}", tag.ELEMWISE)

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = f"{name} of each element."
    return operator


def _sign(x: Any) -> Any:
    zero, one = te.const(0, x.dtype), te.const(1, x.dtype)
    return te.Select(x < zero, zero - one, te.Select(x > zero, one, zero))


acos, acosh, asin, asinh, atan, atanh, ceil, cos, cosh, erf, exp, floor, isfinite, isinf, isnan, log, log10, log2 = (
    _operator(name, getattr(te, name)) for name in _OF_TE[:18]
)
round, rsqrt, sigmoid, sin, sinh, sqrt, tan, tanh, trunc, abs = (  # noqa: A001  TVM's names
    _operator(name, getattr(te, name)) for name in _OF_TE[18:]
)
identity = _operator("identity", lambda x: x)
negative = _operator("negative", lambda x: -x)
sign = _operator("sign", _sign)
logical_not = _operator("logical_not", lambda x: ~x)
bitwise_not = _operator("bitwise_not", lambda x: ~x)
fast_exp, fast_tanh, fast_erf = exp, tanh, erf
"""TVM's names of approximations: Tilework's functions are as fast, and exact."""


def clip(x: te.Tensor, a_min: float, a_max: float) -> te.Tensor:
    """Each element, at least a_min and at most a_max."""
    low, high = te.const(a_min, x.dtype), te.const(a_max, x.dtype)
    return te.compute(x.shape, lambda *i: te.max(te.min(x(*i), high), low), "T_clip", tag.ELEMWISE)


def cast(x: te.Tensor, dtype: str) -> te.Tensor:
    """Each element as a number of another type."""
    return te.compute(x.shape, lambda *i: x(*i).astype(dtype), "T_cast", tag.ELEMWISE)


def full(shape: Any, dtype: str, fill_value: float) -> te.Tensor:
    """A tensor of one number."""
    return te.compute(shape, lambda *i: te.const(fill_value, dtype), "T_full", tag.ELEMWISE)


def full_like(x: te.Tensor, fill_value: float) -> te.Tensor:
    """A tensor of one number, of the shape and type of another one."""
    return full(x.shape, x.dtype, fill_value)


def elemwise_sum(xs: Sequence[te.Tensor]) -> te.Tensor:
    """The sum of tensors of one shape."""
    first, *others = xs

    def element(*i: Any) -> Any:
        total = first(*i)
        for other in others:
            total = total + other(*i)
        return total

    return te.compute(first.shape, element, "T_elemwise_sum", tag.ELEMWISE)


__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log2",
    "round",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "bitwise_not",
    "cast",
    "clip",
    "elemwise_sum",
    "fast_erf",
    "fast_exp",
    "fast_tanh",
    "full",
    "full_like",
    "identity",
    "logical_not",
    "negative",
    "sign",
]
