"""Virtual threads in Python: schedules that bind to them are compiled, and compute what numpy does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tilework as tw
from tilework import te


class Product:
    """C = A @ B, computed in a cache."""

    def __init__(self, n: int, m: int, length: int):
        self.A, self.B = te.placeholder((n, length), name="A"), te.placeholder((length, m), name="B")
        k = te.reduce_axis((0, length), "k")
        self.C = te.compute((n, m), lambda i, j: te.sum(self.A[i, k] * self.B[k, j], axis=k), name="C")
        self.s = te.create_schedule(self.C.op)
        self.cache = self.s.cache_write(self.C, "local")

    def place(self, axis: te.IterVar) -> te.Tensor:
        """The cache at an axis, its reduction in parts of 8, each with copies of the operands; that of A."""
        s, cache = self.s, self.cache
        s[cache].compute_at(s[self.C], axis)
        outer, inner = s[cache].split(s[cache].op.reduce_axis[0], 8)
        s[cache].reorder(outer, *s[cache].op.axis, inner)
        copies = [s.cache_read(operand, "local", [cache]) for operand in (self.A, self.B)]
        for copy in copies:
            s[copy].compute_at(s[cache], outer)
        return copies[0]


def rows(p: Product) -> None:
    outer, _ = p.s[p.C].split(p.C.op.axis[0], nparts=2)
    p.s[p.C].bind(outer, te.thread_axis("vthread"))
    p.place(outer)


def rows_inside_columns(p: Product) -> None:
    i, j = p.C.op.axis
    io, jo, ii, ji = p.s[p.C].tile(i, j, 4, 4)
    p.s[p.C].reorder(jo, io, ii, ji)
    p.s[p.C].bind(io, te.thread_axis("cthread"))
    p.place(io)


def rows_and_columns(p: Product) -> None:
    i, j = p.C.op.axis
    io, ii = p.s[p.C].split(i, nparts=2)
    jo, ji = p.s[p.C].split(j, nparts=3)
    p.s[p.C].reorder(io, jo, ii, ji)
    p.s[p.C].bind(io, te.thread_axis("vthread"))
    p.s[p.C].bind(jo, te.thread_axis("vthread"))
    p.place(jo)


def lanes(p: Product) -> None:
    outer, inner = p.s[p.C].split(p.C.op.axis[0], 2)
    p.s[p.C].parallel(outer)
    p.s[p.C].bind(inner, te.thread_axis("vthread"))
    p.place(inner)
    p.s[p.C].vectorize(p.C.op.axis[1])


def early(p: Product) -> None:
    outer, _ = p.s[p.C].split(p.C.op.axis[0], nparts=2)
    p.s[p.C].bind(outer, te.thread_axis("vthread"))
    p.s[p.place(outer)].double_buffer()


def many(p: Product) -> None:
    p.s[p.C].bind(p.C.op.axis[1], te.thread_axis("vthread"))
    p.place(p.C.op.axis[0])


def a_row_each(p: Product) -> None:
    p.s[p.C].bind(p.C.op.axis[0], te.thread_axis("vthread"))
    p.s[p.C].bind(p.C.op.axis[1], te.thread_axis("vthread"))
    p.place(p.C.op.axis[1])


@pytest.mark.parametrize("schedule", [rows, rows_inside_columns, rows_and_columns, lanes, early, many, a_row_each])
@pytest.mark.parametrize("n, m, length", [(8, 18, 16), (7, 9, 13), (1, 1, 1), (4, 0, 8)])
def test_products(run_te, schedule: Callable[[Product], None], n: int, m: int, length: int):
    p = Product(n, m, length)
    schedule(p)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((n, length), (length, m)))
    assert "vthread" not in str(tw.lower(p.s, [p.A, p.B, p.C]))
    np.testing.assert_array_equal(run_te(p.s, [p.A, p.B, p.C], a, b), a @ b)


def test_threads_share_loops_and_what_is_the_same_for_all():
    p = Product(8, 18, 16)
    rows(p)
    found = str(tw.lower(p.s, [p.A, p.B, p.C]))
    assert '%A_local = memref.alloca() : memref<64xf32, "local">' in found  # 2 threads, 4 rows, 8 elements each
    assert '%B_local = memref.alloca() : memref<144xf32, "local">' in found
    assert found.count('"k.outer" {') == 1


def conv(rows: int):
    """A convolution with padding: conditions that depend on the row."""
    X = te.placeholder((rows, 12), name="X")
    W = te.placeholder((3, 3), name="W")
    inside = te.compute(
        (rows + 2, 14),
        lambda i, j: te.if_then_else(te.all(i >= 1, i < rows + 1, j >= 1, j < 13), X[i - 1, j - 1], 0.0),
        name="inside",
    )
    di, dj = te.reduce_axis((0, 3), "di"), te.reduce_axis((0, 3), "dj")
    Y = te.compute((rows, 12), lambda i, j: te.sum(inside[i + di, j + dj] * W[di, dj], axis=[di, dj]), name="Y")
    return X, W, inside, Y, te.create_schedule(Y.op)


@pytest.mark.parametrize("rows", [6, 7])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_conditions(run_te, rows: int, at: int):
    X, W, inside, Y, s = conv(rows)
    outer, inner = s[Y].split(Y.op.axis[0], nparts=3)
    s[Y].bind(outer, te.thread_axis("vthread"))
    s[inside].compute_at(s[Y], (outer, inner, Y.op.axis[1])[at])
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((rows, 12), (3, 3)))
    padded = np.pad(x, 1)
    expected = sum(padded[i : i + rows, j : j + 12] * w[i, j] for i in range(3) for j in range(3))
    np.testing.assert_array_equal(run_te(s, [X, W, Y], x, w), expected)


@pytest.mark.parametrize("inner", [True, False])
def test_rows_as_many_as_an_input_has(run_te, inner: bool):
    n = te.var("n")
    X = te.placeholder((n, 4), name="X")
    Y = te.compute((n, 4), lambda i, j: X[i, j] * 2, name="Y")
    Z = te.compute((n, 4), lambda i, j: Y[i, j] + X[i, 0], name="Z")
    s = te.create_schedule(Z.op)
    threads = s[Z].split(Z.op.axis[0], 4)[1] if inner else s[Z].split(Z.op.axis[0], nparts=3)[0]
    s[Z].bind(threads, te.thread_axis("vthread"))
    s[Y].compute_at(s[Z], threads if inner else s[Z].leaf_iter_vars[1])
    for rows in (0, 1, 4, 7, 8):
        x = np.random.default_rng(rows).integers(-8, 9, (rows, 4)).astype(np.float32)
        np.testing.assert_array_equal(run_te(s, [X, Z], x, shapes=[(rows, 4)]), x * 2 + x[:, :1])


def test_a_refusal_names_the_line_that_binds():
    X = te.placeholder((6, 8), name="X")
    k = te.reduce_axis((0, 8), "k")
    Y = te.compute((6,), lambda i: te.sum(X[i, k], axis=k), name="Y")
    s = te.create_schedule(Y.op)
    outer, _ = s[Y].split(Y.op.axis[0], 4, tail="shift")
    s[Y].bind(outer, te.thread_axis("cthread"))  # here
    message = "^loop 'i.outer' cannot be virtual threads that are interleaved: one of them writes an element of %Y that"
    with pytest.raises(te.ScheduleError, match=message) as refusal:
        tw.build(s, [X, Y])
    here = next(i for i, line in enumerate(open(__file__, encoding="utf-8"), 1) if line.endswith("# here\n"))
    assert refusal.value.__notes__[0] == f'File "{__file__}", line {here}'


def test_names_of_thread_axes():
    A = te.placeholder((4, 4), name="A")
    B = te.compute((4, 4), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("cthread"))
    assert 'schedule.bind %i "vthread"' in str(s)
    known = "blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, vthread, cthread"
    with pytest.raises(tw.UsageError) as refusal:
        s[B].bind(B.op.axis[1], te.thread_axis("pipeline"))
    assert str(refusal.value) == f"bind of axis 'j': 'pipeline' is no thread axis; known: {known}"
