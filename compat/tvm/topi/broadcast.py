"""Operators of two tensors, or of a tensor and a number, as numpy broadcasts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilework import te
from tilework.algebra.errors import UsageError
from tilework.compat.tvm.topi import tag


def _operator(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(lhs: Any, rhs: Any) -> Any:
        if not isinstance(lhs, te.Tensor) and not isinstance(rhs, te.Tensor):
            return function(lhs, rhs)
        return te.broadcast(function, lhs, rhs, f"T_{name}")

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = f"{name} of two tensors, of a tensor and a value, or of two values."
    return operator


add = _operator("add", lambda a, b: a + b)
subtract = _operator("subtract", lambda a, b: a - b)
multiply = _operator("multiply", lambda a, b: a * b)
divide = _operator("divide", te.div)
floor_divide = _operator("floor_divide", te.floordiv)
mod = _operator("mod", te.truncmod)
floor_mod = _operator("floor_mod", te.floormod)
maximum = _operator("maximum", te.max)
minimum = _operator("minimum", te.min)
power = _operator("power", te.power)
left_shift = _operator("left_shift", lambda a, b: a << b)
right_shift = _operator("right_shift", lambda a, b: a >> b)
greater = _operator("greater", lambda a, b: a > b)
less = _operator("less", lambda a, b: a < b)
greater_equal = _operator("greater_equal", lambda a, b: a >= b)
less_equal = _operator("less_equal", lambda a, b: a <= b)
equal = _operator("equal", lambda a, b: a == b)
not_equal = _operator("not_equal", lambda a, b: a != b)
logical_and = _operator("logical_and", lambda a, b: te.all(a, b))
logical_or = _operator("logical_or", lambda a, b: te.any(a, b))
logical_xor = _operator("logical_xor", lambda a, b: a ^ b)
bitwise_and = _operator("bitwise_and", lambda a, b: a & b)
bitwise_or = _operator("bitwise_or", lambda a, b: a | b)
bitwise_xor = _operator("bitwise_xor", lambda a, b: a ^ b)


def broadcast_to(data: te.Tensor, shape: Any) -> te.Tensor:
    """The tensor in a shape, behind which its own is broadcast as in numpy."""
    sizes = tuple(shape)
    lead = len(sizes) - data.ndim
    if lead < 0:
        raise UsageError(f"broadcast_to: {data.ndim} dimensions do not broadcast to {len(sizes)}")

    def element(*at: Any) -> Any:
        own = zip(at[lead:], data.shape, sizes[lead:], strict=True)
        return data(*(0 if te.is_one(size) and not te.is_one(wanted) else index for index, size, wanted in own))

    return te.compute(sizes, element, "T_broadcast_to", tag.BROADCAST)


__all__ = [
    "add",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "broadcast_to",
    "divide",
    "equal",
    "floor_divide",
    "floor_mod",
    "greater",
    "greater_equal",
    "left_shift",
    "less",
    "less_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "not_equal",
    "power",
    "right_shift",
    "subtract",
]
