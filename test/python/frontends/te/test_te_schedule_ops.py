"""Primitives that make and move stages, compiled and compared with numpy. Names as in test_schedule_schedule_ops."""

import numpy as np
import pytest

import tilework as tw
from tilework import te


def integers(*shape: int, seed: int = 0) -> np.ndarray:
    """Small integers, so that sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


def names(axes) -> list[str]:
    return [a.name for a in axes]


def product(n: int = 24, m: int = 20, length: int = 16):
    A, B = te.placeholder((n, length), name="A"), te.placeholder((length, m), name="B")
    k = te.reduce_axis((0, length), "k")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return A, B, C, k


# tvm: test_schedule_schedule_ops/schedule0 test_schedule_schedule_ops/schedule1 test_schedule_schedule_ops/schedule2
@pytest.mark.parametrize("placed", ["root", "inlined", "at"])
def test_schedule(run_te, placed):
    m, n = te.var("m"), te.var("n")
    A = te.placeholder((m, n), name="A")
    B = te.compute((m, n), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((m, n), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    xo, xi = s[C].split(C.op.axis[0], factor=4)
    if placed == "inlined":
        s[B].compute_inline()
    elif placed == "at":
        yo, yi = s[C].split(C.op.axis[1], factor=8)
        s[C].reorder(xo, yo, xi, yi)
        s[B].compute_at(s[C], yo)
    a = integers(10, 21)
    np.testing.assert_array_equal(run_te(s, [A, C], a, shapes=[a.shape]), (a + 1) * 2)


# tvm: test_schedule_schedule_ops/schedule_compute_inline
def test_schedule_compute_inline(run_te):
    A = te.placeholder((8, 9), name="A")
    B = te.compute((8, 9), lambda i, j: A[i, j] * A[i, j], name="B")
    C = te.compute((9, 8), lambda i, j: B[j, i] + A[j, i], name="C")
    s = te.create_schedule(C.op)
    s[B].compute_inline()
    a = integers(8, 9)
    np.testing.assert_array_equal(run_te(s, [A, C], a), (a * a + a).T)
    B0, B1 = te.compute((8, 9), lambda i, j: (A[i, j], A[i, j] * 2), name="B")
    D = te.compute((8, 9), lambda i, j: B0[i, j] + B1[i, j], name="D")
    s = te.create_schedule(D.op)
    s[B0].compute_inline()
    with pytest.raises(te.ScheduleError, match="^stage 'B' has 2 results and cannot be inlined"):
        tw.lower(s, [A, D])


# tvm: test_schedule_schedule_ops/inline_multi_reduce test_schedule_schedule_ops/inline_mixed
def test_inline_into_a_tuple_reduction(run_te):
    A, V = te.placeholder((5, 8), "int32", name="A"), te.placeholder((5, 8), name="V")
    largest = te.comm_reducer(
        lambda x, y: (te.Select(x[1] >= y[1], x[0], y[0]), te.Select(x[1] >= y[1], x[1], y[1])),
        lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
        name="argmax",
    )
    doubled = te.compute((5, 8), lambda i, j: V[i, j] * 2, name="doubled")
    k = te.reduce_axis((0, 8), "k")
    T0, T1 = te.compute((5,), lambda i: largest((A[i, k], doubled[i, k]), axis=k), name="T")
    s = te.create_schedule(T0.op)
    s[doubled].compute_inline()
    a, v = np.tile(np.arange(8, dtype=np.int32), (5, 1)), integers(5, 8)
    at, best = run_te(s, [A, V, T0, T1], a, v)
    np.testing.assert_array_equal(at, v.argmax(axis=1))
    np.testing.assert_array_equal(best, 2 * v.max(axis=1))


# tvm: test_schedule_schedule_ops/schedule_const_bound
def test_schedule_const_bound(run_te):
    A = te.placeholder((128,), name="A")
    B = te.compute((128,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].split(B.op.axis[0], factor=16)
    a = integers(128)
    np.testing.assert_array_equal(run_te(s, [A, B], a), a + 1)
    assert "loop.if" not in str(tw.lower(s, [A, B], simple_mode=True))


# tvm: test_schedule_schedule_ops/schedule_cache test_schedule_schedule_ops/schedule_middle_cache
def test_schedule_cache(run_te):
    A, B = te.placeholder((16, 12), name="A"), te.placeholder((16, 12), name="B")
    C = te.compute((16, 12), lambda i, j: A[i, j] * B[i, j], name="C")
    D = te.compute((16, 12), lambda i, j: C[i, 11 - j] + A[i, j], name="D")
    s = te.create_schedule(D.op)
    AA = s.cache_read(A, "local", readers=[C, D])
    CC = s.cache_read(C, "local", readers=[D])
    DD = s.cache_write(D, "local")
    xo, xi = s[D].split(D.op.axis[0], factor=4)
    for tensor in (AA, CC, DD):
        s[tensor].compute_at(s[D], xo)
    s[C].compute_at(s[D], xo)
    assert [stage.name for stage in s.stages] == ["A.local", "C", "C.local", "D.local", "D"]
    a, b = integers(16, 12), integers(16, 12, seed=1)
    np.testing.assert_array_equal(run_te(s, [A, B, D], a, b), (a * b)[:, ::-1] + a)


def test_a_cache_of_a_cache(run_te):
    A = te.placeholder((32, 8), name="A")
    B = te.compute((32, 8), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    outer = s.cache_read(A, "global", B)
    inner = s.cache_read(outer, "local", B)
    xo, xi = s[B].split(B.op.axis[0], factor=8)
    s[outer].compute_at(s[B], xo)
    s[inner].compute_at(s[B], xi)
    assert [stage.name for stage in s.stages] == ["A.global", "A.global.local", "B"]
    a = integers(32, 8)
    np.testing.assert_array_equal(run_te(s, [A, B], a), a + 1)


def test_names_of_stages_that_are_made_twice(run_te):
    A = te.placeholder((32, 8), name="A")
    B = te.compute((32, 8), lambda i, j: A[i, j] + 1, name="B")
    k = te.reduce_axis((0, 8), "k")
    C = te.compute((32,), lambda i: te.sum(B[i, k] * A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    first, second = s.cache_read(A, "local", B), s.cache_read(A, "local", C)
    ko, ki = s[C].split(k, factor=4)
    factored = s.rfactor(C, ki)
    koo, koi = s[factored].split(s[factored].op.reduce_axis[0], factor=1)
    again = s.rfactor(factored, koi)
    made = ["A.local", "B", "A.local_1", "C.rf.rf", "C.rf", "C"]
    assert [stage.name for stage in s.stages] == made and [s[t].name for t in (first, second, again)] == [
        "A.local",
        "A.local_1",
        "C.rf.rf",
    ]
    a = integers(32, 8)
    np.testing.assert_array_equal(run_te(s, [A, C], a), ((a + 1) * a).sum(axis=1))


def relaid(layout):
    A = te.placeholder((12, 16), name="A")
    B = te.compute((12, 16), lambda i, j: A[i, j] * 2, name="B")
    C = te.compute((12, 16), lambda i, j: B[i, j] + 1, name="C")
    s = te.create_schedule(C.op)
    layout(s[C])
    return A, C, s, s.cache_write(C, "global")


def split_rows(stage: te.Stage):
    outer, inner = stage.split(stage.op.axis[0], factor=4)
    stage.reorder(outer, stage.op.axis[1], inner)


def tiles_in_a_row(stage: te.Stage):
    xo, yo, xi, yi = stage.tile(*stage.op.axis, 5, 4)
    stage.fuse(xi, yi)


def transposed(stage: te.Stage):
    stage.reorder(stage.op.axis[1], stage.op.axis[0])


# tvm: test_schedule_schedule_ops/cache_relayout1 test_schedule_schedule_ops/cache_relayout2
# tvm: test_schedule_schedule_ops/cache_relayout3 test_schedule_schedule_ops/cache_relayout4
@pytest.mark.parametrize(
    ("layout", "axes"),
    [
        (split_rows, ["i.outer", "j", "i.inner"]),
        (tiles_in_a_row, ["i.outer", "j.outer", "i.inner.j.inner"]),
        (transposed, ["j", "i"]),
    ],
)
def test_cache_relayout(run_te, layout, axes):
    A, C, s, cache = relaid(layout)
    assert names(cache.op.axis) == names(s[cache].leaf_iter_vars) == axes
    assert names(s[C].leaf_iter_vars) == names(s[C].op.axis) == ["i", "j"]
    s[cache].vectorize(cache.op.axis[-1])
    s[C].vectorize(s[C].op.axis[1])
    a = integers(12, 16)
    np.testing.assert_array_equal(run_te(s, [A, C], a), 2 * a + 1)


def test_a_cache_after_a_reorder_that_changed_nothing(run_te):
    A, C, s, cache = relaid(lambda stage: stage.reorder(*stage.op.axis))
    assert cache.shape == (12, 16) and names(s[C].leaf_iter_vars) == ["i", "j"]
    s[C].split(s[C].op.axis[0], factor=5)
    a = integers(12, 16)
    np.testing.assert_array_equal(run_te(s, [A, C], a), 2 * a + 1)


def test_shapes_of_new_tensors():
    *_, s, cache = relaid(split_rows)
    assert cache.shape == (3, 16, 4) and s.cache_read(cache, "local", s.outputs[0]).shape == (3, 16, 4)
    *_, s, cache = relaid(tiles_in_a_row)
    assert cache.shape == (3, 4, 20)
    A, B, C, k = product()
    s = te.create_schedule(C.op)
    ko, ki = s[C].split(k, nparts=3)
    assert s.rfactor(C, ki, 1).shape == (24, 6, 20)


def test_cache_relayout_within_data_parallel_axes():
    A, B, C, k = product()
    s = te.create_schedule(C.op)
    s[C].split(k, factor=4)
    s.cache_write(C, "local")
    with pytest.raises(te.ScheduleError, match="a layout is made within data parallel axes only"):
        tw.lower(s, [A, B, C])


# tvm: test_schedule_schedule_ops/loop_dep_reduce_cache_write
def test_loop_dep_reduce_cache_write(run_te):
    X = te.placeholder((9,), name="X")

    def triangle(n):
        rv = te.reduce_axis((0, n), "rv")
        return te.sum(X[rv], axis=rv)

    Y = te.compute((10,), triangle, name="Y")
    s = te.create_schedule(Y.op)
    cache = s.cache_write(Y, "local")
    s[cache].compute_at(s[Y], s[Y].op.axis[0])
    x = integers(9)
    np.testing.assert_array_equal(run_te(s, [X, Y], x), np.concatenate([[0], np.cumsum(x)]))


# tvm: test_schedule_schedule_ops/reduction_and_dummy_fuse_split
def test_reduction_and_dummy_fuse_split(run_te):
    n = 10
    X = te.placeholder((n,), "int32", name="X")
    k = te.reduce_axis((0, n), "k")
    Y = te.compute((), lambda: te.sum(X[k], axis=k), name="Y")
    s = te.create_schedule(Y.op)
    x = np.arange(n, dtype=np.int32)
    fused = s[Y].fuse(*s[Y].op.axis)
    s[Y].split(fused, nparts=20)
    assert run_te(s, [X, Y], x) == x.sum()
    Z = te.compute((n,), lambda i: te.sum(X[k] + i, axis=k), name="Z")
    s = te.create_schedule(Z.op)
    fused = s[Z].fuse(*s[Z].op.axis)
    s[Z].split(fused, nparts=20)
    np.testing.assert_array_equal(run_te(s, [X, Z], x), x.sum() + n * np.arange(n))


# tvm: test_lang_schedule/rfactor
@pytest.mark.parametrize("factor", [4, 5])
@pytest.mark.parametrize("factor_axis", [0, 1, -1])
def test_rfactor(run_te, factor, factor_axis):
    A = te.placeholder((6, 8, 7), name="A")
    k1, k2 = te.reduce_axis((0, 8), "k1"), te.reduce_axis((0, 7), "k2")
    B = te.compute((6,), lambda i: te.sum(A[i, k1, k2], axis=[k1, k2]), name="B")
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(k1, factor=factor)
    BF = s.rfactor(B, ki, factor_axis)
    assert s[BF].name == "B.rf" and sorted(names(s[BF].op.axis)) == ["i", "k1.inner"]
    assert names(s[BF].op.axis)[factor_axis] == "k1.inner"
    assert names(s[BF].op.reduce_axis) == ["k1.outer", "k2"]
    (rest,) = s[B].op.reduce_axis
    s[BF].compute_at(s[B], s[B].op.axis[0])
    s[B].unroll(rest)
    a = integers(6, 8, 7)
    np.testing.assert_array_equal(run_te(s, [A, B], a), a.sum(axis=(1, 2)))


def test_rfactor_of_a_tuple(run_te):
    A = te.placeholder((4, 12), name="A")
    smallest = te.comm_reducer(
        lambda x, y: (te.Select(x[1] <= y[1], x[0], y[0]), te.min(x[1], y[1])),
        lambda t0, t1: (te.const(-1, t0), te.max_value(t1)),
    )
    k = te.reduce_axis((0, 12), "k")
    at, least = te.compute((4,), lambda i: smallest((k, A[i, k]), axis=k), name="B")
    s = te.create_schedule(at.op)
    ko, ki = s[at].split(k, factor=3)
    factored = s.rfactor(at, ko)
    assert [t.dtype for t in factored] == ["int32", "float32"]
    a = np.random.default_rng(0).permutation(48).reshape(4, 12).astype(np.float32)
    places, values = run_te(s, [A, at, least], a)
    np.testing.assert_array_equal(places, a.argmin(axis=1))
    np.testing.assert_array_equal(values, a.min(axis=1))


def test_rfactor_refuses():
    A, B, C, k = product()
    s = te.create_schedule(C.op)
    with pytest.raises(te.ScheduleError, match="^axis 'i' of stage 'C' is no reduce axis: rfactor needs one\n"):
        s.rfactor(C, C.op.axis[0])
    ko, ki = s[C].split(k, factor=4)
    with pytest.raises(te.ScheduleError, match="^rfactor of stage 'C': factor_axis 3 is not within 3 dimensions\n"):
        s.rfactor(C, ki, 3)
    s.rfactor(C, ki)
    with pytest.raises(te.ScheduleError, match="^split: axis 'k.outer' of stage 'C' is now one of 'C.rf'; "):
        s[C].split(ko, 2)


def test_decompose_reduction(run_te):
    A, B, C, k = product()
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    s[C].reorder(i, k, j)
    s[C].decompose_reduction(i)
    a, b = integers(24, 16), integers(16, 20, seed=1)
    np.testing.assert_array_equal(run_te(s, [A, B, C], a, b), a @ b)
    D = te.compute((3,), lambda i: A[i, 0], name="D")
    s = te.create_schedule(D.op)
    with pytest.raises(te.ScheduleError, match="^stage 'D' is no reduction: it has nothing to decompose\n"):
        s[D].decompose_reduction(D.op.axis[0])


def test_pad_to_multiple(run_te):
    A, B, C, k = product(24, 20, 13)
    D = te.compute(C.shape, lambda i, j: C[i, j] + 1, name="D")
    s = te.create_schedule(D.op)
    s[C].pad_to_multiple(k, 8)
    a, b = integers(24, 13), integers(13, 20, seed=1)
    np.testing.assert_array_equal(run_te(s, [A, B, D], a, b), a @ b + 1)


def test_reverse_compute_at(run_te):
    A, B, C, k = product()
    D = te.compute(C.shape, lambda i, j: te.max(C[i, j], 0), name="D")
    s = te.create_schedule(D.op)
    xo, yo, xi, yi = s[C].tile(*C.op.axis, 8, 5)
    s[D].reverse_compute_at(s[C], yo)
    a, b = integers(24, 16), integers(16, 20, seed=1)
    np.testing.assert_array_equal(run_te(s, [A, B, D], a, b), np.maximum(a @ b, 0))


# tvm: test_lang_group/compute_group
def test_compute_group(run_te):
    A = te.placeholder((16, 12), name="A")
    A1 = te.compute((16, 12), lambda i, j: A[i, j] + 1, name="A1")
    A2 = te.compute((16, 12), lambda i, j: A1[i, j] * 2, name="A2")
    B = te.compute((16, 12), lambda i, j: A2[i, j] - 3, name="B")
    s = te.create_schedule(B.op)
    group = s.create_group(outputs=A2, inputs=A)
    group.compute_at(s[B], B.op.axis[0])
    a = integers(16, 12)
    np.testing.assert_array_equal(run_te(s, [A, B], a), (a + 1) * 2 - 3)
    group.compute_root()
    np.testing.assert_array_equal(run_te(s, [A, B], a), (a + 1) * 2 - 3)


# tvm: test_schedule_schedule_ops/auto_inline
def test_auto_inline(run_te):
    m, n = 6, 8
    A, B, C = (te.placeholder((m, n), name=name) for name in "ABC")
    T1 = te.compute((m, n), lambda i, j: A[i, j] * B[i, j], name="T1")
    T2 = te.compute((m, n), lambda i, j: T1[i, n - 1 - j] + C[i, j], name="T2")
    T3 = te.compute((m, n), lambda i, j: T2[i, j] - 1, name="T3")
    a, b, c = (integers(m, n, seed=seed) for seed in range(3))
    expected = (a * b)[:, ::-1] + c - 1
    for inline, left in ((te.AutoInlineElemWise, ["T2", "T3"]), (te.AutoInlineInjective, ["T3"])):
        s = te.create_schedule(T3.op)
        inline(s)
        text = str(tw.lower(s, [A, B, C, T3], simple_mode=True))
        assert [name for name in ("T1", "T2", "T3") if f"%{name}" in text] == left
        np.testing.assert_array_equal(run_te(s, [A, B, C, T3], a, b, c), expected)


# tvm: test_schedule_graph/create_read_graph
def test_who_reads_what():
    A = te.placeholder((8,), name="A")
    A1 = te.compute((8,), lambda i: A[i], name="A1")
    A2 = te.compute((8,), lambda i: A1[i] + 3 + A[7 - i], name="A2")
    s = te.create_schedule(A2.op)
    assert s.operations == [A.op, A1.op, A2.op]
    assert A2.op.input_tensors == [A1, A] and A1.op.input_tensors == [A] and A.op.input_tensors == []


def test_threads_are_refused_on_a_cpu():
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    bx, tx = s[B].split(B.op.axis[0], factor=16)
    s[B].bind(bx, te.thread_axis("blockIdx.x"))
    s[B].bind(tx, te.thread_axis((0, 16), "threadIdx.x"))
    text = str(tw.lower(s, [A, B], simple_mode=True))
    assert "blockIdx.x" in text and "threadIdx.x" in text
    with pytest.raises(tw.TileworkError, match="threadIdx.x|blockIdx.x"):
        tw.build(s, [A, B])


def test_tensorize_takes_intrinsics_that_are_known():
    A, B, C, k = product()
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], "gemv")
    with pytest.raises(te.ScheduleError, match="no te.intrinsic declares @gemv; there are @amx.tile_zero"):
        tw.lower(s, [A, B, C])


def test_argument_order_and_handles_of_arguments(run_te):
    """The number of a placeholder in the text follows the order of the arguments."""
    A, B, C, k = product()
    s = te.create_schedule(C.op)
    BB = s.cache_read(B, "local", C)
    s[BB].compute_at(s[C], C.op.axis[0])
    assert "schedule.argument 1" in str(s)
    a, b = integers(24, 16), integers(16, 20, seed=1)
    np.testing.assert_array_equal(run_te(s, [B, C, A], b, a), a @ b)
