"""The reductions over rows that `matrix.summary` is."""

from __future__ import annotations

from collections.abc import Callable

from tilework.algebra.index_expr import Expr
from tilework.dialects.matrix.folds import STATES
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor


def reductions(k: KernelBuilder, x: Tensor, shift: Tensor) -> list[Tensor]:
    """Append the six reductions of the rows of x, for each column; an element that is NaN is in the first alone."""
    rows, dtype = x.dims[0], x.dtype

    def where_known(made: Callable[[Scalar, Scalar], Scalar | float], absent: float) -> Callable[[Expr, Expr], Scalar]:
        def element(n: Expr, j: Expr) -> Scalar:
            v = x[n, j]
            return k.select(v.compare("ne", v), k.constant(absent, dtype), made(v, shift[(j,)]))

        return element

    def about_shift(v: Scalar, s: Scalar) -> Scalar:
        return v - s

    def square(v: Scalar, s: Scalar) -> Scalar:
        return about_shift(v, s) * about_shift(v, s)

    infinity = float("inf")
    folds: list[tuple[Callable[..., Reduction], Callable[[Expr, Expr], Scalar]]] = [
        (k.sum, lambda n, j: k.constant(1.0, dtype)),
        (k.sum, where_known(lambda v, s: 1.0, 0.0)),
        (k.sum, where_known(about_shift, 0.0)),
        (k.sum, where_known(square, 0.0)),
        (k.reduce_min, where_known(lambda v, s: v, infinity)),
        (k.reduce_max, where_known(lambda v, s: v, -infinity)),
    ]

    def reduced(fold: Callable[..., Reduction], element: Callable[[Expr, Expr], Scalar]) -> Callable[[Expr], Reduction]:
        def of_column(j: Expr) -> Reduction:
            def of_row(n: Expr) -> Scalar:
                return element(n, j)

            return fold((rows,), of_row)

        return of_column

    return [k.compute(name, shift.dims, reduced(*each)) for name, each in zip(STATES, folds, strict=True)]
