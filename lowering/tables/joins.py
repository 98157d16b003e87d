"""The kernels that `bag.join` is: how many pairs of rows there are, and which."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import at_least
from tilework.dialects.bag import DictType, JoinOp, PackOp, bag_of
from tilework.dialects.graph import SizeOp
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.dialects.te.builder_statements import Buffer, allocate, index_of, number_of, when
from tilework.lowering.tables.rows import Rows

Here = Callable[[Expr], Expr]


def pairs(rows: Rows, op: JoinOp, left: PackOp, right: PackOp) -> tuple[SSAValue, SSAValue]:
    """The numbers of the left row and of the right row of each pair.

    The right rows are sorted by their keys, by counting. So it is known where those with a key begin, and how many
    pairs there are; a second kernel, whose results have this size, writes them.
    """
    a, b = rows.column(left, op.keys[0]), rows.column(right, op.keys[1])
    key = bag_of(left.result).columns[op.keys[0]]
    assert isinstance(key, DictType)
    begins, order, count = rows.kernels("count", [a, b], _Count(key.size.data).write)
    told = rows.insert(SizeOp(op.rows.data, count))
    at, other = rows.kernels("pairs", [a, begins, order, told], _write_pairs)
    return at, other


class _Count:
    """Sorts the right rows by key; where the rows with a key begin is at its code, and the next key's behind it."""

    def __init__(self, size: int):
        self._size = size

    def write(self, k: KernelBuilder, left: Tensor, right: Tensor) -> Sequence[Tensor]:
        """Append the stage that makes where keys begin, the order of the right rows, and the number of pairs."""
        size = self._size

        def write(buffers: Sequence[SSAValue], here: Here) -> None:
            types = (i32, i32, i64, i64, i64, i64)
            a, b, begins, order, count, ends = (Buffer(k, x, t) for x, t in zip(buffers, types, strict=True))
            rows, others = here(left.dims[0]), here(right.dims[0])

            def clear(c: Expr) -> None:
                begins.store(c, 0)

            def number(m: Expr) -> None:
                order.store(m, 0)
                code = index_of(k, b[m, 0])
                with when(k, at_least(code, 0)):
                    begins.store(code + 1, begins[code + 1] + 1)

            def add(c: Expr) -> None:
                begins.store(c + 1, begins[c + 1] + begins[c])

            def begin(c: Expr) -> None:
                ends.store(c, begins[c])

            def place(m: Expr) -> None:
                code = index_of(k, b[m, 0])
                with when(k, at_least(code, 0)):
                    order.store(index_of(k, ends[code]), number_of(k, m))
                    ends.store(code, ends[code] + 1)

            def total(n: Expr) -> None:
                code = index_of(k, a[n, 0])
                with when(k, at_least(code, 0)):
                    count.store([], count[[]] + (begins[code + 1] - begins[code]))

            k.for_each([const(size + 1)], clear)
            k.for_each([others], number)
            k.for_each([const(size)], add)
            k.for_each([const(size + 1)], begin)
            k.for_each([others], place)
            count.store([], 0)
            k.for_each([rows], total)

        table = tensor_type([size + 1], i64)
        types = [table, tensor_type([right.dims[0]], i64), tensor_type([], i64), table]
        return k.extern("count", [left, right], types, write)[:3]


def _write_pairs(k: KernelBuilder, left: Tensor, begins: Tensor, order: Tensor, told: Tensor) -> Sequence[Tensor]:
    """Append the stage that makes the pairs, one behind the other."""

    def write(buffers: Sequence[SSAValue], here: Here) -> None:
        types = (i32, i64, i64, i1, i64, i64)
        a, first, rows, _, at, other = (Buffer(k, x, t) for x, t in zip(buffers, types, strict=True))
        end = allocate(k, i64)
        end.store(0, 0)

        def pair(n: Expr) -> None:
            code = index_of(k, a[n, 0])
            with when(k, at_least(code, 0)):
                begin, behind = index_of(k, first[code]), index_of(k, end[0])
                count = index_of(k, first[code + 1]) - begin

                def each(i: Expr) -> None:
                    at.store(behind + i, number_of(k, n))
                    other.store(behind + i, rows[begin + i])

                k.for_each([count], each)
                end.store(0, number_of(k, behind + count))

        k.for_each([here(left.dims[0])], pair)

    made = tensor_type(dims_of(told.value.type), i64)
    return k.extern("pairs", [left, begins, order, told], [made, made], write)
