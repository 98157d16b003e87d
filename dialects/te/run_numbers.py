"""How a te kernel numbers runs of equal elements that stand behind one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.dialects.te.builder_statements import Buffer, allocate


def number_runs(k: KernelBuilder, begins: Tensor) -> Tensor:
    """The number of the run, from 0 on, that each element is in [count], given where runs begin [count]."""

    def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
        given, numbers = (Buffer(k, buffer, dtype) for buffer, dtype in zip(buffers, (i1, i64), strict=True))
        last = allocate(k, i64)
        last.store(0, -1)

        def number(i: Expr) -> None:
            last.store(0, last[0] + k.cast(given[i], i64))
            numbers.store(i, last[0])

        k.for_each([here(begins.dims[0])], number)

    [result] = k.extern("runs", [begins], [tensor_type(begins.dims, i64)], write)
    return result
