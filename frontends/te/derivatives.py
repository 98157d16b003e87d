"""How a value changes with one of the elements that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, pi, sqrt

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr, var
from tilework.algebra.predicate import Predicate
from tilework.frontends.te import functions as te
from tilework.frontends.te.dtypes import is_float
from tilework.frontends.te.index import Name
from tilework.frontends.te.scalar import (
    Apply,
    Cast,
    Choice,
    Constant,
    IndexData,
    Scalar,
    Test,
    cast_to,
    comparison,
    operands_of,
    walk,
)
from tilework.frontends.te.tensor import Element, Tensor

Read = tuple[Tensor, tuple[Expr, ...]]
"""A tensor, and the indices of an element of it."""

_OF_ONE: Mapping[str, Callable[[Scalar], Scalar]] = {
    "exp": lambda x: te.exp(x),
    "exp2": lambda x: te.exp2(x) * log(2),
    "log": lambda x: 1 / x,
    "log2": lambda x: 1 / (x * log(2)),
    "log10": lambda x: 1 / (x * log(10)),
    "log1p": lambda x: 1 / (x + 1),
    "sqrt": lambda x: 0.5 / te.sqrt(x),
    "rsqrt": lambda x: -0.5 * te.rsqrt(x) / x,
    "tanh": lambda x: 1 - te.tanh(x) * te.tanh(x),
    "erf": lambda x: te.exp(-(x * x)) * (2 / sqrt(pi)),
    "sin": lambda x: te.cos(x),
    "cos": lambda x: -te.sin(x),
    "tan": lambda x: 1 + te.tan(x) * te.tan(x),
    "sinh": lambda x: te.cosh(x),
    "cosh": lambda x: te.sinh(x),
    "asin": lambda x: te.rsqrt(1 - x * x),
    "acos": lambda x: -te.rsqrt(1 - x * x),
    "atan": lambda x: 1 / (1 + x * x),
    "asinh": lambda x: te.rsqrt(x * x + 1),
    "acosh": lambda x: te.rsqrt(x * x - 1),
    "atanh": lambda x: 1 / (1 - x * x),
    "neg": lambda x: Constant(x.dtype, -1),
    "abs": lambda x: te.Select(comparison("ge", x, 0), Constant(x.dtype, 1), Constant(x.dtype, -1)),
}
_STEPS = frozenset(
    {"floor", "ceil", "trunc", "round", "nearbyint", "not", "and", "or", "xor", "shl", "shr", "popcount"}
)
_STEPS_OF_TWO = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "floordiv", "truncdiv", "floormod", "truncmod", "clz"})
_OF_TWO: Mapping[str, Callable[[Scalar, Scalar], tuple[Scalar, Scalar]]] = {
    "add": lambda a, b: (Constant(a.dtype, 1), Constant(a.dtype, 1)),
    "sub": lambda a, b: (Constant(a.dtype, 1), Constant(a.dtype, -1)),
    "mul": lambda a, b: (b, a),
    "div": lambda a, b: (1 / b, -a / (b * b)),
    "power": lambda a, b: (b * te.power(a, b - 1), te.power(a, b) * te.log(a)),
    "max": lambda a, b: _chosen(comparison("ge", a, b), a.dtype),
    "min": lambda a, b: _chosen(comparison("le", a, b), a.dtype),
}


def _chosen(condition: Scalar, dtype: str) -> tuple[Scalar, Scalar]:
    one, zero = Constant(dtype, 1), Constant(dtype, 0)
    return te.Select(condition, one, zero), te.Select(condition, zero, one)


def derivative(value: Scalar, read: Read) -> Scalar | None:
    """The derivative of a value by an element that it reads; None where it is 0.

    Where the two of a maximum are equal the first one counts. Raises UsageError for a function that has none here.
    """
    known: dict[int, Scalar | None] = {}
    for part in walk([value]):
        known[id(part)] = _of(part, read, lambda operand: known[id(operand)])
    return known[id(value)]


def _of(value: Scalar, read: Read, of: Callable[[Scalar], Scalar | None]) -> Scalar | None:
    inner = [of(operand) for operand in operands_of(value)]
    match value:
        case Element():
            return Constant(value.dtype, 1) if (value.tensor, value.indices) == read else None
        case _ if not is_float(value.dtype) or all(part is None for part in inner):
            return None
        case Cast(operand=operand):
            return None if not is_float(operand.dtype) else _cast(inner[0], value.dtype)
        case Choice(condition=condition, lazy=lazy):
            then, otherwise = (Constant(value.dtype, 0) if part is None else part for part in inner[1:])
            return Choice(value.dtype, condition, then, otherwise, lazy)
        case Apply(function=function) if function in _STEPS or function in _STEPS_OF_TWO:
            return None
        case Apply(function=function, operands=(x,)) if function in _OF_ONE:
            return _product(inner[0], _OF_ONE[function](x))
        case Apply(function=function, operands=(a, b)) if function in _OF_TWO:
            by_a, by_b = _OF_TWO[function](a, b)
            return _sum(_product(inner[0], by_a), _product(inner[1], by_b))
        case _:
            what = value.function if isinstance(value, Apply) else type(value).__name__
            raise UsageError(f"te.gradient: {what} has no derivative here")


def _cast(value: Scalar | None, dtype: str) -> Scalar | None:
    return None if value is None else cast_to(value, dtype)


def _product(a: Scalar | None, b: Scalar) -> Scalar | None:
    if a is None or (isinstance(a, Constant) and a.number == 1):
        return None if a is None else b
    return a if isinstance(b, Constant) and b.number == 1 else a * b


def _sum(a: Scalar | None, b: Scalar | None) -> Scalar | None:
    return b if a is None else a if b is None else a + b


# -- the same value at other indices


def renamed(value: Scalar, indices: Mapping[Name, Expr]) -> Scalar:
    """A value with other indices in place of axes."""
    known: dict[int, Scalar] = {}
    for part in walk([value]):
        known[id(part)] = _renamed(part, indices, [known[id(operand)] for operand in operands_of(part)])
    return known[id(value)]


def _renamed(value: Scalar, indices: Mapping[Name, Expr], operands: list[Scalar]) -> Scalar:
    match value:
        case Element():
            return Element(value.dtype, value.tensor, tuple(at(e, indices) for e in value.indices))
        case IndexData():
            return IndexData(value.dtype, at(value.expr, indices))
        case Test():
            return Test(value.dtype, Predicate(at(value.predicate.expr, indices), value.predicate.kind))
        case Apply():
            return Apply(value.dtype, value.function, tuple(operands))
        case Cast():
            return Cast(value.dtype, operands[0])
        case Choice():
            return Choice(value.dtype, operands[0], operands[1], operands[2], value.lazy)
        case Constant():
            return value
        case _:
            raise UsageError(f"te.gradient: a {type(value).__name__} has no derivative here")


def at(e: Expr, indices: Mapping[Name, Expr]) -> Expr:
    """An index with others in place of axes, in the data that it is read from, too."""
    values: dict[Name, Expr] = dict(indices)
    for key in e.variables():
        if isinstance(key, Name) and key.data is not None:
            values[key] = var(Name(key.text, renamed(key.data, indices)))
    return e.substitute(values)
