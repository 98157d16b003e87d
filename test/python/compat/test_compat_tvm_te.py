"""What TVM's own tests of te ask of tensors, schedules, bounds and statements, by TVM's names."""

from __future__ import annotations

import numpy as np
import pytest

import tilework.compat.tvm as tvm
from tilework.compat.tvm import te, tir


def elementwise():
    m, n = te.size_var("m"), te.size_var("n")
    A = te.placeholder((m, n), name="A")
    return A, te.compute((m, n), lambda i, j: A[i, j], name="T")


# -- tensors


def test_tensors_are_compared_by_identity_and_shapes_by_value():
    m, n, depth = te.size_var("m"), te.size_var("n"), te.size_var("l")
    A, B = te.placeholder((m, depth), name="A"), te.placeholder((n, depth), name="B")
    T = te.compute((m, n, depth), lambda i, j, k: A[i, k] * B[j, k])
    assert tuple(T.shape) == (m, n, depth)
    assert isinstance(A.op, tvm.te.PlaceholderOp) and isinstance(T.op, tvm.te.ComputeOp)
    assert A == A and T.op.output(0) == T and {T.op.output(0): 1}[T] == 1
    assert T[0][0][0].astype("float16").dtype == "float16"
    assert tuple(te.compute(A.shape, lambda i, j: A[i, j]).op.input_tensors) == (A,)


def test_extents_that_are_known_have_a_value():
    A = te.placeholder((4, tvm.runtime.convert(5)), name="A")
    assert [size.value for size in A.shape] == [4, 5] and isinstance(A.shape[0], tir.IntImm)
    k = te.reduce_axis((2, 10), "k")
    assert (k.dom.min.value, k.dom.extent.value, k.iter_type) == (2, 8, te.schedule.IterVar.CommReduce)
    assert tvm.tir.const(3, "int32").value == 3 and tvm.tir.const(3, "int32").dtype == "int32"


def test_operators_of_tensors_broadcast():
    x = te.var("x")
    A, B = te.placeholder((5, 10), name="A"), te.placeholder((1, 10), name="B")
    scale = te.placeholder((), name="scale")
    D = 3 + A - B * A / 2 + x + scale
    assert (A + 1).op.tag == tvm.topi.tag.ELEMWISE and (A + B).op.tag == tvm.topi.tag.BROADCAST
    assert isinstance(A[0, 0] + A, te.Tensor) and not isinstance(A[0, 0] + 1, te.Tensor)
    a, b = np.random.rand(5, 10).astype("float32"), np.random.rand(1, 10).astype("float32")
    d = tvm.nd.empty((5, 10))
    tvm.build(te.create_schedule(D.op), [x, A, B, scale, D], "llvm")(2, a, b, np.float32(0.5), d)
    tvm.testing.assert_allclose(d.numpy(), 3 + a - b * a / 2 + 2.5, rtol=1e-5)
    with pytest.raises(tvm.TVMError, match="^T_add of tensors of shapes .* do not broadcast$"):
        _ = A + te.placeholder((3, 10))


def test_a_reducer_joins_two_values_as_well():
    mysum = te.comm_reducer(lambda x, y: x + y, lambda t: tvm.tir.const(0, dtype=t))
    m, n = te.size_var("m"), te.size_var("n")
    assert str(mysum(m, n)) == str(m + n)


def test_reductions_start_from_their_identity():
    A, k = te.placeholder((4,), name="A"), te.reduce_axis((0, 4), "k")
    with pytest.raises(tvm.TVMError, match="^te.sum has no init=: a reduction starts from its identity; join"):
        te.sum(A[k], axis=k, init=1.0)


def test_numbers_among_the_arguments():
    n, offset, alpha = te.var("n"), te.var("offset"), te.var("alpha", "float32")
    A = te.placeholder((n,), name="A")
    B = te.compute((3,), lambda i: A[i + offset] * alpha, name="B")
    f = tvm.build(te.create_schedule(B.op), [n, A, offset, alpha, B])
    b = tvm.nd.empty((3,))
    f(8, np.arange(8, dtype="float32"), 4, 0.5, b)
    np.testing.assert_array_equal(b.numpy(), [2, 2.5, 3])
    with pytest.raises(tvm.TVMError, match="^default_function: 'n' is 9, and 'A' has 8 there$"):
        f(9, np.arange(8, dtype="float32"), 4, 0.5, b)


def test_tags():
    @tvm.te.tag_scope(tag="mine")
    def tagged(a):
        return te.compute(a.shape, lambda i: a[i])

    A = te.placeholder((4,))
    assert tagged(A).op.tag == "mine" and te.compute((4,), lambda i: A[i]).op.tag == ""


# -- what a schedule tells of itself


def test_splits_and_fuses_are_relations_and_leaves():
    _, T = elementwise()
    s = te.create_schedule(T.op)
    xo, yo, xi, yi = s[T].tile(T.op.axis[0], T.op.axis[1], x_factor=10, y_factor=5)
    assert tuple(s[T].leaf_iter_vars) == (xo, yo, xi, yi)
    fused = s[T].fuse(xo, yo)
    assert [type(relation) for relation in s[T].relations] == [te.schedule.Split, te.schedule.Split, te.schedule.Fuse]
    assert tuple(s[T].leaf_iter_vars) == (fused, xi, yi) and T.op.axis[0] in s[T].all_iter_vars
    with pytest.raises(tvm.error.TVMError, match="not adjacent"):
        s[T].fuse(fused, yi)
    with pytest.raises(tvm.TVMError, match="twice"):
        s[T].reorder(xi, fused, xi)


def test_a_stage_without_axes_gets_one():
    A = te.placeholder((), name="A")
    T = te.compute((), lambda: A() + 1)
    s = te.create_schedule(T.op)
    fused = s[T].fuse()
    assert isinstance(s[T].relations[0], te.schedule.Singleton) and tuple(s[T].leaf_iter_vars) == (fused,)


def test_how_loops_run():
    _, T = elementwise()
    s = te.create_schedule(T.op)
    _, _, xi, yi = s[T].tile(T.op.axis[0], T.op.axis[1], x_factor=10, y_factor=5)
    s[T].pragma(yi, "vectorize")
    s[T].unroll(xi)
    assert s[T].iter_var_attrs[xi].iter_type == te.schedule.IterVar.Unrolled
    assert s[T].iter_var_attrs[yi].iter_type == te.schedule.IterVar.Vectorized
    thread = te.thread_axis("threadIdx.x")
    s = te.create_schedule(T.op)
    s[T].bind(T.op.axis[0], thread)
    s[T].pragma(T.op.axis[1], "auto_unroll_max_step", 8)
    assert s[T].iter_var_attrs[T.op.axis[0]].bind_thread is thread
    assert s[T].iter_var_attrs[T.op.axis[1]].pragma_keys == ["auto_unroll_max_step"]


def test_where_a_stage_is_computed():
    A = te.placeholder((16,), name="A")
    B = te.compute((16,), lambda i: A[i] + 1, name="B")
    C = te.compute((16,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    assert s[B].attach_type == te.Stage.GroupRoot == 1
    xo, xi = s[C].split(C.op.axis[0], 4)
    s[B].compute_at(s[C], xo)
    assert s[B].attach_type == te.Stage.Scope and s[B].attach_ivar is xo and s[B].attach_stage is s[C]
    s[B].compute_inline()
    assert s[B].attach_type == te.Stage.Inline == 2
    s[B].compute_root()
    assert s[B].attach_type == te.Stage.GroupRoot and s[B].attach_ivar is None


@pytest.mark.parametrize(
    "inline, read",
    [
        (te.schedule.AutoInlineElemWise, lambda A, i, j: A[i, j]),
        (te.schedule.AutoInlineBroadcast, lambda A, i, j: A[0, j]),
        (te.schedule.AutoInlineInjective, lambda A, i, j: A[j, i]),
    ],
)
def test_stages_that_are_inlined_by_kind(inline, read):
    A = te.placeholder((6, 6), name="A")
    T1 = te.compute((6, 6), lambda i, j: read(A, i, j) * 2, name="T1")
    T2 = te.compute((6, 6), lambda i, j: T1[i, j] + 1, name="T2")
    s = te.create_schedule(T2.op)
    inline(s)
    assert s[T1].attach_type == te.Stage.Inline
    if inline is te.schedule.AutoInlineElemWise:
        moved = te.compute((6, 6), lambda i, j: A[j, i] * 2, name="moved")
        other = te.create_schedule(te.compute((6, 6), lambda i, j: moved[i, j] + 1).op)
        te.schedule.AutoInlineElemWise(other)
        te.schedule.AutoInlineBroadcast(other)
        assert other[moved].attach_type == te.Stage.GroupRoot


def test_groups():
    x = te.compute((8, 9), lambda i, j: tvm.tir.const(1, "float32"), name="x")
    x1 = te.compute(x.shape, lambda *i: x(*i) + 1, name="x1")
    x2 = te.compute(x.shape, lambda *i: x1(*i) + 2, name="x2")
    s = te.create_schedule(x2.op)
    inner = s.create_group(outputs=x, inputs=x, include_inputs=True)
    outer = s.create_group(outputs=x1, inputs=x, include_inputs=True)
    assert s[x].group is inner and s[x1].group is outer and s[x2].group is None
    outer.compute_at(s[x2], x2.op.axis[0])
    inner.compute_at(s[x1], s[x1].op.axis[1])
    bounds = te.schedule.InferBound(s.normalize())
    assert [bounds[axis].extent.value for axis in (*x.op.axis, *x1.op.axis)] == [1, 1, 1, 9]


# -- bounds


def two_stages(shape=None):
    shape = shape or (te.var("m"), te.var("l"))
    A = te.placeholder(shape, name="A")
    A1 = te.compute(shape, lambda i, j: A[i, j], name="A1")
    A2 = te.compute(shape, lambda i, j: A1[i, j] + 3, name="A2")
    return A1, A2, te.create_schedule(A2.op)


def test_bounds_of_a_stage_in_a_tile():
    A1, A2, s = two_stages()
    xo, yo, xi, yi = s[A2].tile(A2.op.axis[0], A2.op.axis[1], 8, 8)
    _ = s.normalize()
    s[A1].compute_at(s[A2], yo)
    bounds = te.schedule.InferBound(s)
    assert isinstance(bounds, tvm.container.Map)
    assert [bounds[axis].extent.value for axis in A1.op.axis] == [8, 8]
    assert str(bounds[A1.op.axis[0]].min) == "8 * i.outer"


def test_bounds_of_a_shared_stage_cover_all_threads():
    A1, A2, s = two_stages()
    s[A1].set_scope("shared")
    xo, xi = s[A2].split(A2.op.axis[0], 32)
    xi0, xi1 = s[A2].split(xi, nparts=16)
    s[A2].bind(xi0, te.thread_axis("threadIdx.x"))
    yo, yi = s[A2].split(A2.op.axis[1], 16)
    s[A2].reorder(xo, xi0, yo, xi1, yi)
    s[A1].compute_at(s[A2], yo)
    bounds = te.schedule.InferBound(s)
    assert [bounds[axis].extent.value for axis in A1.op.axis] == [32, 16]


def test_bounds_of_splits_that_divide():
    m, columns = te.var("m"), te.var("l")
    A = te.placeholder((8 * m, columns), name="A")
    B = te.compute((8 * m, columns), lambda i, j: A[i, j], name="B")
    s = te.create_schedule(B.op)
    xo, xi = s[B].split(B.op.axis[0], 8)
    bounds = te.schedule.InferBound(s)
    assert bounds[xo].extent == m and bounds[xi].extent.value == 8
    tvm.testing.assert_prim_expr_equal(bounds[xo].extent * 8, 8 * m)


@pytest.mark.parametrize("how, expected", [({"factor": 32}, 8), ({"nparts": 32}, 1)])
def test_bounds_of_splits_beyond_the_extent(how, expected):
    EF = te.compute((8,), lambda i: tvm.tir.const(1.0, "float32"), name="EF")
    E = te.compute((8,), lambda i: EF[i] * 2, name="E")
    s = te.create_schedule([E.op])
    xo, xi = s[E].split(s[E].op.axis[0], **how)
    s[EF].compute_at(s[E], xo)
    bounds = te.schedule.InferBound(s)
    assert bounds[xi].extent.value == expected


def test_bounds_of_a_fused_axis():
    m = te.var("m")
    A1, A2, s = two_stages((m, tvm.runtime.convert(6)))
    fused = s[A2].fuse(A2.op.axis[0], A2.op.axis[1])
    xo, xi = s[A2].split(fused, tvm.runtime.convert(3))
    s[A1].compute_at(s[A2], xo)
    bounds = te.schedule.InferBound(s)
    rows, columns = (bounds[axis] for axis in A1.op.axis)
    at = {xo.var: tvm.tir.IntImm(5)}
    assert tvm.tir.stmt_functor.substitute(rows.min, at).value == 2
    assert tvm.tir.stmt_functor.substitute(columns.min, at).value == 3
    assert (rows.extent.value, columns.extent.value) == (1, 3)


def test_bounds_of_windows():
    n = te.var("n")
    A = te.compute((n + 2), lambda i: tvm.tir.const(1.0, "float32"), name="A")
    B = te.compute(n, lambda ii: A[ii] + A[ii + 1] + A[ii + 2], name="B")
    s = te.create_schedule(B.op)
    s[A].compute_at(s[B], B.op.axis[0])
    assert te.schedule.InferBound(s.normalize())[A.op.axis[0]].extent.value == 3


def test_bounds_of_a_product_on_a_device():
    n = tvm.runtime.convert(256)
    A, B = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    C = te.compute((n, n), lambda ii, jj: te.sum(A[ii, k] * B[jj, k], axis=k), name="CC")
    s = te.create_schedule(C.op)
    CC = s.cache_write(C, "local")
    AA = s.cache_read(A, "shared", [CC])
    by, yi = s[C].split(C.op.axis[0], factor=64)
    bx, xi = s[C].split(C.op.axis[1], factor=64)
    s[C].reorder(by, bx, yi, xi)
    ty, yi = s[C].split(yi, nparts=8)
    tx, xi = s[C].split(xi, nparts=8)
    s[C].reorder(ty, tx, yi, xi)
    for axis, tag in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (ty, "threadIdx.y"), (tx, "threadIdx.x")):
        s[C].bind(axis, te.thread_axis(tag))
    s[CC].reorder(CC.op.reduce_axis[0], *CC.op.axis)
    s[CC].compute_at(s[C], tx)
    s[AA].compute_at(s[CC], CC.op.reduce_axis[0])
    bounds = te.schedule.InferBound(s.normalize())
    assert [bounds[axis].extent.value for axis in (*AA.op.axis, *CC.op.axis)] == [64, 1, 8, 8]
    loops = te.schedule.ScheduleOps(s, bounds)
    seen: list[str] = []
    tvm.tir.stmt_functor.post_order_visit(loops, lambda op: seen.append(op.name))
    assert seen.count("loop.kernel") == 1 and "arith.mulf" in seen
    assert seen.index("arith.mulf") < seen.index("loop.kernel")


def test_values_are_visited_inner_ones_first():
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: te.exp(A[i]) + 1.0)
    seen: list[str] = []
    tvm.tir.stmt_functor.post_order_visit(B.op.body[0], lambda value: seen.append(type(value).__name__))
    assert seen == ["Element", "Apply", "Constant", "Apply"]


# -- statements, externs and instructions


def test_statements_in_the_forms_of_ir_builder():
    n, m = te.var("n"), 5

    def fill(ins, outs):
        ib = tvm.tir.ir_builder.create()
        X, Y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, n, "i", dtype="int32", kind="parallel") as i:
            with ib.for_range(0, m, name="j") as j:
                with ib.if_scope(ib.likely(j % 2 == 0)):
                    Y[i * m + j] = X[i * m + j] + 1
                with ib.else_scope():
                    ib.emit(outs[0].vstore((i, j), ins[0].vload((i, j))))
        return ib.get()

    A = te.placeholder((n, m), name="A")
    B = te.extern((n, m), [A], fill, name="B", dtype="float32")
    a, b = np.random.rand(3, m).astype("float32"), tvm.nd.empty((3, m))
    tvm.build(te.create_schedule(B.op), [A, B])(a, b)
    tvm.testing.assert_allclose(b.numpy(), a + (np.arange(m) % 2 == 0))


def test_buffers_of_an_extern_that_are_declared():
    A = te.placeholder((6,), name="A")
    Ab = tvm.tir.decl_buffer(A.shape, A.dtype, name="mine")
    out = tvm.tir.decl_buffer((6,), "float32", name="made")
    seen: list[object] = []

    def fill(ins, outs):
        seen.extend((*ins, *outs))
        return outs[0].vstore((0,), Ab.vload((5,)))

    B = te.extern((6,), [A], fill, in_buffers=Ab, out_buffers=[out], name="B")
    assert seen == [Ab, out] and isinstance(Ab, te.schedule.Buffer) and Ab.strides == [1] and B.dtype == "float32"
    with pytest.raises(
        tvm.TVMError, match=r"^buffer 'other' is of shape \[7\] and float32, and tensor 'A' of shape \[6\]"
    ):
        te.extern((6,), [A], fill, in_buffers=[tvm.tir.decl_buffer((7,), name="other")])


def test_several_functions_of_python_between_loops():
    log: list[str] = []

    @tvm.register_func("compat.tvm.test.halve", override=True)
    def halve(x, y, times, name):
        log.append(f"{name} {times} {x.shape}")
        tvm.nd.array(x.numpy() / 2**times).copyto(y)

    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    shared = te.compute((n,), lambda i: A[i] * 3, name="shared")

    def halved(x, times, name):
        return te.extern(
            (n,), [x], lambda i, o: tir.call_packed("compat.tvm.test.halve", i[0], o[0], times, name), name=name
        )

    C = halved(B, 1, "first")
    D = te.compute((n,), lambda i: C[i] + shared[i], name="D")
    E = halved(D, n, "second")
    F = te.compute((n,), lambda i: E[i] - shared[i] + B[i], name="F")
    s = te.create_schedule(F.op)
    s[shared].compute_inline()
    outer, inner = s[B].split(B.op.axis[0], 4)
    s[B].parallel(outer)
    text = str(tvm.lower(s, [A, F], simple_mode=True))
    assert text.count("loop.kernel") == 3 and text.count("parallel") == 1
    a, f = np.random.rand(3).astype("float32"), tvm.nd.empty((3,))
    tvm.build(s, [A, F])(a, f)
    expected = ((a + 1) / 2 + a * 3) / 8 - a * 3 + a + 1
    tvm.testing.assert_allclose(f.numpy(), expected, rtol=1e-5)
    assert log == ["first 1 (3,)", "second 3 (3,)"]


def test_what_functions_of_python_are_refused():
    A = te.placeholder((4,), name="A")
    B = te.extern((4,), [A], lambda ins, outs: tir.call_packed("compat.tvm.test.nobody", ins[0], outs[0]), name="B")
    f = tvm.build(te.create_schedule(B.op), [A, B])
    with pytest.raises(tvm.TVMError, match="^there is no function 'compat.tvm.test.nobody': register one by this name"):
        f(np.zeros(4, "float32"), tvm.nd.empty((4,)))
    with pytest.raises(tvm.TVMError, match="^call_packed of 'f' takes buffers, numbers and texts, not a list$"):
        tir.call_packed("f", [A])
    with pytest.raises(tvm.TVMError, match="^extern 'B': call_packed is given 'A', which is none of ins and outs$"):
        other = tvm.tir.decl_buffer((4,), name="A")
        te.extern((4,), [A], lambda ins, outs: tir.call_packed("f", other), name="B")
    with pytest.raises(tvm.TVMError, match="^'B' is filled by a function of Python, so that the schedule is several"):
        str(te.create_schedule(B.op))
    C = te.compute((4,), lambda i: B[i] + A[i], name="C")
    D = te.compute((4,), lambda i: A[i] + 1, name="D")
    E = te.extern((4,), [D], lambda ins, outs: tir.call_packed("f", ins[0], outs[0]), name="E")
    F = te.compute((4,), lambda i: E[i] + D[i], name="F")
    s = te.create_schedule(F.op)
    s[D].compute_at(s[F], F.op.axis[0])
    with pytest.raises(tvm.TVMError, match="relates stages 'D' and 'F', between which a function of Python is called$"):
        tvm.build(s, [A, F])
    assert C.op.name == "C"


def test_an_instruction_tells_what_it_is():
    x, y = te.placeholder((16,), name="x"), te.placeholder((16,), name="y")
    z = te.compute(x.shape, lambda i: x[i] + y[i], name="z")

    def intrin_func(ins, outs):
        assert isinstance(ins[0], te.schedule.Buffer) and ins[0].shape[0].value == 16
        return tvm.tir.call_packed("vadd", ins[0].data, outs[0].data, ins[0].shape[0])

    intrin = te.decl_tensor_intrin(z.op, intrin_func, default_buffer_params={"offset_factor": 16})
    assert intrin.op == z.op and intrin.reduce_init is None and tuple(intrin.inputs) == tuple(z.op.input_tensors)
    assert intrin.buffers[0].shape[0].value == 16
    x, y = te.placeholder((32,), name="x"), te.placeholder((32,), name="y")
    z = te.compute(x.shape, lambda i: x[i] + y[i], name="z")
    s = te.create_schedule(z.op)
    _, xi = s[z].split(z.op.axis[0], factor=16)
    s[z].tensorize(xi, intrin)
    assert s[z].iter_var_attrs[xi].tensor_intrin is intrin
    assert s[z].iter_var_attrs[xi].iter_type == te.schedule.IterVar.Tensorized
    assert "loop.intrinsic @tensor_intrin" in str(tvm.lower(s, [x, y, z]))
    with pytest.raises(tvm.TVMError, match="has no snippet|no emitter|nothing"):
        tvm.build(s, [x, y, z])
    with pytest.raises(tvm.TVMError, match="^intrinsic 'tensor_intrin' is called in a compute: write what it computes"):
        intrin(x, y)


def test_where_an_instruction_takes_parts():
    a = te.placeholder((4,), name="a")
    b = te.compute((4,), lambda i: a[i] + 1, name="b")
    intrin = te.decl_tensor_intrin(
        b.op, lambda ins, outs: {"c": "copy();"}, binds={a: tvm.tir.decl_buffer(a.shape, name="a", offset_factor=4)}
    )
    X = te.placeholder((18,), name="X")
    Y = te.compute((16,), lambda i: X[i + 2] + 1, name="Y")
    s = te.create_schedule(Y.op)
    s[Y].tensorize(s[Y].split(Y.op.axis[0], 4)[1], intrin)
    with pytest.raises(
        tvm.TVMError, match="takes parts of a that begin at a multiple of 4 elements, and this one begins"
    ):
        tvm.lower(s, [X, Y])


def test_functions_of_c_on_numbers():
    x = te.placeholder((4,), name="x")
    with pytest.raises(tvm.TVMError, match="^call_extern of 'my_function' on numbers: te has C's functions of math"):
        tir.call_extern("float32", "my_function", x[0])
    with pytest.raises(tvm.TVMError, match="is given by a function|calls 'f' of C among statements"):
        B = te.extern((4,), [x], lambda ins, outs: _called(ins), name="B")
        tvm.lower(te.create_schedule(B.op), [x, B])


def _called(ins):
    ib = tvm.tir.ir_builder.create()
    ib.emit(te.ExternCall("int32", "f", (1,)))
    return ib.get()


def test_a_definition_in_c_is_kept():
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i], name="B")
    s = te.create_schedule(B.op)
    source = "int compat_defined_once(int x) { return x + 1; }"
    s[B].pragma(B.op.axis[0], "import_c", source)
    s[B].pragma(B.op.axis[0], "import_c", source)
    with pytest.raises(
        tvm.TVMError, match="^there is another C function 'compat_defined_once' in this process already"
    ):
        s[B].pragma(B.op.axis[0], "import_c", source.replace("1", "2"))
    with pytest.raises(tvm.TVMError, match="does not take the code"):
        s[B].pragma(B.op.axis[0], "import_c", "int broken(")
    with pytest.raises(tvm.TVMError, match="^pragma 'import_c' takes a text of C, not a int$"):
        s[B].pragma(B.op.axis[0], "import_c", 3)


# -- scans


def test_bounds_of_a_scan():
    m, n = te.var("m"), te.var("n")
    X = te.compute((m, n), lambda i, j: tvm.tir.const(1, "float32"), name="x")
    state = te.placeholder((m, n))
    init = te.compute((1, n), lambda _, i: X[0, i])
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i])
    scan = tvm.te.scan(init, update, state)
    s = te.create_schedule(scan.op)
    XX = s.cache_read(X, "local", update)
    xo, xi = s[update].split(update.op.axis[1], factor=4)
    s[XX].compute_at(s[update], xo)
    bounds = te.schedule.InferBound(s.normalize())
    assert bounds[XX.op.axis[1]].extent.value == 4 and scan.op.scan_axis.dom.min.value == 1
