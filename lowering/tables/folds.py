"""The reductions over rows that `bag.fold` is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import f64
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import at_least
from tilework.dialects.bag import KINDS, FoldOp, PackOp
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor
from tilework.dialects.te.builder_statements import Buffer, index_of, when
from tilework.lowering.tables.rows import Place, WriteAll, inlined, places_of


def reductions_of_rows(op: FoldOp, bag: PackOp) -> tuple[list[SSAValue], WriteAll]:
    """The operands of the kernel, and what writes its stages."""
    group = [] if op.group is None else [op.group.data]
    tensors, places = places_of(bag, [*op.names, *group])

    def write(k: KernelBuilder, *arguments: Tensor) -> Sequence[Tensor]:
        if op.group is not None:
            return _groups(k, op, places, arguments)
        return [_reduction(k, op, i, places, arguments) for i in range(len(op.kinds))]

    return [*tensors, *op.scalars], write


def _reduction(
    k: KernelBuilder, op: FoldOp, result: int, places: Mapping[str, Place], arguments: Sequence[Tensor]
) -> Tensor:
    """Append the reduction that makes one result."""
    kind = op.kinds.data[result].data
    folds: Mapping[str, Callable[..., Reduction]] = {"add": k.sum, "min": k.reduce_min, "max": k.reduce_max}
    scalars = arguments[len(arguments) - len(op.scalars) :]
    rows = arguments[0].dims[0]

    def value(n: Expr) -> Scalar:
        columns = [arguments[which][n, at] for which, at in (places[name] for name in op.names)]
        return inlined(k, op.body.block, [*columns, *(scalar[()] for scalar in scalars)])[result]

    return k.compute(kind, (), lambda: folds[kind]((rows,), value))


def _groups(k: KernelBuilder, op: FoldOp, places: Mapping[str, Place], arguments: Sequence[Tensor]) -> list[Tensor]:
    """Append a stage that goes through the rows once, and joins what is made of each to the state of its group."""
    assert op.group is not None
    kinds, [size] = [kind.data for kind in op.kinds], op.shape
    by = places[op.group.data]

    def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
        types = [*(x.dtype for x in arguments), *(f64 for _ in kinds)]
        every = [Buffer(k, buffer, dtype) for buffer, dtype in zip(buffers, types, strict=True)]
        given, made = every[: len(arguments)], every[len(arguments) :]
        scalars = given[len(given) - len(op.scalars) :] if op.scalars else []

        def begin(j: Expr) -> None:
            for kind, state in zip(kinds, made, strict=True):
                state.store(j, KINDS[kind][1])

        def row(n: Expr) -> None:
            code = index_of(k, given[by[0]][n, by[1]])
            with when(k, at_least(code, 0)):
                columns = [given[which][n, at] for which, at in (places[name] for name in op.names)]
                values = inlined(k, op.body.block, [*columns, *(scalar[[]] for scalar in scalars)])
                for kind, state, value in zip(kinds, made, values, strict=True):
                    state.store(code, _joined(k, kind, state[code], value))

        k.for_each([const(size)], begin)
        k.for_each([here(arguments[0].dims[0])], row)

    return k.extern("groups", arguments, [tensor_type((size,), f64)] * len(kinds), write)


def _joined(k: KernelBuilder, kind: str, a: Scalar, b: Scalar) -> Scalar:
    return a + b if kind == "add" else k.min(a, b) if kind == "min" else k.max(a, b)
