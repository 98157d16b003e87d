"""What a function of a row makes of each row: the kernels that `bag.map` and `bag.filter` are."""

from __future__ import annotations

from functools import partial

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr
from tilework.dialects.bag import PackOp, RowsOp
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor
from tilework.lowering.tables.rows import Rows, inlined, places_of


def columns_made(rows: Rows, op: RowsOp, bag: PackOp) -> list[SSAValue]:
    """What the function makes, each as a tensor of one column."""
    tensors, places = places_of(bag, op.names)

    def write(which: int, k: KernelBuilder, *arguments: Tensor) -> Tensor:
        scalars = arguments[len(tensors) :]

        def element(n: Expr, j: Expr) -> Scalar:
            columns = [arguments[tensor][n, at] for tensor, at in (places[name] for name in op.names)]
            return inlined(k, op.body.block, [*columns, *(scalar[()] for scalar in scalars)])[which]

        return k.compute("row", (arguments[0].dims[0], 1), element)

    operands = [*tensors, *op.scalars]
    return [rows.kernel("row", operands, partial(write, i)) for i in range(len(op.yielded))]
