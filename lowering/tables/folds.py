"""The reductions over rows that `bag.fold` is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr
from tilework.dialects.bag import KINDS, FoldOp, PackOp
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor
from tilework.lowering.tables.rows import Place, WriteAll, inlined, places_of


def reductions_of_rows(op: FoldOp, bag: PackOp) -> tuple[list[SSAValue], WriteAll]:
    """The operands of the kernel, and what writes its stages."""
    group = [] if op.group is None else [op.group.data]
    tensors, places = places_of(bag, [*op.names, *group])

    def write(k: KernelBuilder, *arguments: Tensor) -> list[Tensor]:
        return [_reduction(k, op, i, places, arguments) for i in range(len(op.kinds))]

    return [*tensors, *op.scalars], write


def _reduction(
    k: KernelBuilder, op: FoldOp, result: int, places: Mapping[str, Place], arguments: Sequence[Tensor]
) -> Tensor:
    """Append the reduction that makes one result."""
    kind = op.kinds.data[result].data
    nothing = KINDS[kind][1]
    folds: Mapping[str, Callable[..., Reduction]] = {"add": k.sum, "min": k.reduce_min, "max": k.reduce_max}
    scalars = arguments[len(arguments) - len(op.scalars) :]
    rows = arguments[0].dims[0]

    def value(n: Expr) -> Scalar:
        columns = [arguments[which][n, at] for which, at in (places[name] for name in op.names)]
        return inlined(k, op.body.block, [*columns, *(scalar[()] for scalar in scalars)])[result]

    if op.group is None:
        return k.compute(kind, (), lambda: folds[kind]((rows,), value))
    which, at = places[op.group.data]

    def of_group(j: Expr) -> Reduction:
        def of_row(n: Expr) -> Scalar:
            code = arguments[which][n, at]
            return k.select(code.compare("eq", k.index(j, code.dtype)), value(n), nothing)

        return folds[kind]((rows,), of_row)

    return k.compute(kind, op.shape, of_group)
