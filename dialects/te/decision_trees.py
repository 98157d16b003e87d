"""How a te kernel walks down decision trees: one definition for pipelines and for ONNX."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32, f64, i64
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Expr
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor

JOINED = ("sum", "min", "max")
"""How the values of trees become one."""


def walk_trees(
    k: KernelBuilder,
    x: Tensor,
    roots: Tensor,
    nodes: Sequence[Tensor],
    depth: int,
    joined: str = "sum",
    rounded_to: Attribute = f32,
) -> Tensor:
    """For each row of x [rows, columns] what the trees' values come to [rows, targets], one of `JOINED`.

    roots: where each tree begins. nodes: for each node its column, threshold, the nodes to the left and to the right,
    whether a missing number goes left, and a row of values [nodes, targets], those of leaves. From a node `depth` steps
    go to the left where the number, `rounded_to` a type, is at most the threshold, else to the right; a leaf goes to
    itself. A step is arithmetic: a choice between what is loaded would be a branch, and no processor predicts those.
    """
    columns, thresholds, left, right, missing_left, values = nodes

    def leaf(n: Expr, t: Expr) -> Scalar:
        at = roots[(t,)]
        for _ in range(depth):
            number = k.cast(k.cast(x[n, columns[(at,)]], rounded_to), f64)
            is_missing, is_low = number.compare("ne", number), number.compare("le", thresholds[(at,)])
            goes_left = k.cast(is_low, i64) + k.cast(is_missing, i64) * k.cast(missing_left[(at,)], i64)
            at = right[(at,)] + (left[(at,)] - right[(at,)]) * goes_left
        return at

    leaves = k.compute("leaf", (x.dims[0], roots.dims[0]), leaf)
    join = {"sum": k.sum, "min": k.reduce_min, "max": k.reduce_max}[joined]

    def element(n: Expr, j: Expr) -> Reduction:
        def value(t: Expr) -> Scalar:
            return values[leaves[n, t], j]

        return join(roots.dims, value)

    return k.compute("trees", (x.dims[0], values.dims[1]), element)
