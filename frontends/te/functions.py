"""The functions of the te language on single values: mathematics, conditions, integer division, bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import inf
from typing import Any

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.algebra.given_values import integer_of
from tilework.dialects.te.intrinsics import library
from tilework.frontends.te.arguments import kind
from tilework.frontends.te.dtypes import check_dtype, integer_range, is_float, type_of
from tilework.frontends.te.index import Index, IndexValue, to_index
from tilework.frontends.te.scalar import (
    Apply,
    Constant,
    IntrinsicCall,
    Scalar,
    as_condition,
    as_scalar,
    binary,
    choose,
    comparison,
    unary,
)


def _unary(name: str, meaning: str) -> Callable[[object], Scalar]:
    def function(x: object) -> Scalar:
        return unary(name, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{meaning} of a floating-point value."
    return function


exp = _unary("exp", "e to the power")
exp2 = _unary("exp2", "2 to the power")
log = _unary("log", "The natural logarithm")
log2 = _unary("log2", "The logarithm to base 2")
log10 = _unary("log10", "The logarithm to base 10")
log1p = _unary("log1p", "The natural logarithm of 1 plus x, exact near 0,")
sqrt = _unary("sqrt", "The square root")
rsqrt = _unary("rsqrt", "1 over the square root")
erf = _unary("erf", "The error function")
tanh = _unary("tanh", "The hyperbolic tangent")
sin = _unary("sin", "The sine")
cos = _unary("cos", "The cosine")
tan = _unary("tan", "The tangent")
sinh = _unary("sinh", "The hyperbolic sine")
cosh = _unary("cosh", "The hyperbolic cosine")
asin = _unary("asin", "The inverse sine")
acos = _unary("acos", "The inverse cosine")
atan = _unary("atan", "The inverse tangent")
asinh = _unary("asinh", "The inverse hyperbolic sine")
acosh = _unary("acosh", "The inverse hyperbolic cosine")
atanh = _unary("atanh", "The inverse hyperbolic tangent")


def exp10(x: object) -> Scalar:
    """10 to the power of a floating-point value."""
    return exp2(as_scalar(x) * 3.321928094887362)  # log2(10)


def sigmoid(x: object) -> Scalar:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + exp(-as_scalar(x)))


def _rounding(name: str, meaning: str) -> Callable[[object], Scalar]:
    def function(x: object) -> Scalar:
        operand = as_scalar(x)
        return unary(name, operand) if is_float(operand.dtype) else operand

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{meaning}; an integer is left as it is."
    return function


floor = _rounding("floor", "The next whole number at or below x")
ceil = _rounding("ceil", "The next whole number at or above x")
trunc = _rounding("trunc", "x without its fraction")
round = _rounding("round", "The nearest whole number, halves away from zero")  # noqa: A001  TVM's name
nearbyint = _rounding("nearbyint", "The nearest whole number, halves to the even one")


def abs(x: object) -> Scalar:  # noqa: A001  TVM's name
    """The magnitude."""
    return unary("abs", x)


def power(x: object, y: object) -> Scalar:
    """x to the power y, floating-point values."""
    return binary("power", x, y)


def copysign(x: object, y: object) -> Scalar:
    """x with the sign of y."""
    return binary("copysign", x, y)


def hypot(x: object, y: object) -> Scalar:
    """The square root of x * x + y * y."""
    a, b = as_scalar(x), as_scalar(y)
    return sqrt(a * a + b * b)


def fmod(x: object, y: object) -> Scalar:
    """The remainder of x / y with the sign of x."""
    a = as_scalar(x)
    return binary("fmod", a, y) if is_float(a.dtype) else binary("truncmod", a, y)


# -- integers


def floordiv(a: object, b: object) -> Any:
    """a / b rounded down, of integers or indices."""
    return _operand(a) // _operand(b)


def floormod(a: object, b: object) -> Any:
    """The remainder of `floordiv`, with the sign of b."""
    return _operand(a) % _operand(b)


def indexdiv(a: object, b: object) -> Any:
    """Divide indices as `floordiv` does."""
    return floordiv(a, b)


def indexmod(a: object, b: object) -> Any:
    """The remainder that `floormod` computes."""
    return floormod(a, b)


def _operand(x: object) -> Any:
    """What has the operators of an index or of a value."""
    if isinstance(x, IndexValue):
        return x
    return as_scalar(x) if integer_of(x) is None else Index(to_index(x))


def div(a: object, b: object) -> Scalar:
    """a / b; of integers, without the fraction, as in C."""
    x, y = as_scalar(a), as_scalar(b)
    return binary("div" if is_float(x.dtype) or is_float(y.dtype) else "truncdiv", x, y)


def truncdiv(a: object, b: object) -> Scalar:
    """The quotient of integers without its fraction, as in C."""
    return binary("truncdiv", a, b)


def truncmod(a: object, b: object) -> Scalar:
    """The remainder of `truncdiv`, with the sign of a."""
    return binary("truncmod", a, b)


def popcount(x: object) -> Scalar:
    """How many bits of an integer are set."""
    return unary("popcount", x)


def clz(x: object) -> Scalar:
    """How many leading bits of an integer are 0."""
    return unary("clz", x)


def call_intrin(dtype: object, func_name: str, *args: object) -> Scalar:
    """What an intrinsic of the library on scalars, such as "dot4.ui8i8", makes of values, as a value of type dtype."""
    known = {name: declared for name, declared in library().items() if declared.is_on_scalars}
    declared = known.get(func_name)
    if declared is None:
        given = repr(func_name) if isinstance(func_name, str) else kind(func_name)  # pyright: ignore[reportUnnecessaryIsInstance]
        hint = did_you_mean(str(func_name), known)
        raise UsageError(f"there is no intrinsic on scalars {given}; there are {', '.join(known)}{hint}")
    operands, result = tuple(map(as_scalar, args)), check_dtype(dtype)
    given = [str(type_of(t)) for t in (*(operand.dtype for operand in operands), result)]
    wanted = [*map(str, declared.function_type.inputs), *map(str, declared.function_type.outputs)]
    if given != wanted:
        takes, takes_given = (f"({', '.join(types[:-1])}) -> {types[-1]}" for types in (wanted, given))
        raise UsageError(f"intrinsic '{func_name}' is {takes}, not {takes_given}")
    return IntrinsicCall(result, func_name, operands)


# -- limits and tests


def min_value(dtype: object) -> Scalar:
    """The least number of a type; of a floating-point type the greatest magnitude, negative."""
    return _limit(check_dtype(dtype), 0)


def max_value(dtype: object) -> Scalar:
    """The greatest number of a type."""
    return _limit(check_dtype(dtype), 1)


_LARGEST = {
    "float64": 1.7976931348623157e308,
    "float32": 3.4028234663852886e38,
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
}


def _limit(dtype: str, end: int) -> Constant:
    if is_float(dtype):
        return Constant(dtype, (-_LARGEST[dtype], _LARGEST[dtype])[end])
    return Constant(dtype, integer_range(dtype)[end])


def isnan(x: object) -> Scalar:
    """Whether it is no number."""
    operand = as_scalar(x)
    return comparison("ne", operand, operand)


def isinf(x: object) -> Scalar:
    """Whether it is infinite, of either sign."""
    return comparison("eq", unary("abs", x), inf)


def isfinite(x: object) -> Scalar:
    """Whether it is a number, and not infinite."""
    return comparison("lt", unary("abs", x), inf)


# -- conditions


def if_then_else(cond: object, t: object, f: object) -> Scalar:
    """`t` where the condition holds, else `f`.

    What the other value reads may be out of bounds: it is not read.
    """
    return choose(cond, t, f, lazy=True)


def Select(condition: object, true_value: object, false_value: object) -> Scalar:  # noqa: N802  TVM's name
    """One of two values, both of which are computed."""
    return choose(condition, true_value, false_value, lazy=False)


def logical(function: str, args: tuple[object, ...]) -> Scalar:
    """`and` or `or` of conditions. Raises UsageError for none."""
    if not args:
        raise UsageError(f"te.{'all' if function == 'and' else 'any'} of no conditions")
    return reduce(lambda a, b: Apply("bool", function, (a, b)), map(as_condition, args))
