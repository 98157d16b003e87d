"""Schedules in Python: what methods write, what they refuse, that results stay. Names as in test_lang_schedule."""

import numpy as np
import pytest

import tilework as tw
from tilework import te


def integers(*shape: int, seed: int = 0) -> np.ndarray:
    """Small integers, so that sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


def elementwise(*shape: int):
    A = te.placeholder(shape, name="A")
    T = te.compute(shape, lambda *i: A(*i) + 1, name="T")
    return A, T, te.create_schedule(T.op)


def product(n: int = 24, m: int = 20, length: int = 16):
    A, B = te.placeholder((n, length), name="A"), te.placeholder((length, m), name="B")
    k = te.reduce_axis((0, length), "k")
    C = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return A, B, C, k


def lines(s: te.Schedule) -> list[str]:
    """The schedule's primitives as text."""
    text = str(s)
    body = text[text.index("schedule.sequence") :].splitlines()[1:]
    return [line.strip() for line in body if "schedule." in line]


def names(axes) -> list[str]:
    return [a.name for a in axes]


def refused(action, message: str) -> list[str]:
    with pytest.raises(te.ScheduleError) as caught:
        action()
    assert str(caught.value) == message
    return caught.value.__notes__


# tvm: test_lang_schedule/schedule_create
def test_schedule_create():
    A, B, C, _ = product()
    D = te.compute(C.shape, lambda i, j: C[i, j] * 2, name="D")
    s = te.create_schedule([D.op])
    assert [stage.name for stage in s.stages] == ["C", "D"]
    assert s[D] is s[D.op] and s[D].op is D.op and s[D].is_output and not s[C].is_output
    assert names(s[C].leaf_iter_vars) == ["i", "j", "k"]
    with pytest.raises(tw.UsageError, match="^'A' is a placeholder and has no stage; its stages are C, D$"):
        s[A]
    with pytest.raises(tw.UsageError, match="^'T' is not part of this schedule; its stages are C, D$"):
        s[elementwise(3)[1]]


# tvm: test_lang_schedule/reorder
def test_reorder(run_te):
    A, T, s = elementwise(12, 6)
    xo, xi = s[T].split(T.op.axis[0], factor=4)
    s[T].reorder(T.op.axis[1], xi, xo)
    assert names(s[T].leaf_iter_vars) == ["i1", "i0.inner", "i0.outer"]
    assert lines(s)[-1] == "schedule.reorder %i1, %i0_i, %i0_o"
    a = integers(12, 6)
    np.testing.assert_array_equal(run_te(s, [A, T], a), a + 1)
    refused(lambda: s[T].reorder(xi, xi), "reorder of stage 'T' names an axis twice: 'i0.inner', 'i0.inner'")


# tvm: test_lang_schedule/split
def test_split(run_te):
    A, T, s = elementwise(13)
    xo, xi = s[T].split(T.op.axis[0], factor=10)
    yo, yi = s[T].split(xo, nparts=1)
    assert names(s[T].leaf_iter_vars) == ["i0.outer.outer", "i0.outer.inner", "i0.inner"]
    assert lines(s)[-2:] == [
        "%i0_o, %i0_i = schedule.split %i0 factor 10",
        "%i0_o_o, %i0_o_i = schedule.split %i0_o nparts 1",
    ]
    a = integers(13)
    np.testing.assert_array_equal(run_te(s, [A, T], a), a + 1)
    notes = refused(
        lambda: s[T].split(T.op.axis[0], 2),
        "split: axis 'i0' of stage 'T' was split or fused; use one of the axes that came of it",
    )
    assert notes == [
        "the loop nest as it stands:\nT:\n  for i0.outer.outer\n    for i0.outer.inner\n      for i0.inner"
    ]
    for action, message in [
        (lambda: s[T].split(xi), "split of axis 'i0.inner': give either factor or nparts"),
        (lambda: s[T].split(xi, 2, 2), "split of axis 'i0.inner': give either factor or nparts"),
        (lambda: s[T].split(xi, 0), "split of axis 'i0.inner' by 0: must be at least 1"),
        (lambda: s[T].split(xi, 2.0), "split of axis 'i0.inner': a factor is a whole number, not a float"),
        (lambda: s[T].split("x", 2), "split takes axes of stage 'T', not a str"),
        (
            lambda: s[T].split(xi, 2, tail="round"),
            "split of axis 'i0.inner': unknown tail 'round'; known: guard, partition, shift, mask, pad",
        ),
    ]:
        with pytest.raises(tw.UsageError) as caught:
            action()
        assert str(caught.value) == message


@pytest.mark.parametrize("tail", ["guard", "partition", "shift", "mask"])
def test_tails_of_splits(run_te, tail):
    A, T, s = elementwise(5, 37)
    outer, inner = s[T].split(T.op.axis[1], factor=16, tail=tail)
    s[T].vectorize(inner)
    a = integers(5, 37)
    np.testing.assert_array_equal(run_te(s, [A, T], a), a + 1)


# tvm: test_lang_schedule/tile
def test_tile(run_te):
    A, T, s = elementwise(20, 30)
    xo, yo, xi, yi = s[T].tile(*T.op.axis, x_factor=10, y_factor=5)
    assert names(s[T].leaf_iter_vars) == names([xo, yo, xi, yi]) == ["i0.outer", "i1.outer", "i0.inner", "i1.inner"]
    a = integers(20, 30)
    np.testing.assert_array_equal(run_te(s, [A, T], a), a + 1)


# tvm: test_lang_schedule/fuse
def test_fuse(run_te):
    A, T, s = elementwise(20, 30)
    xo, yo, xi, yi = s[T].tile(*T.op.axis, 10, 5)
    fused = s[T].fuse(xo, yo)
    assert names(s[T].leaf_iter_vars) == names([fused, xi, yi])
    assert s[T].fuse(fused) is fused
    assert lines(s)[-1] == "%i0_o_i1_o = schedule.fuse %i0_o, %i1_o"
    a = integers(20, 30)
    np.testing.assert_array_equal(run_te(s, [A, T], a), a + 1)


# tvm: test_lang_schedule/fuse_with_split
def test_fuse_with_split(run_te):
    A, T, s = elementwise(20, 30)
    xo, xi = s[T].split(T.op.axis[0], factor=10)
    fused = s[T].fuse(xi, T.op.axis[1])
    assert names(s[T].leaf_iter_vars) == names([xo, fused])
    a = integers(20, 30)
    np.testing.assert_array_equal(run_te(s, [A, T], a), a + 1)


# tvm: test_lang_schedule/fuse_with_out_of_order_axis
def test_fuse_with_out_of_order_axis():
    _, T, s = elementwise(20, 30)
    xo, xi = s[T].split(T.op.axis[0], factor=10)
    message = "axes 'i0.outer', 'i1' of stage 'T' are not adjacent in this order; reorder first"
    refused(lambda: s[T].fuse(xo, T.op.axis[1]), message)


# tvm: test_lang_schedule/fuse_with_out_of_order_axis_with_reorder
def test_fuse_with_out_of_order_axis_with_reorder(run_te):
    A, T, s = elementwise(20, 30)
    xo, xi = s[T].split(T.op.axis[0], factor=10)
    y = T.op.axis[1]
    s[T].reorder(y, xo, xi)
    fused = s[T].fuse(y, xo)
    assert names(s[T].leaf_iter_vars) == names([fused, xi])
    message = "axes 'i0.inner', 'i1.i0.outer' of stage 'T' are not adjacent in this order; reorder first"
    refused(lambda: s[T].fuse(xi, fused), message)
    a = integers(20, 30)
    np.testing.assert_array_equal(run_te(s, [A, T], a), a + 1)


# tvm: test_lang_schedule/singleton
def test_singleton(run_te):
    A, T, s = elementwise()
    fused = s[T].fuse()
    assert names(s[T].leaf_iter_vars) == names([fused])
    s[T].parallel(fused)
    assert lines(s) == [
        '%T = schedule.stage "T" []',
        "%singleton = schedule.singleton %T",
        "schedule.parallel %singleton",
    ]
    np.testing.assert_array_equal(run_te(s, [A, T], np.float32(4)), 5)


# tvm: test_lang_schedule/vectorize
def test_vectorize(run_te):
    A, T, s = elementwise(20, 30)
    xo, yo, xi, yi = s[T].tile(*T.op.axis, 10, 5)
    s[T].vectorize(yi)
    s[T].unroll(xi)
    s[T].parallel(xo)
    assert lines(s)[-3:] == ["schedule.vectorize %i1_i", "schedule.unroll %i0_i", "schedule.parallel %i0_o"]
    assert "vector<5xf32>" in str(tw.lower(s, [A, T]))
    a = integers(20, 30)
    np.testing.assert_array_equal(run_te(s, [A, T], a), a + 1)
    refused(lambda: s[T].unroll(yi), "unroll: axis 'i1.inner' of stage 'T' is already vectorized")


# tvm: test_lang_schedule/vectorize_commreduce
def test_vectorize_commreduce():
    *_, C, k = product()
    s = te.create_schedule(C.op)
    because = "its iterations write the same element"
    refused(lambda: s[C].vectorize(k), f"axis 'k' of stage 'C' is a reduction and cannot be vectorized: {because}")
    refused(lambda: s[C].parallel(k), f"axis 'k' of stage 'C' is a reduction and cannot be parallel: {because}")
    message = "cannot fuse spatial with reduce axes of stage 'C': 'j', 'k'"
    assert refused(lambda: s[C].fuse(C.op.axis[1], k), message)[0].endswith(
        "C:\n  for i\n    for j\n      for k (reduce)"
    )


# tvm: test_lang_schedule/compute_at
def test_compute_at(run_te):
    A, B, C, k = product()
    D = te.compute(C.shape, lambda i, j: C[i, j] * 2, name="D")
    s = te.create_schedule(D.op)
    xo, yo, xi, yi = s[D].tile(*D.op.axis, 8, 5)
    s[C].compute_at(s[D], yo)
    assert lines(s)[-1] == "schedule.compute_at %C, %j_o"
    a, b = integers(24, 16), integers(16, 20, seed=1)
    np.testing.assert_array_equal(run_te(s, [A, B, D], a, b), 2 * (a @ b))
    s[C].compute_root()
    assert "alloca" not in str(tw.lower(s, [A, B, D], simple_mode=True))
    refused(lambda: s[C].compute_at(s[D], C.op.axis[0]), "compute_at: axis 'i' is not one of stage 'D'")
    refused(lambda: s[C].compute_at(s[C], C.op.axis[0]), "stage 'C' cannot be computed at its own axis 'i'")
    refused(
        lambda: s[C].compute_at(s[D], D.op.axis[0]),
        "compute_at: axis 'i' of stage 'D' was split or fused; use one of the axes that came of it",
    )


# tvm: test_lang_schedule/legalize_invalid_attach
@pytest.mark.parametrize("primitive", ["split", "fuse", "split and fuse"])
def test_legalize_invalid_attach(run_te, primitive):
    """A stage moves with the axis that it is computed at."""
    A = te.compute((10, 10), lambda i, j: i * 10 + j, name="A")
    B = te.compute((10, 10), lambda i, j: A[i][j] + 1, name="B")
    s = te.create_schedule([B.op])
    s[A].compute_at(s[B], B.op.axis[1])
    if primitive == "fuse":
        s[B].fuse(*B.op.axis)
        place = "%i_j"
    else:
        outer, inner = s[B].split(B.op.axis[1], 2)
        place = "%j_i"
        if primitive == "split and fuse":
            s[B].fuse(outer, inner)
            place = "%j_o_j_i"
    assert lines(s)[-1] == f"schedule.compute_at %A, {place}"
    np.testing.assert_array_equal(run_te(s, [B]), np.arange(100).reshape(10, 10) + 1)


def test_what_lowering_refuses_names_the_line():
    A, B, C, k = product()
    D = te.compute(C.shape, lambda i, j: C[i, j] * 2, name="D")
    s = te.create_schedule(D.op)
    s[D].compute_at(s[C], C.op.axis[0])  # here
    message = "stage 'D' is computed at 'C', which does not consume it; take a consumer"
    notes = refused(lambda: tw.lower(s, [A, B, D]), message)
    here = next(i for i, line in enumerate(open(__file__, encoding="utf-8"), 1) if line.endswith("# here\n"))
    assert notes[0] == f'File "{__file__}", line {here}'
    assert "for i" in notes[1]


def test_compute_inline(run_te):
    A = te.placeholder((6, 7), name="A")
    B = te.compute((6, 7), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((6, 7), lambda i, j: B[i, 6 - j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].compute_inline()
    a = integers(6, 7)
    np.testing.assert_array_equal(run_te(s, [A, C], a), (a[:, ::-1] + 1) * 2)
    assert "scratch" not in str(tw.lower(s, [A, C]))
    refused(s[C].compute_inline, "stage 'C' is an output of the schedule and cannot be inlined")
    *_, P, _ = product()
    D = te.compute(P.shape, lambda i, j: P[i, j], name="D")
    s = te.create_schedule(D.op)
    refused(s[P].compute_inline, "stage 'C' is a reduction and cannot be inlined; use compute_at")


def test_cache_write_moves_the_reduction(run_te):
    A, B, C, k = product(24, 32, 16)
    s = te.create_schedule(C.op)
    CC = s.cache_write(C, "register")
    assert s[CC].name == "C.register" and names(s[CC].op.axis) == ["i", "j"] and names(s[CC].op.reduce_axis) == ["k"]
    assert s[C].op.reduce_axis == [] and s[C].op.input_tensors == [CC] and C.op.reduce_axis[0] is k
    xo, yo, xi, yi = s[C].tile(*C.op.axis, 4, 16)
    s[CC].compute_at(s[C], yo)
    i, j = s[CC].op.axis
    s[CC].reorder(s[CC].op.reduce_axis[0], i, j)
    s[CC].unroll(i)
    s[CC].vectorize(j)
    s[C].vectorize(yi)
    a, b = integers(24, 16), integers(16, 32, seed=1)
    np.testing.assert_array_equal(run_te(s, [A, B, C], a, b), a @ b)
    refused(
        lambda: s[C].split(k, 4), "split: axis 'k' of stage 'C' is now one of 'C.register'; schedule that stage's axes"
    )


def test_caches_of_all_results(run_te):
    A = te.placeholder((6, 8), name="A")
    k = te.reduce_axis((0, 8), "k")
    largest = te.comm_reducer(
        lambda x, y: (te.Select(x[1] >= y[1], x[0], y[0]), te.max(x[1], y[1])),
        lambda i, v: (te.const(-1, i), te.min_value(v)),
    )
    at, best = te.compute((6,), lambda i: largest((k, A[i, k]), axis=k), name="best")
    s = te.create_schedule(at.op)
    cached = s.cache_write([at, best], "local")
    s[cached[0]].compute_at(s[at], s[at].op.axis[0])
    a = integers(6, 8)
    places, values = run_te(s, [A, at, best], a)
    np.testing.assert_array_equal(places, a.argmax(axis=1))
    np.testing.assert_array_equal(values, a.max(axis=1))
    s = te.create_schedule(at.op)
    with pytest.raises(tw.UsageError, match="^cache_write of stage 'best' takes all of its 2 tensors$"):
        s.cache_write(best, "local")


def test_a_middle_stage_may_be_an_argument(run_te):
    A, B, C, k = product()
    D = te.compute(C.shape, lambda i, j: C[i, j] * 2, name="D")
    a, b = integers(24, 16), integers(16, 20, seed=1)
    c, d = run_te(te.create_schedule(D.op), [A, B, C, D], a, b)
    np.testing.assert_array_equal(c, a @ b)
    np.testing.assert_array_equal(d, 2 * (a @ b))


# tvm: test_lang_schedule/pragma
def test_pragma():
    _, T, s = elementwise(10, 10)
    s[T].pragma(T.op.axis[0], "auto_unroll_max_step", 10)
    assert lines(s)[-1] == 'schedule.pragma %i0 "auto_unroll_max_step" 10'
    known = "auto_unroll_max_step, loop_partition_hint, parallel_least_work, parallel, unroll, vectorize, import_c, "
    known += "import_llvm, parallel_barrier_when_finish, parallel_launch_point, parallel_stride_pattern"
    with pytest.raises(tw.UsageError, match=f"^unknown pragma 'debug'; known: {known}$"):
        s[T].pragma(T.op.axis[0], "debug", 1)
    for value in (None, -1, 1.5, "x"):
        with pytest.raises(tw.UsageError, match="^pragma 'auto_unroll_max_step' takes a number of at least 0$"):
            s[T].pragma(T.op.axis[0], "auto_unroll_max_step", value)  # pyright: ignore[reportArgumentType]


def test_knobs(run_te):
    A, T, s = elementwise(64)
    outer, inner = s[T].split(T.op.axis[0], factor=te.knob("tile", [4, 8, 16], 8))
    s[T].vectorize(inner)
    assert list(s.knobs) == ["tile"] and s.knobs["tile"].values == (4, 8, 16)
    a = integers(64)
    np.testing.assert_array_equal(run_te(s, [A, T], a), a + 1)
    s.set_knobs(tile=16)
    assert "vector<16xf32>" in str(tw.lower(s, [A, T]))
    with pytest.raises(tw.UsageError, match="^knob 'tile' cannot be 5; its choices are 4, 8, 16$"):
        s.set_knobs(tile=5)


def test_threads_write_their_primitives():
    A = te.placeholder((64, 32), name="A")
    k = te.reduce_axis((0, 32), "k")
    B = te.compute((64,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    tx = te.thread_axis("threadIdx.x")
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(k, tx)
    s[B].set_store_predicate(tx.equal(0))
    assert lines(s)[1:] == [
        'schedule.bind %i "blockIdx.x"',
        'schedule.bind %k "threadIdx.x"',
        "schedule.set_store_predicate %B, %k == 0",
    ]
    with pytest.raises(tw.UsageError, match=r"^te.thread_axis needs a tag, such as \"threadIdx.x\"$"):
        te.thread_axis((0, 4))
    with pytest.raises(tw.UsageError, match="^bind of axis 'i': 'pipeline' is no thread axis; known: blockIdx.x, "):
        s[B].bind(B.op.axis[0], te.thread_axis("pipeline"))
    with pytest.raises(tw.UsageError, match="^set_store_predicate of stage 'B' takes tx.equal"):
        s[B].set_store_predicate(tx > 0)
    for other in ((tx * 2).equal(4), (tx % 2).equal(1), (tx + te.var("n")).equal(0)):
        with pytest.raises(tw.UsageError, match="^set_store_predicate of stage 'B' takes tx.equal"):
            s[B].set_store_predicate(other)


def running_sums(rows: int, columns: int):
    X = te.placeholder((rows, columns), name="X")
    state = te.placeholder((rows, columns), name="state")
    init = te.compute((1, columns), lambda _, i: X[0, i], name="init")
    update = te.compute((rows, columns), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    return X, te.scan(init, update, state, name="sums"), update


def test_threads_around_a_scan_write_their_primitives():
    X, sums, update = running_sums(6, 32)
    s = te.create_schedule(sums.op)
    by, tx = te.thread_axis((0, 2), "blockIdx.y"), te.thread_axis((0, 16), "threadIdx.x")
    s[sums].env_threads([by, tx])
    outer, inner = s[update].split(update.op.axis[1], factor=16)
    s[update].bind(outer, by)
    s[update].bind(inner, tx)
    assert lines(s)[1:3] == ['schedule.env_threads %sums "blockIdx.y" 2', 'schedule.env_threads %sums "threadIdx.x" 16']
    loops = [line for line in str(tw.lower(s, [X, sums], simple_mode=True)).splitlines() if "loop.for" in line]
    assert [line.partition('"')[2] for line in loops] == [
        *('i" {', 'blockIdx.y" blockIdx.y {', 'threadIdx.x" threadIdx.x {', 'sums_idx" {'),
        *('i.outer" blockIdx.y {', 'i.inner" threadIdx.x {'),
    ]


def test_threads_around_a_scan_are_checked():
    _, sums, update = running_sums(6, 32)
    s = te.create_schedule(sums.op)
    tx = te.thread_axis((0, 16), "threadIdx.x")
    s[sums].env_threads(tx)
    with pytest.raises(te.ScheduleError, match="^threadIdx.x runs around scan 'sums' already; a thread axis is launch"):
        s[sums].env_threads([tx])
    with pytest.raises(te.ScheduleError, match="^stage 'update' is not a scan: threads around it come from its axes"):
        s[update].env_threads(te.thread_axis((0, 4), "threadIdx.y"))
    with pytest.raises(tw.UsageError, match="^env_threads takes numbers of threads, from 1 on: te.thread_axis"):
        s[sums].env_threads(te.thread_axis("threadIdx.y"))
    with pytest.raises(tw.UsageError, match="^env_threads takes axes that te.thread_axis makes, not a str$"):
        s[sums].env_threads(["threadIdx.y"])
    with pytest.raises(tw.UsageError, match="^env_threads: 'i' is no thread axis; known: blockIdx.x, "):
        s[sums].env_threads(update.op.axis[1])
    with pytest.raises(tw.UsageError, match="^env_threads: 'warp' is no thread axis; known: blockIdx.x, "):
        s[sums].env_threads(te.thread_axis((0, 4), "warp"))


def test_storage_writes_its_primitives():
    A = te.placeholder((16, 16), name="A")
    B = te.compute((16, 16), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((16, 16), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    AA = s.cache_read(A, "shared", [B])
    BB = s.cache_read(B, "local", C)
    s[AA].compute_at(s[B], B.op.axis[0])
    s[AA].storage_align(s[AA].op.axis[0], 32, 1)
    s[B].set_scope("shared")
    s[B].double_buffer()
    s[C].prefetch(B, C.op.axis[0], 2)
    assert names(s[BB].op.axis) == ["ax0", "ax1"]
    assert [stage.name for stage in s.stages] == ["A.shared", "B", "B.local", "C"]
    assert lines(s) == [
        "%arg0 = schedule.argument 0",
        '%B, %i, %j = schedule.stage "B" [i, j]',
        '%A_shared, %ax0, %ax1 = schedule.cache_read %arg0 "shared" readers(%B) [ax0, ax1]',
        '%C, %i_1, %j_1 = schedule.stage "C" [i, j]',
        '%B_local, %ax0_1, %ax1_1 = schedule.cache_read %B "local" readers(%C) [ax0, ax1]',
        "schedule.compute_at %A_shared, %i",
        "schedule.storage_align %ax0 factor 32 offset 1",
        'schedule.set_scope %B "shared"',
        "schedule.double_buffer %B",
        "schedule.prefetch %B, %i_1 offset 2",
    ]
    with pytest.raises(tw.UsageError, match="^unknown scope 'texture'; known: global, "):
        s[B].set_scope("texture")


def test_a_stage_that_was_rewritten_has_no_expression_to_show():
    A, k = te.placeholder((8, 16), name="A"), te.reduce_axis((0, 16), "k")
    B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    assert len(s[B].op.body) == 1
    s.rfactor(B, s[B].split(k, factor=4)[1])
    with pytest.raises(AttributeError, match="a primitive has rewritten stage 'B': print the schedule"):
        _ = s[B].op.body
