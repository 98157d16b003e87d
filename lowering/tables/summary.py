"""The reductions over rows that `matrix.summary` is."""

from __future__ import annotations

from collections.abc import Callable

from tilework.algebra.index_expr import Expr
from tilework.dialects.matrix.folds import STATES
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor

Fold = Callable[..., Reduction]
Element = Callable[[Expr, Expr], Scalar]


def reductions(k: KernelBuilder, x: Tensor, shift: Tensor) -> list[Tensor]:
    """Append the six reductions of the rows of x, for each column; an element that is NaN is in the first alone."""
    dtype = x.dtype

    def where_known(made: Callable[[Scalar, Scalar], Scalar | float], absent: float) -> Element:
        def element(n: Expr, j: Expr) -> Scalar:
            v = x[n, j]
            return k.select(v.compare("ne", v), k.constant(absent, dtype), made(v, shift[(j,)]))

        return element

    def about_shift(v: Scalar, s: Scalar) -> Scalar:
        return v - s

    def square(v: Scalar, s: Scalar) -> Scalar:
        return about_shift(v, s) * about_shift(v, s)

    folds: list[tuple[Fold, Element]] = [
        (k.sum, lambda n, j: k.constant(1.0, dtype)),
        (k.sum, where_known(lambda v, s: 1.0, 0.0)),
        (k.sum, where_known(about_shift, 0.0)),
        (k.sum, where_known(square, 0.0)),
    ]
    sums = [_reduced(k, name, x, *each) for name, each in zip(STATES, folds, strict=False)]
    return [*sums, *extremes(k, x)]


def extremes(k: KernelBuilder, x: Tensor) -> list[Tensor]:
    """Append the least and the greatest of the rows of x that are not NaN, for each column."""

    def known_or(absent: float) -> Element:
        def element(n: Expr, j: Expr) -> Scalar:
            v = x[n, j]
            return k.select(v.compare("ne", v), k.constant(absent, x.dtype), v)

        return element

    infinity = float("inf")
    low, high = (k.reduce_min, known_or(infinity)), (k.reduce_max, known_or(-infinity))
    return [_reduced(k, name, x, *each) for name, each in zip(STATES[-2:], (low, high), strict=True)]


def _reduced(k: KernelBuilder, name: str, x: Tensor, fold: Fold, element: Element) -> Tensor:
    """Append the reduction of the elements of each column over the rows."""
    rows, columns = x.dims

    def of_column(j: Expr) -> Reduction:
        def of_row(n: Expr) -> Scalar:
            return element(n, j)

        return fold((rows,), of_row)

    return k.compute(name, (columns,), of_column)
