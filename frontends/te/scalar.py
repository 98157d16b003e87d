"""Values of the te language: elements of tensors, numbers, and what is computed from them.

A value is an immutable tree; `kernel_body.py` writes it as `arith` and `math` operations. A Python number takes the
type of the value that it meets; values of two types meet in the one that `common_dtype` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr
from tilework.algebra.predicate import Predicate
from tilework.frontends.te.dtypes import (
    check_dtype,
    common_dtype,
    holds,
    integer_range,
    is_float,
    is_integer,
    is_narrow,
)

if TYPE_CHECKING:
    from tilework.frontends.te.index import IterVar


class Arithmetic:
    """What has `+ - * / // %`: a value, and a tensor, which is joined with others element by element."""

    __array_ufunc__ = None  # numpy's scalars leave the operators to us

    def __add__(self, other: Any) -> Any:
        return binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return binary("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return binary("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return binary("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return binary("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return binary("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return binary("div", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return binary("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return binary("floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        return binary("floormod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return binary("floormod", other, self)


class Elementwise(Arithmetic):
    """What a function of two values is applied to element by element, a tensor."""

    def joined(self, function: str, a: object, b: object) -> Any:
        """The function of two operands, of which this is one."""
        raise NotImplementedError


class ScalarLike(Arithmetic):
    """What has the operators of a value."""

    def scalar(self) -> Scalar:
        """The value itself."""
        raise NotImplementedError

    def equal(self, other: Any) -> Scalar:
        """Compare as `==` does."""
        return self == other

    def astype(self, dtype: object) -> Scalar:
        """The value as a number of that type; towards an integer, fractions are cut off."""
        return cast_to(as_scalar(self), check_dtype(dtype))

    def __neg__(self) -> Scalar:
        return unary("neg", self) if is_float(as_scalar(self).dtype) else binary("sub", 0, self)

    def __and__(self, other: Any) -> Scalar:
        return binary("and", self, other)

    def __rand__(self, other: Any) -> Scalar:
        return binary("and", other, self)

    def __or__(self, other: Any) -> Scalar:
        return binary("or", self, other)

    def __ror__(self, other: Any) -> Scalar:
        return binary("or", other, self)

    def __xor__(self, other: Any) -> Scalar:
        return binary("xor", self, other)

    def __rxor__(self, other: Any) -> Scalar:
        return binary("xor", other, self)

    def __lshift__(self, other: Any) -> Scalar:
        return binary("shl", self, other)

    def __rshift__(self, other: Any) -> Scalar:
        return binary("shr", self, other)

    def __invert__(self) -> Scalar:
        operand = as_scalar(self)
        if operand.dtype == "bool":
            return negated(operand)
        low, high = integer_range(operand.dtype)
        return binary("xor", operand, Constant(operand.dtype, low + high))  # -1, or for unsigned types all bits

    def __lt__(self, other: Any) -> Scalar:
        return comparison("lt", self, other)

    def __le__(self, other: Any) -> Scalar:
        return comparison("le", self, other)

    def __gt__(self, other: Any) -> Scalar:
        return comparison("gt", self, other)

    def __ge__(self, other: Any) -> Scalar:
        return comparison("ge", self, other)

    def __eq__(self, other: Any) -> Scalar:  # pyright: ignore[reportIncompatibleMethodOverride]
        return comparison("eq", self, other)

    def __ne__(self, other: Any) -> Scalar:  # pyright: ignore[reportIncompatibleMethodOverride]
        return comparison("ne", self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise UsageError(
            "a value has no truth value while the program is written: use te.if_then_else or te.Select, "
            "and te.all, te.any for and, or"
        )


@dataclass(frozen=True, eq=False)
class Scalar(ScalarLike):
    """A value of element type `dtype`."""

    dtype: str

    def scalar(self) -> Scalar:
        return self


@dataclass(frozen=True, eq=False)
class Constant(Scalar):
    """A number. A `literal` one was written without a type, which it takes from the value that it meets."""

    number: float | int
    literal: bool = False

    @property
    def value(self) -> float | int:
        """The number, by TVM's name."""
        return self.number


@dataclass(frozen=True, eq=False)
class IndexData(Scalar):
    """An index used as a number."""

    expr: Expr


@dataclass(frozen=True, eq=False)
class Test(Scalar):
    """Whether an index satisfies a predicate. `same` says of `a == b` whether it holds, for axes whether they are one.

    It is None where that depends on the values of axes and symbols.
    """

    predicate: Predicate
    same: bool | None = None

    def __bool__(self) -> bool:
        """So that Python's `in` and `==` find axes in lists, and compare shapes. Raises UsageError for other tests."""
        return super().__bool__() if self.same is None else self.same


@dataclass(frozen=True, eq=False)
class Apply(Scalar):
    """A function of values: `add`, `exp`, `lt`, ... Where `and`, `or`, `not` are of bool they are the logical ones."""

    function: str
    operands: tuple[Scalar, ...]


@dataclass(frozen=True, eq=False)
class IntrinsicCall(Scalar):
    """What an intrinsic on scalars makes of values."""

    intrinsic: str
    operands: tuple[Scalar, ...]


@dataclass(frozen=True, eq=False)
class Cast(Scalar):
    """A value as a number of another type."""

    operand: Scalar


@dataclass(frozen=True, eq=False)
class Choice(Scalar):
    """One of two values; `lazy` where only the one that the condition selects is computed."""

    condition: Scalar
    then: Scalar
    otherwise: Scalar
    lazy: bool


@dataclass(frozen=True, eq=False)
class Variable(Scalar):
    """One of the values that a reducer combines."""


@dataclass(frozen=True, eq=False)
class Combination:
    """What `te.comm_reducer` says: how `left` and `right` become `combined`, and where to start from."""

    name: str
    left: tuple[Variable, ...]
    right: tuple[Variable, ...]
    combined: tuple[Scalar, ...]
    identities: tuple[Constant, ...]


@dataclass(frozen=True, eq=False)
class Reduce:
    """The combination of values over reduce axes. kind: `add`, `mul`, `max`, `min`, `and`, `or`, or a Combination."""

    kind: str | Combination
    operands: tuple[Scalar, ...]
    axes: tuple[IterVar, ...]
    where: Scalar | None


@dataclass(frozen=True, eq=False)
class Reduction(Scalar):
    """One result of a `Reduce`; it stands at the top of a compute only."""

    reduce: Reduce = field(repr=False)
    value_index: int = 0


def as_scalar(value: object) -> Scalar:
    """A value as it is, an index as a number, a Python number as a literal. Raises UsageError for anything else."""
    if isinstance(value, ScalarLike):
        value = value.scalar()
        if isinstance(value, Reduction):
            raise UsageError(
                "Reductions are only allowed at the top level of compute. "
                "Please create another tensor for further composition."
            )
        return value
    if is_number(value):
        return literal(value)
    raise UsageError(f"a {type(value).__name__} is used as a value: index a tensor for an element, as in A[i, j]")


def is_number(value: object) -> TypeGuard[float | int]:
    """Whether it is a number of Python or numpy, a bool among them."""
    return isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating)


def literal(value: float | int) -> Constant:
    """A number as an int32 (a wider one where it does not fit), a float32 or a bool, until it meets another type."""
    number = cast("float | int", cast("np.generic[Any]", value).item()) if isinstance(value, np.generic) else value
    if isinstance(number, bool):
        return Constant("bool", number, literal=True)
    dtypes = ("float32", "float64") if isinstance(number, float) else ("int32", "int64", "uint64")
    dtype = next((d for d in dtypes if holds(d, number)), None)
    if dtype is None:
        raise UsageError(f"{number} is no number of 64 bits")
    return Constant(dtype, number, literal=True)


def const(value: float | int, dtype: object = None) -> Scalar:
    """A number of that type; by default int32 or float32."""
    if not is_number(value):
        raise UsageError(f"te.const of a {type(value).__name__}: give a number")
    number = literal(value)
    return number if dtype is None else _converted(number, check_dtype(dtype))


def match_types(a: object, b: object) -> tuple[Scalar, Scalar]:
    """Two values in their common type."""
    x, y = as_scalar(a), as_scalar(b)
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Constant) and one.literal and not (isinstance(other, Constant) and other.literal):
            fits = is_float(other.dtype) or (not is_float(one.dtype) and other.dtype != "bool")
            if fits:
                return (_converted(x, other.dtype), y) if one is x else (x, _converted(y, other.dtype))
    dtype = common_dtype(x.dtype, y.dtype)
    return cast_to(x, dtype), cast_to(y, dtype)


def cast_to(value: Scalar, dtype: str) -> Scalar:
    """The value in another type; a literal takes it without rounding twice."""
    if value.dtype == dtype and not isinstance(value, Constant):
        return value
    if isinstance(value, Constant) and value.literal and (is_float(dtype) or not is_float(value.dtype)):
        return _converted(value, dtype)
    return value if value.dtype == dtype else Cast(dtype, value)


def binary(function: str, a: object, b: object) -> Any:
    """A function of two values, of tensors element by element. Raises UsageError for a type that it does not take."""
    for operand in (a, b):
        if isinstance(operand, Elementwise):
            return operand.joined(function, a, b)
    x, y = match_types(a, b)
    check_operands(function, x.dtype)
    if function in _DIVISIONS and isinstance(y, Constant) and y.number == 0:
        raise UsageError(f"{function} by 0: the divisor must be another number")
    return Apply(x.dtype, function, (x, y))


def unary(function: str, x: object) -> Scalar:
    """A function of one value. Raises UsageError for a type that it does not take."""
    operand = as_scalar(x)
    check_operands(function, operand.dtype)
    return Apply(operand.dtype, function, (operand,))


def comparison(function: str, a: object, b: object) -> Scalar:
    """`lt`, `le`, `gt`, `ge`, `eq` or `ne` of two values, a bool. Raises UsageError for a type without them."""
    x, y = match_types(a, b)
    if is_narrow(x.dtype):
        check_operands(function, x.dtype)
    return Apply("bool", function, (x, y))


def negated(condition: Scalar) -> Scalar:
    """True where the condition is false."""
    return Apply("bool", "not", (condition,))


def as_condition(value: object) -> Scalar:
    """A bool. Raises UsageError for a value of another type."""
    condition = as_scalar(value)
    if condition.dtype != "bool":
        raise UsageError(f"a condition is a bool, such as i < n or A[i] > 0; this one is {condition.dtype}")
    return condition


def choose(condition: object, then: object, otherwise: object, lazy: bool) -> Scalar:
    """The value that the condition selects; the two meet in their common type."""
    x, y = match_types(then, otherwise)
    return Choice(x.dtype, as_condition(condition), x, y, lazy)


def operands_of(value: Scalar) -> Sequence[Scalar]:
    """The values directly inside, but for those that indices are made of."""
    match value:
        case Apply() | IntrinsicCall():
            return value.operands
        case Cast():
            return (value.operand,)
        case Choice():
            return (value.condition, value.then, value.otherwise)
        case Reduction():
            reduce = value.reduce
            return (*reduce.operands, *(() if reduce.where is None else (reduce.where,)))
        case _:
            return ()


def walk(values: Sequence[Scalar]) -> Iterator[Scalar]:
    """Every value inside, each once, those before it that it is made of."""
    seen: set[int] = set()

    def visit(value: Scalar) -> Iterator[Scalar]:
        if id(value) in seen:
            return
        seen.add(id(value))
        for operand in operands_of(value):
            yield from visit(operand)
        yield value

    for value in values:
        yield from visit(value)


def values_in(value: ScalarLike) -> list[Scalar]:
    """Every value inside of one, and itself, each once, those before it that it is made of."""
    return list(walk([value.scalar()]))


_DIVISIONS = frozenset({"floordiv", "floormod", "truncdiv", "truncmod"})
_INTEGERS_ONLY = frozenset({*_DIVISIONS, "shl", "shr", "popcount", "clz"})
_ANY_NUMBER = frozenset({"add", "sub", "mul", "max", "min", "abs"})
_LOGICAL = frozenset({"and", "or", "xor"})


def check_operands(function: str, dtype: str) -> None:
    """Raise UsageError where a function does not take values of that type."""
    if is_narrow(dtype):
        raise UsageError(f"{function} of {dtype}, which is a type to keep values in: convert with astype first")
    if function in _LOGICAL:
        if is_float(dtype):
            raise UsageError(f"{function} takes integers or bools, not {dtype}")
        return
    if dtype == "bool":
        raise UsageError(f"{function} of bool: convert with astype first")
    if function == "div" and not is_float(dtype):
        raise UsageError(f"/ of {dtype}: write // or te.floordiv, te.truncdiv, or convert with astype")
    if function in _ANY_NUMBER or is_integer(dtype) == (function in _INTEGERS_ONLY):
        return
    kind = "integers" if function in _INTEGERS_ONLY else "floating-point numbers"
    raise UsageError(f"{function} takes {kind}, not {dtype}")


def _converted(value: Scalar, dtype: str) -> Scalar:
    """A constant as one of that type. Raises UsageError where it does not fit."""
    assert isinstance(value, Constant)
    number = value.number
    if is_float(dtype) and holds(dtype, number):
        return Constant(dtype, float(number))
    if is_float(dtype):
        raise UsageError(f"{number} does not fit {dtype}: it would be infinite")
    if isinstance(number, float):
        raise UsageError(f"{number} is no {dtype}: convert with astype")
    low, high = integer_range(dtype)
    if not holds(dtype, number):
        raise UsageError(f"{number} does not fit {dtype}, which holds {low} to {high}")
    return Constant(dtype, int(number))
