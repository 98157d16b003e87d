"""Strassen's product of two 2 x 2 matrices, whose elements may be matrices, in seven multiplications.

    c[i] = sum over p of output[i, p] (sum over s of data[p, s] a[s]) (sum over t of weight[p, t] b[t])

The quarters a[s], b[t], c[i] are counted row by row. Gaussian elimination is not optimal, V. Strassen, 1969.
"""

from __future__ import annotations

from fractions import Fraction

from tilework.algebra.winograd import Matrix


def _matrix(*rows: tuple[int, ...]) -> Matrix:
    return tuple(tuple(map(Fraction, row)) for row in rows)


DATA = _matrix(
    *((1, 0, 0, 1), (0, 0, 1, 1), (1, 0, 0, 0), (0, 0, 0, 1)),
    *((1, 1, 0, 0), (-1, 0, 1, 0), (0, 1, 0, -1)),
)

WEIGHT = _matrix(
    *((1, 0, 0, 1), (1, 0, 0, 0), (0, 1, 0, -1), (-1, 0, 1, 0)),
    *((0, 0, 0, 1), (1, 1, 0, 0), (0, 0, 1, 1)),
)

OUTPUT = _matrix((1, 0, 0, 1, -1, 0, 1), (0, 0, 1, 0, 1, 0, 0), (0, 1, 0, 1, 0, 0, 0), (1, -1, 1, 0, 0, 1, 0))

PRODUCTS = len(DATA)

DATA_ADDITIONS, OUTPUT_ADDITIONS = (sum(sum(map(bool, row)) - 1 for row in m) for m in (DATA, OUTPUT))
