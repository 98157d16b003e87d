"""Binding symbolic dimensions to the shapes of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilework.algebra.index_expr import Expr, Key
from tilework.dialects.support.diagnostics import UsageError


def bind_symbols(
    what: Sequence[str],
    dims: Sequence[Sequence[Expr]],
    shapes: Sequence[Sequence[int]],
    known: Mapping[Key, int] | None = None,
) -> dict[Key, int]:
    """The value of every symbol in `dims`, from arrays of these shapes, besides those that are `known`.

    A dimension that is linear in one unknown symbol binds it; every other is checked. Raises UsageError, naming the
    array by `what`, where ranks or dimensions differ or no dimension tells a symbol.
    """
    for name, expected, shape in zip(what, dims, shapes, strict=True):
        if len(expected) != len(shape):
            raise UsageError(f"{name} has {len(shape)} dimensions, expected {len(expected)}: [{_text(expected)}]")
    facts = [(n, e, s) for n, d, shape in zip(what, dims, shapes, strict=True) for e, s in zip(d, shape, strict=True)]
    bound = solve_symbols([(expr, size) for _, expr, size in facts], known)
    for name, expr, size in facts:
        unknown = [key for key in expr.variables() if key not in bound]
        if unknown:
            raise UsageError(f"no dimension tells the value of '{unknown[0]}', which {name} uses in '{expr}'")
        if expr.evaluate(bound) != size:
            raise UsageError(f"{name} has a dimension of {size} where {expr} = {expr.evaluate(bound)} is expected")
    return bound


def solve_symbols(sizes: Sequence[tuple[Expr, int]], known: Mapping[Key, int] | None = None) -> dict[Key, int]:
    """The values of the symbols that dimensions of these sizes tell, and of those that are `known`."""
    bound: dict[Key, int] = dict(known or {})
    while any([_bind_one(expr, size, bound) for expr, size in sizes]):
        pass
    return bound


def _bind_one(expr: Expr, size: int, bound: dict[Key, int]) -> bool:
    """Bind the one unknown of `expr == size` where it is linear; whether that was done."""
    rest = expr.substitute(bound)
    unknown = rest.variables()
    if len(unknown) != 1 or not rest.is_affine_in(unknown[0]):
        return False
    value, remainder = divmod(size - rest.offset, rest.coefficient(unknown[0]))
    if remainder:
        return False
    bound[unknown[0]] = value
    return True


def _text(dims: Sequence[Expr]) -> str:
    return ", ".join(map(str, dims))
