"""Indices of the te language: te.var, axes, and what is computed from them.

An index is an `algebra` expression whose variables are `Name`s, compared by identity: two axes called `i` are two axes.
An integer read from a tensor is a variable too, so that `A[B[i], j]` is an index like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from tilework.algebra.errors import UsageError
from tilework.algebra.given_values import integer_of
from tilework.algebra.index_expr import Expr, const, maximum, minimum, var
from tilework.algebra.predicate import Predicate, at_least, equal, less_than
from tilework.frontends.te import scalar
from tilework.frontends.te.arguments import check_integer, check_text
from tilework.frontends.te.dtypes import is_integer
from tilework.frontends.te.scalar import IndexData, Scalar, ScalarLike, Test

IndexLike: TypeAlias = "IndexValue | int"


@dataclass(frozen=True, eq=False)
class Name:
    """A variable inside an index: an axis or a symbol, or where `data` is given that integer."""

    text: str
    data: Scalar | None = None
    is_symbol: bool = False

    def __str__(self) -> str:
        return self.text


class IndexValue(ScalarLike):
    """What has the operators of an index: `+ - * // %` and comparisons, with other indices and integers.

    Anything else makes it a number, an int32.
    """

    dtype = "int32"

    @property
    def expr(self) -> Expr:
        """The index over `Name`s."""
        raise NotImplementedError

    def scalar(self) -> Scalar:
        return IndexData("int32", self.expr)

    def __add__(self, other: Any) -> Any:
        return _binary(Expr.__add__, self, other) if is_index(other) else super().__add__(other)

    def __radd__(self, other: Any) -> Any:
        return _binary(Expr.__add__, other, self) if is_index(other) else super().__radd__(other)

    def __sub__(self, other: Any) -> Any:
        return _binary(Expr.__sub__, self, other) if is_index(other) else super().__sub__(other)

    def __rsub__(self, other: Any) -> Any:
        return _binary(Expr.__sub__, other, self) if is_index(other) else super().__rsub__(other)

    def __mul__(self, other: Any) -> Any:
        return _binary(Expr.__mul__, self, other) if is_index(other) else super().__mul__(other)

    def __rmul__(self, other: Any) -> Any:
        return _binary(Expr.__mul__, other, self) if is_index(other) else super().__rmul__(other)

    def __floordiv__(self, other: Any) -> Any:
        return _binary(Expr.__floordiv__, self, _divisor(other)) if is_index(other) else super().__floordiv__(other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _binary(Expr.__floordiv__, other, self) if is_index(other) else super().__rfloordiv__(other)

    def __mod__(self, other: Any) -> Any:
        return _binary(Expr.__mod__, self, _divisor(other)) if is_index(other) else super().__mod__(other)

    def __rmod__(self, other: Any) -> Any:
        return _binary(Expr.__mod__, other, self) if is_index(other) else super().__rmod__(other)

    def __neg__(self) -> Index:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Index(-self.expr)

    def __lt__(self, other: Any) -> Scalar:
        return _test(less_than, self, other) if is_index(other) else super().__lt__(other)

    def __le__(self, other: Any) -> Scalar:
        return _test(at_least, other, self) if is_index(other) else super().__le__(other)

    def __gt__(self, other: Any) -> Scalar:
        return _test(less_than, other, self) if is_index(other) else super().__gt__(other)

    def __ge__(self, other: Any) -> Scalar:
        return _test(at_least, self, other) if is_index(other) else super().__ge__(other)

    def __eq__(self, other: Any) -> Scalar:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _equality(self, other) if is_index(other) else super().__eq__(other)

    def __ne__(self, other: Any) -> Scalar:  # pyright: ignore[reportIncompatibleMethodOverride]
        return scalar.negated(_test(equal, self, other)) if is_index(other) else super().__ne__(other)

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return str(self.expr)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


class Index(IndexValue):
    """An index computed from others."""

    def __init__(self, expr: Expr):
        self._expr = expr

    @property
    def expr(self) -> Expr:
        return self._expr


class Var(IndexValue):
    """A symbolic extent: a whole number from 0 on, known when the compiled function is called."""

    def __init__(self, name: str):
        self.name = check_text(name, "the name of a te.var")
        self.key = Name(name, is_symbol=True)
        self._expr = var(self.key)

    @property
    def expr(self) -> Expr:
        return self._expr


class IntImm(int):
    """A number that is known, as an extent: an int with `value` and `dtype`, by TVM's names."""

    dtype = "int32"

    @property
    def value(self) -> int:
        """The number."""
        return int(self)


def index_of(e: Expr) -> IntImm | Index:
    """An index expression as a number where it is known, else as an index."""
    return Index(e) if e.constant is None else IntImm(e.constant)


@dataclass(frozen=True)
class Range:
    """From `min` on, a range has `extent` values: numbers where they are known."""

    min: IndexLike
    extent: IndexLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "min", index_of(to_index(self.min)))
        object.__setattr__(self, "extent", index_of(to_index(self.extent)))


class IterVar(IndexValue):
    """An axis. `thread_tag` names a thread index such as threadIdx.x, which needs no `dom`.

    The names in capitals are what `iter_type` is, and what `Stage.iter_var_attrs` says that a schedule made of it.
    """

    DataPar = 0
    ThreadIndex = 1
    CommReduce = 2
    Ordered = 3
    DimInfo = 4
    Unrolled = 5
    Vectorized = 6
    Parallelized = 7
    Tensorized = 8

    def __init__(self, dom: Range | None, name: str, is_reduce: bool = False, thread_tag: str = ""):
        self.dom = dom
        self.name = check_text(name, "the name of an axis")
        self.is_reduce = is_reduce
        self.thread_tag = thread_tag
        self.key = Name(name)
        self._expr = var(self.key)

    @property
    def expr(self) -> Expr:
        return self._expr

    def __eq__(self, other: Any) -> Scalar:  # pyright: ignore[reportIncompatibleMethodOverride]
        if isinstance(other, IterVar):
            return Test("bool", equal(self.expr, other.expr), same=self is other)
        return super().__eq__(other)

    __hash__ = IndexValue.__hash__

    @property
    def iter_type(self) -> int:
        """What kind of axis it is, before a schedule: `DataPar`, `CommReduce` or `ThreadIndex`."""
        if self.thread_tag:
            return self.ThreadIndex
        return self.CommReduce if self.is_reduce else self.DataPar

    @property
    def var(self) -> IterVar:
        """The axis itself, which stands for its index; TVM keeps the two apart."""
        return self


def is_index(value: object) -> bool:
    """Whether it is an index: an integer (numpy's too), or made of axes and symbols."""
    return isinstance(value, IndexValue) or integer_of(value) is not None


def to_index(value: object) -> Expr:
    """The index expression of an index, or of an integer value. Raises UsageError for anything else."""
    if isinstance(value, IndexValue):
        return value.expr
    if integer_of(value) is not None:
        return const(check_integer(value, "an index"))
    if isinstance(value, ScalarLike):
        data = scalar.as_scalar(value)
        if isinstance(data, IndexData):
            return data.expr
        if is_integer(data.dtype):
            return var(Name("data", data))
        raise UsageError(f"an index is an integer, not {data.dtype}")
    raise UsageError(f"an index is made of integers, axes and te.var, not of a {type(value).__name__}")


def is_one(index: object) -> bool:
    """Whether an index is known to be 1."""
    return is_index(index) and to_index(index).constant == 1


def is_zero(index: object) -> bool:
    """Whether an index is known to be 0."""
    return is_index(index) and to_index(index).constant == 0


def substitute(index: IndexLike, values: Mapping[Any, IndexLike]) -> IndexLike:
    """An index with other indices in place of axes and te.vars. Raises UsageError for what is no index."""
    given = {key.key: to_index(value) for key, value in values.items()}
    return index_of(to_index(index).substitute(given))


def index_extremum(larger: bool, a: object, b: object) -> Index:
    """The larger or the smaller of two indices."""
    return Index((maximum if larger else minimum)(to_index(a), to_index(b)))


def shape_of(shape: object) -> tuple[Expr, ...]:
    """The dimensions of a shape: one extent or several, integers or made of te.var. Raises UsageError for others."""
    given = cast("tuple[object, ...]", shape) if isinstance(shape, tuple | list) else (shape,)
    dims = tuple(map(to_index, given))
    for dim in dims:
        other = next((key for key in dim.variables() if not cast(Name, key).is_symbol), None)
        if other is not None:
            what = f"axis '{other}'" if cast(Name, other).data is None else "elements of a tensor"
            raise UsageError(f"a shape has the extent {dim}: it is made of integers and te.var, not of {what}")
        if dim.constant is not None and dim.constant < 0:
            raise UsageError(f"a shape has the extent {dim}: extents are 0 or more")
    return dims


def _binary(function: Callable[..., Expr], a: object, b: object) -> Index:
    return Index(function(to_index(a), to_index(b)))


def _divisor(value: object) -> object:
    if (number := to_index(value).constant) is not None and number <= 0:
        raise UsageError(f"an index is divided by {number}: the divisor must be positive")
    return value


def _equality(a: object, b: object) -> Test:
    """Whether two indices are equal; known where they are by a number, or not at all, apart."""
    apart = (to_index(a) - to_index(b)).constant
    return Test("bool", equal(to_index(a), to_index(b)), same=None if apart is None else apart == 0)


def _test(relation: Callable[..., Predicate], a: object, b: object) -> Scalar:
    return Test("bool", relation(to_index(a), to_index(b)))
