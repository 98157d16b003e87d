"""An operator of the standard by others: determinants of small matrices."""

from __future__ import annotations

from tilework.frontends.onnx.defined import STANDARD, defined, wide
from tilework.frontends.onnx.node import Node

LARGEST = 8
"""Rows of a matrix: each is taken away by operators of its own."""


@defined("Det", STANDARD)
def determinant(node: Node) -> str:
    """Compute a determinant by elimination: the row with the largest first element is subtracted from the others, and
    taken away.

    The determinant is the product of these elements, negative where an odd number of rows was above them."""
    dims = node.dims(0)
    size = dims[-1].constant if len(dims) > 1 else None
    if size is None or dims[-2:] != dims[-1:] * 2 or not 1 <= size <= LARGEST:
        raise node.error(f"it takes square matrices of 1 to {LARGEST} rows")
    return f"""
Det (X) => (Y) {{
   matrix0 = {wide(node)} (X)
   none_float = Constant <value_float = 0.0> ()
   one_float = Constant <value_float = 1.0> ()
   nothing = CastLike (none_float, matrix0)
   product0 = CastLike (one_float, matrix0)
   opposite = Neg (product0)
   two = Constant <value_int = 2> ()
   zero = Constant <value_int = 0> ()
   front = Constant <value_ints = [0]> ()
   second = Constant <value_ints = [1]> ()
   end = Constant <value_ints = [{size}]> ()
   over_rows = Constant <value_ints = [-2]> ()
   over_columns = Constant <value_ints = [-1]> ()
   over_both = Constant <value_ints = [-2, -1]> ()
{"".join(_product(i, size - i) + (_elimination(i, size - i) if i < size - 1 else "") for i in range(size))}
   y = Squeeze (product{size}, over_both)
   Y = CastLike (y, X)
}}"""


def _product(i: int, size: int) -> str:
    """Lines that multiply the product with the element to divide by, and define its row."""
    return f"""
   column{i} = Slice (matrix{i}, front, second, over_columns)
   distance{i} = Abs (column{i})
   taken{i} = ArgMax <axis = -2> (distance{i})
   place{i} = Constant <value = int64[{size}, 1] {{{", ".join(map(str, range(size)))}}}> ()
   is_taken{i} = Equal (place{i}, taken{i})
   of_taken{i} = Where (is_taken{i}, matrix{i}, nothing)
   row{i} = ReduceSum (of_taken{i}, over_rows)
   element{i} = Slice (row{i}, front, second, over_columns)
   above{i} = Mod (taken{i}, two)
   is_even{i} = Equal (above{i}, zero)
   sign{i} = Where (is_even{i}, product0, opposite)
   factor{i} = Mul (sign{i}, element{i})
   product{i + 1} = Mul (product{i}, factor{i})"""


def _elimination(i: int, size: int) -> str:
    """Lines that define what is left of a matrix without that row, and without the first column."""
    return f"""
   last{i} = Constant <value_ints = [{size - 1}]> ()
   upper{i} = Slice (matrix{i}, front, last{i}, over_rows)
   lower{i} = Slice (matrix{i}, second, end, over_rows)
   left_place{i} = Constant <value = int64[{size - 1}, 1] {{{", ".join(map(str, range(size - 1)))}}}> ()
   is_above{i} = Less (left_place{i}, taken{i})
   left{i} = Where (is_above{i}, upper{i}, lower{i})
   is_zero{i} = Equal (element{i}, nothing)
   divisor{i} = Where (is_zero{i}, product0, element{i})
   first{i} = Slice (left{i}, front, second, over_columns)
   times{i} = Div (first{i}, divisor{i})
   subtracted{i} = Mul (times{i}, row{i})
   eliminated{i} = Sub (left{i}, subtracted{i})
   matrix{i + 1} = Slice (eliminated{i}, second, end, over_columns)"""
