"""Random te programs whose stages threads can share out: products, sums of rows, and stages that read across rows."""

# The functions of te take indices, whose types lambdas do not name.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilework import te
from tilework.tools.fuzz.draw import Draw

SIZES = (1, 2, 3, 5, 7, 8, 12, 16, 17)


@dataclass(frozen=True)
class Program:
    """What is computed: arguments, results last; the stages between, and the one that is scheduled first."""

    arguments: list[te.Tensor]
    inner: list[te.Tensor]
    result: te.Tensor


def random_program(draw: Draw) -> Program:
    """One of the kinds, of random sizes."""
    kind: Callable[[Draw], Program] = draw.choice((product, across_rows, row_sums))
    return kind(draw)


def product(draw: Draw) -> Program:
    """A product of matrices, with something done to the sums perhaps."""
    m, n, depth = (draw.choice(SIZES) for _ in range(3))
    a, b = te.placeholder((m, depth), name="A"), te.placeholder((depth, n), name="B")
    k = te.reduce_axis((0, depth), name="k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    if draw.chance(40):
        d = te.compute((m, n), lambda i, j: te.max(c[i, j], a[i, 0]) + 1, name="D")
        return Program([a, b, d], [c], d)
    return Program([a, b, c], [], c)


def across_rows(draw: Draw) -> Program:
    """A stage of which each element is read by another thread than the one that computes it."""
    m, n = draw.choice(SIZES), draw.choice(SIZES)
    a = te.placeholder((m, n), name="A")
    b = te.compute((m, n), lambda i, j: a[i, j] * 2, name="B")
    shift = draw.choice((0, 1, 3))
    c = te.compute((m, n), lambda i, j: b[i, n - 1 - j] + b[i, (j + shift) % n], name="C")
    return Program([a, c], [b], c)


def row_sums(draw: Draw) -> Program:
    """A sum or a maximum for each row."""
    m, n = draw.choice(SIZES), draw.choice(SIZES)
    a, k = te.placeholder((m, n), name="A"), te.reduce_axis((0, n), name="k")
    joined = draw.choice((te.sum, te.max))
    b = te.compute((m,), lambda i: joined(a[i, k], axis=k), name="B")
    return Program([a, b], [], b)
