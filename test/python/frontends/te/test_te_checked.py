"""te in Python: functions built with checks of their subscripts, also where data say where."""

import numpy as np
import pytest

import tilework as tw
from tilework import te
from tilework.algebra.errors import TileworkError
from tilework.runtime.arrays import dtype_named
from tilework.runtime.cache import KernelCache


@pytest.fixture
def build(tmp_path):
    """Builds a checked function, called `take`."""
    return lambda s, args, **options: tw.build(
        s, args, name="take", cache=KernelCache(tmp_path), **{"checked": True, **options}
    )


def gather(schedule=lambda s, B: None, dtype="int32"):
    A, I = te.placeholder((8,), name="A"), te.placeholder((6,), dtype, name="I")  # noqa: E741
    B = te.compute((6,), lambda i: A[I[i]] * 2, name="B")
    s = te.create_schedule(B.op)
    schedule(s[B], B)
    return s, [A, I, B]


SCHEDULES = {
    "plain": lambda s, B: None,
    "parallel": lambda s, B: s.parallel(B.op.axis[0]),
    "vectorized": lambda s, B: s.vectorize(B.op.axis[0]),
    "split": lambda s, B: s.unroll(s.split(B.op.axis[0], factor=4)[1]),
}


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_data_out_of_bounds(build, name, dtype):
    f = build(*gather(SCHEDULES[name], dtype))
    a, result = np.arange(8, dtype=np.float32), np.zeros(6, np.float32)
    f(a, np.array([0, 7, 3, 3, 1, 5], dtype), result)
    np.testing.assert_array_equal(result, [0, 14, 6, 6, 2, 10])
    for wrong in (8, 100, *(() if dtype.startswith("u") else (-1,))):
        message = (
            rf"^take, in .*: load from %A\[%I\] out of bounds: dimension 0 has 8 elements, the subscript is {wrong}$"
        )
        with pytest.raises(TileworkError, match=message):
            f(a, np.array([0, 7, 3, wrong, 1, 5], dtype), result)
    f(a, np.array([0, 7, 3, 3, 1, 5], dtype), result)  # as if nothing had been
    np.testing.assert_array_equal(result, [0, 14, 6, 6, 2, 10])


def test_code_that_is_kept_is_checked_or_not(build):
    """One function and the other have no code in common."""
    checked, unchecked = build(*gather()), build(*gather(), checked=False)
    assert checked.info.checks and not unchecked.info.checks
    assert checked.object_code != unchecked.object_code
    a, result = np.arange(8, dtype=np.float32), np.zeros(6, np.float32)
    unchecked(a, np.array([0, 7, 3, 3, 1, 5], np.int32), result)
    np.testing.assert_array_equal(result, [0, 14, 6, 6, 2, 10])


def test_what_stays_inside_is_not_checked(build):
    """Tails of tiles and symbolic sizes among it."""
    n = te.var("n")
    A, B = te.placeholder((n, 16), name="A"), te.placeholder((16, 13), name="B")
    k = te.reduce_axis((0, 16), "k")
    C = te.compute((n, 13), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    xo, yo, xi, yi = s[C].tile(*C.op.axis, 4, 8)
    s[C].vectorize(yi)
    s[C].parallel(xo)
    f = build(s, [A, B, C])
    assert f.info.checks == ()
    a, b = (np.random.default_rng(0).integers(-3, 4, shape).astype(np.float32) for shape in ((7, 16), (16, 13)))
    c = np.zeros((7, 13), np.float32)
    f(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_conditions_guard(build):
    """A load that a condition leaves out is none: `te.Select` included, whose arms are computed both otherwise."""
    A, I = te.placeholder((8,), name="A"), te.placeholder((6,), "int32", name="I")  # noqa: E741
    k = te.reduce_axis((0, 6), "k")
    inside = lambda i: te.all(I[i] >= 0, I[i] < 8)  # noqa: E731
    made = [
        te.compute((6,), lambda i: te.if_then_else(inside(i), A[I[i]], -1.0), name="B"),
        te.compute((6,), lambda i: te.Select(inside(i), A[I[i]], -1.0), name="C"),
        te.compute((1,), lambda _: te.sum(A[I[k]], axis=k, where=inside(k)), name="D"),
    ]
    f = build(te.create_schedule([t.op for t in made]), [A, I, *made])
    a, i = np.arange(8, dtype=np.float32), np.array([0, 8, -1, 7, 100, 3], np.int32)
    b, c, d = np.zeros(6, np.float32), np.zeros(6, np.float32), np.zeros(1, np.float32)
    f(a, i, b, c, d)
    np.testing.assert_array_equal(b, [0, -1, -1, 7, -1, 3])
    np.testing.assert_array_equal(c, b)
    assert d == 10


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "bool", "int4"])
def test_every_element_type(build, dtype):
    A, I = te.placeholder((8,), dtype, name="A"), te.placeholder((6,), "int32", name="I")  # noqa: E741
    B = te.compute((6,), lambda i: A[I[i]], name="B")
    f = build(te.create_schedule(B.op), [A, I, B])
    kind = dtype_named(dtype)
    a, result = np.arange(8).astype(kind), np.zeros(6, kind)
    f(a, np.array([0, 7, 3, 3, 1, 5], np.int32), result)
    np.testing.assert_array_equal(result, a[[0, 7, 3, 3, 1, 5]])
    with pytest.raises(TileworkError, match="the subscript is 8$"):
        f(a, np.array([0, 7, 3, 8, 1, 5], np.int32), result)


def test_stores_where_data_say(build):
    """Such a store is left out, and no memory beside the result is written."""
    A, I = te.placeholder((6,), name="A"), te.placeholder((6,), "int32", name="I")  # noqa: E741

    def write(ins, outs):
        ib = te.ir_builder.create()
        a, i, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 4, name="z") as z:
            b[z] = 0.0
        with ib.for_range(0, 6, name="k") as k:
            b[i[k]] = b[i[k]] + a[k]
        return ib.get()

    B = te.extern((4,), [A, I], write, dtype="float32", name="B")
    f = build(te.create_schedule(B.op), [A, I, B])
    a, home = np.arange(6, dtype=np.float32), np.full(20, 77, np.float32)
    f(a, np.array([0, 1, 2, 3, 0, 1], np.int32), home[8:12])
    np.testing.assert_array_equal(home[8:12], [4, 6, 2, 3])
    for wrong in (-1, 4, -5):
        message = (
            rf"in k: (load from|store to) %B\[%I\] out of bounds: dimension 0 has 4 elements, the subscript is {wrong}$"
        )
        with pytest.raises(TileworkError, match=message):
            f(a, np.array([0, 1, wrong, 3, 0, 1], np.int32), home[8:12])
    assert (home[:8] == 77).all() and (home[12:] == 77).all()


def test_two_dimensions_and_the_one_that_is_left(build):
    A, I = te.placeholder((4, 5), name="A"), te.placeholder((6, 2), "int64", name="I")  # noqa: E741
    B = te.compute((6,), lambda i: A[I[i, 0], I[i, 1]], name="B")
    f = build(te.create_schedule(B.op), [A, I, B])
    a, result = np.arange(20, dtype=np.float32).reshape(4, 5), np.zeros(6, np.float32)
    places = np.array([[0, 0], [3, 4], [1, 2], [2, 3], [0, 4], [3, 0]])
    f(a, places, result)
    np.testing.assert_array_equal(result, a[places[:, 0], places[:, 1]])
    for row, wrong, size in ((0, 4, 4), (1, 5, 5), (1, -1, 5)):
        bad = places.copy()
        bad[3, row] = wrong
        with pytest.raises(TileworkError, match=rf"dimension {row} has {size} elements, the subscript is {wrong}$"):
            f(a, bad, result)
