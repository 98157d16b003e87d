"""Several reductions as the results of one compute: one reduction of a tuple that joins each value by itself."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from tilework.algebra.errors import UsageError
from tilework.frontends.te.dtypes import integer_range, is_float
from tilework.frontends.te.scalar import (
    Apply,
    Choice,
    Combination,
    Constant,
    Reduce,
    Reduction,
    Scalar,
    Variable,
)


def joint_body(name: str, body: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """What a compute of that name returns, where these are reductions as the results of a single one.

    Raises UsageError where some results are reductions and others are not, where one of several results of a reducer
    is missing or returned twice, and where two reduce over different axes.
    """
    reductions = [value for value in body if isinstance(value, Reduction)]
    if not reductions:
        return body
    if len(reductions) != len(body):
        raise UsageError(
            f"the results of compute '{name}' are all reductions, or none is: {len(reductions)} of {len(body)} are"
        )
    _check_whole(name, reductions)
    _check_axes(name, reductions)
    first = reductions[0].reduce
    if all(r.reduce is first and r.value_index == i for i, r in enumerate(reductions)):
        return body
    joint = _joint(name, reductions)
    return tuple(Reduction(r.dtype, joint, i) for i, r in enumerate(reductions))


def _check_whole(name: str, reductions: Sequence[Reduction]) -> None:
    """Every result of a reducer of tuples needs the others to be computed."""
    for reduce in {id(r.reduce): r.reduce for r in reductions}.values():
        count = len(reduce.operands)
        taken = sorted(r.value_index for r in reductions if r.reduce is reduce)
        if count > 1 and taken != list(range(count)):
            raise UsageError(
                f"compute '{name}' returns {_listed(taken)} of a reduction with {count} results: return each of them "
                "once, and read those that are needed"
            )


def _check_axes(name: str, reductions: Sequence[Reduction]) -> None:
    first = reductions[0].reduce.axes
    for other in (r.reduce.axes for r in reductions[1:]):
        if {axis.key for axis in other} != {axis.key for axis in first}:
            names = [", ".join(axis.name for axis in axes) for axes in (first, other)]
            raise UsageError(
                f"compute '{name}' reduces over axes [{names[0]}] for one result and over [{names[1]}] for another: "
                "reduce all over the same axes, or make two computes"
            )


def _joint(name: str, reductions: Sequence[Reduction]) -> Reduce:
    parts = [_part(r.reduce, r.value_index) for r in reductions]
    wheres = [r.reduce.where for r in reductions]
    shared = wheres[0] if all(where is wheres[0] for where in wheres) else None
    operands = tuple(r.reduce.operands[r.value_index] for r in reductions)
    if shared is None:
        operands = tuple(map(_where_it_counts, operands, wheres, (identity for *_, identity in parts)))
    left, right, combined, identities = zip(*parts, strict=True)
    return Reduce(Combination(name, left, right, combined, identities), operands, reductions[0].reduce.axes, shared)


def _part(reduce: Reduce, index: int) -> tuple[Variable, Variable, Scalar, Constant]:
    """Two values of a reduction, what they combine to, and its identity."""
    if isinstance(reduce.kind, Combination):
        kind = reduce.kind
        return kind.left[index], kind.right[index], kind.combined[index], kind.identities[index]
    dtype = reduce.operands[index].dtype
    left, right = Variable(dtype), Variable(dtype)
    return left, right, Apply(dtype, reduce.kind, (left, right)), identity(reduce.kind, dtype)


def _where_it_counts(operand: Scalar, where: Scalar | None, neutral: Constant) -> Scalar:
    return operand if where is None else Choice(operand.dtype, where, operand, neutral, lazy=True)


def identity(kind: str, dtype: str) -> Constant:
    """What leaves every other value as it is."""
    if kind in ("add", "or"):
        return Constant(dtype, 0)
    if kind in ("mul", "and"):
        return Constant(dtype, 1)
    low, high = (-inf, inf) if is_float(dtype) else integer_range(dtype)
    return Constant(dtype, low if kind == "max" else high)


def _listed(taken: Sequence[int]) -> str:
    return f"result{'s' if len(taken) > 1 else ''} {', '.join(map(str, taken))}"
