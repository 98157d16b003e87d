"""Products of two matrices that sum far more terms than either side of the result is long.

That of a matrix and itself, transposed, is symmetric: where it is computed in blocks, those below the diagonal are
known from the ones above. Such a product asks in its body which block an element is in:

    te.compute "c" [i: 100, j: 100] reduce [k: n] {
      %p = te.if_then_else [j floordiv 32 - i floordiv 32 >= 0] : f32 {
        the product of %x[k, i] and %x[k, j]
      } else { 0 }
      te.reduce add %p
"""

from __future__ import annotations

from tilework.algebra.index_expr import Expr, var
from tilework.algebra.predicate import Predicate, at_least
from tilework.dialects.te import ComputeOp, IfThenElseOp

TALL = 8
"""How many times as long as either side of the result the sum is, at least."""

BLOCK = 32
"""The blocks of a symmetric product have so many elements along each side."""


def sums_much(rows: Expr, columns: Expr, length: Expr) -> bool:
    """Whether a product with so many rows and columns, known numbers, sums far more terms for each of its elements."""
    sides = [rows.constant, columns.constant]
    if None in sides or max(side for side in sides if side is not None) < 2:
        return False
    return length.constant is None or all(TALL * side <= length.constant for side in sides if side is not None)


def is_tall_product(compute: ComputeOp) -> bool:
    """Whether a stage sums terms of two matrices' elements, along one axis that is much longer than its others."""
    if len(compute.results) > 1 or len(compute.spatial) != 2 or len(compute.reduction) != 1:
        return False
    (row, rows), (column, columns) = compute.spatial
    [(summed, length)] = compute.reduction
    read = [{axis for e in read.exprs for axis in e.variables()} for read in compute.reads]
    pairs = [{row, summed}, {column, summed}]
    return sums_much(rows, columns, length) and read in (pairs, pairs[::-1])


def symmetric_block(compute: ComputeOp) -> int | None:
    """The size of blocks of which a tall product computes those on the diagonal and above; None if it computes all."""
    first = compute.body.block.first_op
    is_asked = isinstance(first, IfThenElseOp) and first.conditions == (is_on_or_above_diagonal(compute),)
    return BLOCK if is_asked else None


def is_on_or_above_diagonal(compute: ComputeOp) -> Predicate:
    """Whether the block that an element is in is on the diagonal or above."""
    (row, _), (column, _) = compute.spatial
    return at_least(var(column) // BLOCK, var(row) // BLOCK)
