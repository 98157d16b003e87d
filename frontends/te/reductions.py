"""Reductions, most of which are functions of two values as well: te.sum, te.max, te.comm_reducer, ..."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from tilework.algebra.errors import UsageError
from tilework.algebra.given_values import takes
from tilework.dialects.te.reducers import why_no_reducer
from tilework.frontends.te.arguments import check_function, check_text, kind, listed
from tilework.frontends.te.functions import logical
from tilework.frontends.te.index import Index, IterVar, index_extremum, is_index
from tilework.frontends.te.kernel_body import example_against
from tilework.frontends.te.scalar import (
    Combination,
    Constant,
    Reduce,
    Reduction,
    Scalar,
    Variable,
    as_condition,
    as_scalar,
    binary,
    cast_to,
    check_operands,
)
from tilework.frontends.te.source_location import at_user_line

Axes: TypeAlias = "IterVar | Sequence[IterVar]"


def sum(expr: object, axis: object, where: object = None, init: None = None) -> Scalar:  # noqa: A001  TVM's name
    """The sum of `expr` over reduce axes, of those elements for which `where` holds; or of two values."""
    _refuse_init("sum", init)
    return _reduce_or_combine("add", expr, axis, where)


def prod(expr: object, axis: object, where: object = None, init: None = None) -> Scalar:
    """The product over reduce axes, or of two values."""
    _refuse_init("prod", init)
    return _reduce_or_combine("mul", expr, axis, where)


def max(expr: object, axis: object, where: object = None, init: None = None) -> Scalar | Index:  # noqa: A001  TVM's name
    """The maximum over reduce axes, or of two values or indices; NaN wins."""
    if is_index(expr) and is_index(axis) and not _is_axes(axis):
        return index_extremum(True, expr, axis)
    _refuse_init("max", init)
    return _reduce_or_combine("max", expr, axis, where)


def min(expr: object, axis: object, where: object = None, init: None = None) -> Scalar | Index:  # noqa: A001  TVM's name
    """The minimum over reduce axes, or of two values or indices; NaN wins."""
    if is_index(expr) and is_index(axis) and not _is_axes(axis):
        return index_extremum(False, expr, axis)
    _refuse_init("min", init)
    return _reduce_or_combine("min", expr, axis, where)


def all(*args: object, axis: Axes | None = None, where: object = None) -> Scalar:  # noqa: A001  TVM's name
    """True where every condition is; with `axis`, where one is at all points of reduce axes."""
    return logical("and", args) if axis is None else _reduce_condition("and", args, axis, where)


def any(*args: object, axis: Axes | None = None, where: object = None) -> Scalar:  # noqa: A001  TVM's name
    """True where one of the conditions is; with `axis`, where one is at some point of reduce axes."""
    return logical("or", args) if axis is None else _reduce_condition("or", args, axis, where)


def comm_reducer(
    fcombine: Callable[..., Any], fidentity: Callable[..., Any], name: str = "reduce"
) -> Callable[..., Scalar | tuple[Scalar, ...]]:
    """A reducer of one's own, which must be associative and commutative.

    fcombine: of two values, or of two tuples of values, what they combine to. fidentity: of their dtypes, as many
    arguments as values, what leaves every other value unchanged. The reducer takes a value or a tuple of values, reduce
    axes and `where`, and returns as many results; or two values, which it combines; it is refused where a few numbers
    show that it is none. One that only joins single elements with what there is so far, as `x + y * y` does, is taken,
    but has no `rfactor`.

        argmax = te.comm_reducer(
            lambda x, y: (te.Select(x[1] >= y[1], x[0], y[0]), te.Select(x[1] >= y[1], x[1], y[1])),
            lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
        )
    """
    check_function(fcombine, 2, f"fcombine of reducer '{check_text(name, 'the name of a reducer')}'")
    if not callable(fidentity):
        raise UsageError(f"fidentity of reducer '{name}' is a function of dtypes, not {kind(fidentity)}")

    def reducer(expr: object, axis: Axes, where: object = None) -> Scalar | tuple[Scalar, ...]:
        if not _is_axes(axis):
            return fcombine(expr, axis)
        several = isinstance(expr, tuple | list)
        given = cast("Sequence[object]", expr) if several else (expr,)
        operands = tuple(map(as_scalar, given))
        combination = _combination(fcombine, fidentity, [o.dtype for o in operands], several, name)
        reduce = Reduce(combination, operands, _axes(axis), None if where is None else as_condition(where))
        if why := example_against(reduce, why_no_reducer):
            raise at_user_line(UsageError(f"reducer '{name}': {why}"))
        results = tuple(Reduction(o.dtype, reduce, i) for i, o in enumerate(operands))
        return results if several else results[0]

    reducer.__name__ = reducer.__qualname__ = name
    return reducer


def _combination(
    fcombine: Callable[..., Any], fidentity: Callable[..., Any], dtypes: Sequence[str], several: bool, name: str
) -> Combination:
    if not takes(fidentity, len(dtypes)):
        wanted = len(inspect.signature(fidentity).parameters)
        raise UsageError(
            f"reducer '{name}' combines {wanted} values, as many as fidentity takes dtypes; {len(dtypes)} given"
        )
    left, right = tuple(map(Variable, dtypes)), tuple(map(Variable, dtypes))
    combined = _results(fcombine(left, right) if several else fcombine(left[0], right[0]), dtypes, f"{name}: fcombine")
    identities = _results(fidentity(*dtypes), dtypes, f"{name}: fidentity")
    for value in identities:
        if not isinstance(value, Constant):
            raise UsageError(f"reducer '{name}': fidentity returns numbers, such as te.const(0, dtype)")
    return Combination(name, left, right, combined, cast("tuple[Constant, ...]", identities))


def _results(given: object, dtypes: Sequence[str], what: str) -> tuple[Scalar, ...]:
    values = tuple(cast("Sequence[object]", given)) if isinstance(given, tuple | list) else (given,)
    if len(values) != len(dtypes):
        raise UsageError(f"reducer '{what} returns {len(values)} values for {len(dtypes)}")
    return tuple(cast_to(as_scalar(v), d) for v, d in zip(values, dtypes, strict=True))


def _refuse_init(name: str, init: object) -> None:
    """Raise UsageError for where a reduction of TVM may start from."""
    if init is not None:
        raise UsageError(
            f"te.{name} has no init=: a reduction starts from its identity; join the number in a compute behind it"
        )


def _reduce_or_combine(kind: str, expr: object, axis: object, where: object) -> Scalar:
    if not _is_axes(axis):
        if where is not None:
            raise UsageError("where= belongs to a reduction: give its reduce axes")
        return binary(kind, as_scalar(expr), as_scalar(axis))
    operand = as_scalar(expr)
    check_operands(kind, operand.dtype)
    return _reduction(kind, operand, _axes(axis), where)


def _reduce_condition(kind: str, args: tuple[object, ...], axis: Axes, where: object) -> Scalar:
    if len(args) != 1:
        raise UsageError(f"a reduction of one condition; {len(args)} given")
    return _reduction(kind, as_condition(args[0]), _axes(axis), where)


def _reduction(kind: str, operand: Scalar, axes: tuple[IterVar, ...], where: object) -> Reduction:
    reduce = Reduce(kind, (operand,), axes, None if where is None else as_condition(where))
    return Reduction(operand.dtype, reduce)


def _is_axes(value: object) -> bool:
    if isinstance(value, IterVar):
        return value.is_reduce
    return isinstance(value, tuple | list)


def _axes(axis: object) -> tuple[IterVar, ...]:
    axes = (axis,) if isinstance(axis, IterVar) else listed(axis)
    if axes is None:
        raise UsageError(f"a reduction runs over axes made by te.reduce_axis, not over {kind(axis)}")
    for a in axes:
        if not isinstance(a, IterVar) or not a.is_reduce:
            what = f"axis '{a.name}'" if isinstance(a, IterVar) else kind(a)
            raise UsageError(f"a reduction runs over axes made by te.reduce_axis, not over {what}")
    if not axes:
        raise UsageError("a reduction needs a reduce axis")
    given = cast("Sequence[IterVar]", axes)
    for key, times in Counter(axis.key for axis in given).items():
        if times > 1:
            raise UsageError(f"a reduction runs over axis '{key}' once, not {times} times")
    return tuple(given)
