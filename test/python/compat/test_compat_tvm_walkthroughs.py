"""What users of TVM learn te from, in programs that differ from theirs in the line that imports."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilework.compat.tvm as tvm
from tilework.compat.tvm import te, tir, topi
from tilework.compat.tvm.contrib import cblas, clang

RNG = np.random.default_rng(0)


def uniform(*shape: int, dtype: str = "float32"):
    return tvm.nd.array(RNG.uniform(size=shape).astype(dtype))


def zeros(*shape: int, dtype: str = "float32"):
    return tvm.nd.array(np.zeros(shape, dtype))


# -- getting started


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=haswell", "c"])
def test_a_vector_sum_for_any_length(target: str):
    tgt = tvm.target.Target(target=target, host="llvm")
    n = te.var("n")
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=64)
    s[C].parallel(outer)
    s[C].vectorize(inner)
    fadd = tvm.build(s, [A, B, C], tgt, name="myadd")
    dev = tvm.device(tgt.kind.name, 0)
    for size in (1, 64, 1000):
        a, b, c = uniform(size), uniform(size), zeros(size)
        fadd(a, b, c)
        tvm.testing.assert_allclose(c.numpy(), a.numpy() + b.numpy())
    evaluator = fadd.time_evaluator(fadd.entry_name, dev, number=3, repeat=2)
    found = evaluator(a, b, c)
    assert len(found.results) == 2 and 0 < found.min <= found.mean <= found.max


# -- schedule primitives


def test_primitives_change_the_loops_and_not_the_result():
    m, n = 20, 36
    A, B = te.placeholder((m, n), name="A"), te.placeholder((m, n), name="B")
    C = te.compute((m, n), lambda i, j: A[i, j] * B[i, j], name="C")
    a, b = uniform(m, n), uniform(m, n)

    def check(shape, s):
        text = str(tvm.lower(s, [A, B, C], simple_mode=True))
        assert re.findall(r"= 0 to (\w+)", text) == shape
        c = zeros(m, n)
        tvm.build(s, [A, B, C])(a, b, c)
        tvm.testing.assert_allclose(c.numpy(), a.numpy() * b.numpy())

    s = te.create_schedule([C.op])
    check(["20", "36"], s)
    xo, _ = s[C].split(C.op.axis[0], factor=8)
    check(["3", "min", "36"], s)
    s = te.create_schedule(C.op)
    s[C].split(s[C].op.axis[0], nparts=3)
    check(["3", "min", "36"], s)
    s = te.create_schedule(C.op)
    xo, yo, xi, yi = s[C].tile(C.op.axis[0], C.op.axis[1], x_factor=10, y_factor=6)
    check(["2", "6", "10", "6"], s)
    s[C].reorder(xi, yo, xo, yi)
    check(["10", "6", "2", "6"], s)
    fused = s[C].fuse(yo, xo)
    check(["10", "12", "6"], s)
    s[C].unroll(yi)
    s[C].parallel(fused)
    s[C].vectorize(xi)
    assert "unrolled" in str(tvm.lower(s, [A, B, C], simple_mode=True))


def test_where_stages_are_computed():
    m = 48
    A = te.placeholder((m,), name="A")
    B = te.compute((m,), lambda i: A[i] + 1, name="B")
    C = te.compute((m,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    at_root = str(tvm.lower(s, [A, B, C], simple_mode=True))
    s[B].compute_at(s[C], C.op.axis[0])
    inside = str(tvm.lower(s, [A, C], simple_mode=True))
    s[B].compute_inline()
    inlined = str(tvm.lower(s, [A, C], simple_mode=True))
    s[B].compute_root()
    assert at_root.count("loop.for") == 2 and inlined.count("loop.for") == 1 and "memref.alloca" in inside
    a, b, c = uniform(m), zeros(m), zeros(m)
    tvm.build(s, [A, B, C])(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), (a.numpy() + 1) * 2)


# -- reductions


def test_a_sum_of_rows_factored_over_threads():
    n, m = 24, 130
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(B.op.reduce_axis[0], factor=16)
    BF = s.rfactor(B, ki)
    assert tuple(BF.shape) == (16, n) and len(s[B].op.reduce_axis) == 1
    s[BF].parallel(BF.op.axis[0])
    s[BF].compute_root()
    a, b = uniform(n, m), zeros(n)
    tvm.build(s, [A, B])(a, b)
    tvm.testing.assert_allclose(b.numpy(), a.numpy().sum(axis=1), rtol=1e-4)


def test_a_sum_of_rows_by_threads_of_a_block():
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(B.op.reduce_axis[0], factor=16)
    BF = s.rfactor(B, ki)
    xo, xi = s[B].split(s[B].op.axis[0], factor=16)
    s[B].bind(xo, te.thread_axis("blockIdx.x"))
    s[B].bind(xi, te.thread_axis("threadIdx.y"))
    tx = te.thread_axis("threadIdx.x")
    s[B].bind(s[B].op.reduce_axis[0], tx)
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    s[B].set_store_predicate(tx.var.equal(0))
    text = str(tvm.lower(s, [A, B], simple_mode=True))
    assert all(f'"{tag}"' in text or tag in text for tag in ("blockIdx.x", "threadIdx.x", "threadIdx.y"))
    if tvm.testing.device_enabled("opencl"):
        fcuda = tvm.build(s, [A, B], "opencl")
        a, b = uniform(100, 70), zeros(100)
        fcuda(a, b)
        tvm.testing.assert_allclose(b.numpy(), a.numpy().sum(axis=1), rtol=1e-4)
        assert "kernel" in fcuda.imported_modules[0].get_source()


def test_a_reducer_of_ones_own():
    product = te.comm_reducer(lambda x, y: x * y, lambda t: tvm.tir.const(1, dtype=t), name="product")
    n, m = 5, 7
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    B = te.compute((n,), lambda i: product(A[i, k], axis=k), name="B")
    a, b = uniform(n, m), zeros(n)
    tvm.build(te.create_schedule(B.op), [A, B])(a, b)
    tvm.testing.assert_allclose(b.numpy(), a.numpy().prod(axis=1), rtol=1e-4)


def test_reduction_axes_of_a_convolution():
    n = te.var("n")
    Input, Filter = te.placeholder((n, n), name="Input"), te.placeholder((3, 3), name="Filter")
    di, dj = te.reduce_axis((0, 3), name="di"), te.reduce_axis((0, 3), name="dj")
    Output = te.compute(
        (n - 2, n - 2), lambda i, j: te.sum(Input[i + di, j + dj] * Filter[di, dj], axis=[di, dj]), name="Output"
    )
    x, w, y = uniform(9, 9), uniform(3, 3), zeros(7, 7)
    tvm.build(te.create_schedule(Output.op), [Input, Filter, Output])(x, w, y)
    windows = np.lib.stride_tricks.sliding_window_view(x.numpy(), (3, 3))
    tvm.testing.assert_allclose(y.numpy(), (windows * w.numpy()).sum((2, 3)), rtol=1e-4)


# -- scans


def test_a_running_sum():
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    s_state = te.placeholder((m, n))
    s_init = te.compute((1, n), lambda _, i: X[0, i])
    s_update = te.compute((m, n), lambda t, i: s_state[t - 1, i] + X[t, i])
    s_scan = tvm.te.scan(s_init, s_update, s_state, inputs=[X])
    s = te.create_schedule(s_scan.op)
    xo, xi = s[s_update].split(s_update.op.axis[1], factor=4)
    s[s_update].vectorize(xi)
    x, y = uniform(9, 6), zeros(9, 6)
    tvm.build(s, [X, s_scan])(x, y)
    tvm.testing.assert_allclose(y.numpy(), np.cumsum(x.numpy(), axis=0), rtol=1e-5)


def test_a_scan_of_two_states_with_a_stage_between():
    m, n = 8, 6
    X = te.placeholder((m, n), name="X")
    s1, s2 = te.placeholder((m, n)), te.placeholder((m, n))
    init1, init2 = (te.compute((1, n), lambda _, i: X[0, i]) for _ in range(2))
    doubled = te.compute((m, n), lambda t, i: s1[t - 1, i] * 2, name="doubled")
    update1 = te.compute((m, n), lambda t, i: doubled[t, i] + X[t, i])
    update2 = te.compute((m, n), lambda t, i: s2[t - 1, i] + s1[t - 1, i])
    r1, r2 = te.scan([init1, init2], [update1, update2], [s1, s2], [X])
    s = te.create_schedule(r1.op)
    s[doubled].compute_inline()
    x, y, z = uniform(m, n), zeros(m, n), zeros(m, n)
    tvm.build(s, [X, r1, r2])(x, y, z)
    first, second = [x.numpy()[0]], [x.numpy()[0]]
    for t in range(1, m):
        second.append(second[-1] + first[-1])
        first.append(first[-1] * 2 + x.numpy()[t])
    tvm.testing.assert_allclose(y.numpy(), np.stack(first), rtol=1e-4)
    tvm.testing.assert_allclose(z.numpy(), np.stack(second), rtol=1e-4)


# -- several results


def test_computes_of_several_results():
    m, n = 6, 5
    A0, A1 = te.placeholder((m, n), name="A0"), te.placeholder((m, n), name="A1")
    B0, B1 = te.compute((m, n), lambda i, j: (A0[i, j] + 2, A1[i, j] * 3), name="B")
    a, b, x, y = uniform(m, n), uniform(m, n), zeros(m, n), zeros(m, n)
    tvm.build(te.create_schedule(B0.op), [A0, A1, B0, B1])(a, b, x, y)
    tvm.testing.assert_allclose(x.numpy(), a.numpy() + 2)
    tvm.testing.assert_allclose(y.numpy(), b.numpy() * 3)


def test_an_argmax():
    def fcombine(x, y):
        lhs = tvm.tir.Select((x[1] >= y[1]), x[0], y[0])
        rhs = tvm.tir.Select((x[1] >= y[1]), x[1], y[1])
        return lhs, rhs

    argmax = te.comm_reducer(fcombine, lambda t0, t1: (tvm.tir.const(-1, t0), tvm.te.min_value(t1)), name="argmax")
    m, n = te.var("m"), te.var("n")
    idx, val = te.placeholder((m, n), name="idx", dtype="int32"), te.placeholder((m, n), name="val", dtype="int32")
    k = te.reduce_axis((0, n), "k")
    T0, T1 = te.compute((m,), lambda i: argmax((idx[i, k], val[i, k]), axis=k), name="T")
    where = np.tile(np.arange(11, dtype=np.int32), (4, 1))
    best = RNG.permutation(44).reshape(4, 11).astype(np.int32)
    x, y = zeros(4, dtype="int32"), zeros(4, dtype="int32")
    tvm.build(te.create_schedule(T0.op), [idx, val, T0, T1])(where, best, x, y)
    np.testing.assert_array_equal(x.numpy(), best.argmax(1))
    np.testing.assert_array_equal(y.numpy(), best.max(1))


# -- intrinsics and mathematics


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x: tvm.tir.call_pure_extern("float32", "expf", x), np.exp),
        (lambda x: tir.call_extern("float32", "__sinf", x), np.sin),
        (te.exp, np.exp),
        (tir.log, np.log),
        (te.sqrt, np.sqrt),
        (tir.tanh, np.tanh),
        (te.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
        (lambda x: te.power(x, 2.5), lambda x: x**2.5),
        (lambda x: te.floor(x * 4), lambda x: np.floor(x * 4)),
        (lambda x: te.fmod(x, 0.3), lambda x: np.fmod(x, np.float32(0.3))),
        (lambda x: tir.if_then_else(x > 0.5, x, 0.0), lambda x: np.where(x > 0.5, x, 0)),
        (lambda x: te.max(te.min(x, 0.7), 0.2), lambda x: np.clip(x, 0.2, 0.7)),
    ],
)
def test_functions_of_values(function, expected):
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute(A.shape, lambda i: function(A[i]), name="B")
    a, b = tvm.nd.array(RNG.uniform(0.1, 0.9, 40).astype("float32")), zeros(40)
    tvm.build(te.create_schedule(B.op), [A, B], "llvm")(a, b)
    tvm.testing.assert_allclose(b.numpy(), expected(a.numpy()), rtol=1e-5, atol=1e-6)


# -- tensorize

GEMV = """
extern "C" int compat_gemv_update(float *cc, float *aa, float *bb, int m, int l, int stride) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < l; ++j)
      cc[i] += aa[j] * bb[i * stride + j];
  return 0;
}
extern "C" int compat_gemv_reset(float *cc, int m) {
  for (int i = 0; i < m; ++i)
    cc[i] = 0.0f;
  return 0;
}
"""


def intrin_gemv(m, depth):
    a, b = te.placeholder((depth,), name="a"), te.placeholder((m, depth), name="b")
    k = te.reduce_axis((0, depth), name="k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    Ab = tvm.tir.decl_buffer(a.shape, a.dtype, name="A", offset_factor=1, strides=[1])
    Bb = tvm.tir.decl_buffer(b.shape, b.dtype, name="B", offset_factor=1, strides=[te.var("s1"), 1])
    Cb = tvm.tir.decl_buffer(c.shape, c.dtype, name="C", offset_factor=1, strides=[1])

    def intrin_func(ins, outs):
        aa, bb = ins
        cc = outs[0]

        def statement(name, *args):
            ib = tvm.tir.ir_builder.create()
            ib.emit(tvm.tir.call_extern("int32", name, *args))
            return ib.get()

        update = statement(
            "compat_gemv_update",
            *(cc.access_ptr("w"), aa.access_ptr("r"), bb.access_ptr("r"), m, depth, bb.strides[0]),
        )
        return update, statement("compat_gemv_reset", cc.access_ptr("w"), m), update

    return te.decl_tensor_intrin(c.op, intrin_func, binds={a: Ab, b: Bb, c: Cb})


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_tensorize_with_a_function_of_c(target: str):
    N, M, L = 32, 48, 64
    A, B = te.placeholder((N, L), name="A"), te.placeholder((M, L), name="B")
    k = te.reduce_axis((0, L), name="k")
    C = te.compute((N, M), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    x, y = C.op.axis
    (z,) = C.op.reduce_axis
    yo, yi = s[C].split(y, factor=16)
    zo, zi = s[C].split(z, factor=16)
    s[C].reorder(x, yo, zo, yi, zi)
    s[C].tensorize(yi, intrin_gemv(16, 16))
    s[C].pragma(yo, "import_llvm", clang.create_llvm(GEMV))
    text = str(tvm.lower(s, [A, B, C]))
    assert "loop.intrinsic @tensor_intrin.update" in text and "loop.intrinsic @tensor_intrin.reset" in text
    a, b, c = uniform(N, L), uniform(M, L), zeros(N, M)
    tvm.build(s, [A, B, C], target=target)(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), a.numpy() @ b.numpy().T, rtol=1e-3)


# -- products of matrices on a processor

M = K = N = 96


def operands():
    k = te.reduce_axis((0, K), "k")
    A, B = te.placeholder((M, K), name="A"), te.placeholder((K, N), name="B")
    C = te.compute((M, N), lambda m, n: te.sum(A[m, k] * B[k, n], axis=k), name="C")
    return A, B, C


def blocked(s, C, bn=32):
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], bn, bn)
    (kaxis,) = s[C].op.reduce_axis
    return mo, no, mi, ni, *s[C].split(kaxis, factor=4)


def by_blocking():
    A, B, C = operands()
    s = te.create_schedule(C.op)
    mo, no, mi, ni, ko, ki = blocked(s, C)
    s[C].reorder(mo, no, ko, ki, mi, ni)
    return s, [A, B, C]


def by_vectors():
    A, B, C = operands()
    s = te.create_schedule(C.op)
    mo, no, mi, ni, ko, ki = blocked(s, C)
    s[C].reorder(mo, no, ko, ki, mi, ni)
    s[C].vectorize(ni)
    return s, [A, B, C]


def by_permutation():
    A, B, C = operands()
    s = te.create_schedule(C.op)
    mo, no, mi, ni, ko, ki = blocked(s, C)
    s[C].reorder(mo, no, ko, mi, ki, ni)
    s[C].vectorize(ni)
    return s, [A, B, C]


def packed(bn=32):
    A, B, _ = operands()
    k = te.reduce_axis((0, K), "k")
    packedB = te.compute((N // bn, K, bn), lambda bigN, k, littleN: B[k, bigN * bn + littleN], name="packedB")
    C = te.compute(
        (M, N),
        lambda m, n: te.sum(A[m, k] * packedB[n // bn, k, tvm.tir.indexmod(n, bn)], axis=k),
        name="C",
    )
    return A, B, packedB, C


def by_packing():
    A, B, packedB, C = packed()
    s = te.create_schedule(C.op)
    mo, no, mi, ni, ko, ki = blocked(s, C)
    s[C].reorder(mo, no, ko, mi, ki, ni)
    s[C].vectorize(ni)
    bigN, _, littleN = s[packedB].op.axis
    s[packedB].vectorize(littleN)
    s[packedB].parallel(bigN)
    return s, [A, B, C]


def by_write_cache():
    A, B, packedB, C = packed()
    s = te.create_schedule(C.op)
    CC = s.cache_write(C, "global")
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], 32, 32)
    s[CC].compute_at(s[C], no)
    mc, nc = s[CC].op.axis
    (kaxis,) = s[CC].op.reduce_axis
    ko, ki = s[CC].split(kaxis, factor=4)
    s[CC].reorder(ko, mc, ki, nc)
    s[CC].unroll(ki)
    s[CC].vectorize(nc)
    s[C].parallel(mo)
    bigN, _, littleN = s[packedB].op.axis
    s[packedB].vectorize(littleN)
    s[packedB].parallel(bigN)
    return s, [A, B, C]


@pytest.mark.parametrize("program", [by_blocking, by_vectors, by_permutation, by_packing, by_write_cache])
def test_a_product_of_matrices_step_by_step(program):
    s, arguments = program()
    a, b, c = uniform(M, K), uniform(K, N), zeros(M, N)
    func = tvm.build(s, arguments, target="llvm", name="mmult")
    func(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), a.numpy() @ b.numpy(), rtol=1e-4)


# -- a convolution on a device


def convolution_for_a_device(batch=64, in_channel=8, out_channel=64, in_size=6, kernel=3, pad=1, stride=1):
    A = te.placeholder((in_size, in_size, in_channel, batch), name="A")
    W = te.placeholder((kernel, kernel, in_channel, out_channel), name="W")
    out_size = (in_size - kernel + 2 * pad) // stride + 1
    Apad = te.compute(
        (in_size + 2 * pad, in_size + 2 * pad, in_channel, batch),
        lambda yy, xx, cc, nn: tvm.tir.if_then_else(
            tvm.tir.all(yy >= pad, yy - pad < in_size, xx >= pad, xx - pad < in_size),
            A[yy - pad, xx - pad, cc, nn],
            tvm.tir.const(0.0, "float32"),
        ),
        name="Apad",
    )
    rc, ry, rx = (
        te.reduce_axis((0, in_channel), "rc"),
        te.reduce_axis((0, kernel), "ry"),
        te.reduce_axis((0, kernel), "rx"),
    )
    B = te.compute(
        (out_size, out_size, out_channel, batch),
        lambda yy, xx, ff, nn: te.sum(
            Apad[yy * stride + ry, xx * stride + rx, rc, nn] * W[ry, rx, rc, ff], axis=[ry, rx, rc]
        ),
        name="B",
    )
    s = te.create_schedule(B.op)
    s[Apad].compute_inline()
    AA, WW = s.cache_read(Apad, "shared", [B]), s.cache_read(W, "shared", [B])
    AL, WL = s.cache_read(AA, "local", [B]), s.cache_read(WW, "local", [B])
    BL = s.cache_write(B, "local")
    num_thread, tile, step, vthread = 4, 4, 4, 2
    block_factor = tile * num_thread * vthread
    block_x, block_y, block_z = (te.thread_axis(f"blockIdx.{d}") for d in "xyz")
    thread_x, thread_y = te.thread_axis((0, num_thread), "threadIdx.x"), te.thread_axis((0, num_thread), "threadIdx.y")
    thread_xz = te.thread_axis((0, vthread), "vthread", name="vx")
    thread_yz = te.thread_axis((0, vthread), "vthread", name="vy")
    hi, wi, fi, ni = s[B].op.axis
    bz = s[B].fuse(hi, wi)
    by, fi = s[B].split(fi, factor=block_factor)
    bx, ni = s[B].split(ni, factor=block_factor)
    s[B].bind(bz, block_z)
    s[B].bind(by, block_y)
    s[B].bind(bx, block_x)
    tyz, fi = s[B].split(fi, nparts=vthread)
    txz, ni = s[B].split(ni, nparts=vthread)
    ty, fi = s[B].split(fi, nparts=num_thread)
    tx, ni = s[B].split(ni, nparts=num_thread)
    s[B].reorder(bz, by, bx, tyz, txz, ty, tx, fi, ni)
    for axis, thread in ((tyz, thread_yz), (txz, thread_xz), (ty, thread_y), (tx, thread_x)):
        s[B].bind(axis, thread)
    s[BL].compute_at(s[B], tx)
    yi, xi, fi, ni = s[BL].op.axis
    ry, rx, rc = s[BL].op.reduce_axis
    rco, rci = s[BL].split(rc, factor=step)
    s[BL].reorder(rco, ry, rx, rci, fi, ni)
    s[AA].compute_at(s[BL], rx)
    s[WW].compute_at(s[BL], rx)
    s[AL].compute_at(s[BL], rci)
    s[WL].compute_at(s[BL], rci)
    for cached in (AA, WW):
        _, _, ci, last = s[cached].op.axis
        ty, ci = s[cached].split(ci, nparts=num_thread)
        tx, last = s[cached].split(last, nparts=num_thread)
        _, inner = s[cached].split(last, factor=4)
        s[cached].reorder(ty, tx, *(axis for axis in s[cached].leaf_iter_vars if axis not in (ty, tx)))
        s[cached].bind(ty, thread_y)
        s[cached].bind(tx, thread_x)
        s[cached].vectorize(inner)
    return s, [A, W, B]


def test_a_convolution_for_a_device_as_loops():
    text = str(tvm.lower(*convolution_for_a_device(), simple_mode=True))
    assert all(tag in text for tag in ("blockIdx.z", "threadIdx.x", "threadIdx.y", "vthread", '"shared"', '"local"'))


@tvm.testing.requires_opencl
def test_a_convolution_for_a_device_runs():
    s, arguments = convolution_for_a_device()
    func = tvm.build(s, arguments, "opencl")
    a, w, b = uniform(6, 6, 8, 64), uniform(3, 3, 8, 64), zeros(6, 6, 64, 64)
    func(a, w, b)
    padded = np.pad(a.numpy(), ((1, 1), (1, 1), (0, 0), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(0, 1))
    tvm.testing.assert_allclose(b.numpy(), np.einsum("yxcnij,ijcf->yxfn", windows, w.numpy()), rtol=1e-3)


# -- functions outside


def test_a_library_multiplies():
    n, depth, m = 24, 16, 20
    bias = te.var("bias", dtype="float32")
    A, B = te.placeholder((n, depth), name="A"), te.placeholder((depth, m), name="B")
    C = te.extern(
        (n, m),
        [A, B],
        lambda ins, outs: tvm.tir.call_packed("tvm.contrib.cblas.matmul", ins[0], ins[1], outs[0], False, False),
        name="C",
    )
    D = te.compute(C.shape, lambda i, j: C[i, j] + bias, name="D")
    a, b, d = uniform(n, depth), uniform(depth, m), zeros(n, m)
    f = tvm.build(te.create_schedule(D.op), [A, B, D, bias], "llvm")
    f(a, b, d, 10.0)
    tvm.testing.assert_allclose(d.numpy(), a.numpy() @ b.numpy() + 10, rtol=1e-5)
    E = cblas.matmul(A, B)
    e = zeros(n, m)
    tvm.build(te.create_schedule(E.op), [A, B, E])(a, b, e)
    tvm.testing.assert_allclose(e.numpy(), a.numpy() @ b.numpy(), rtol=1e-5)


def test_a_function_of_python_is_called():
    @tvm.register_func("compat.tvm.test.add_one", override=True)
    def my_tvm_addone(x, y):
        assert isinstance(x, tvm.nd.NDArray) and x.shape == (7,)
        tvm.nd.array(x.numpy() + 1).copyto(y)

    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.extern(
        A.shape, [A], lambda ins, outs: tvm.tir.call_packed("compat.tvm.test.add_one", ins[0], outs[0]), name="C"
    )
    a, b = uniform(7), zeros(7)
    tvm.build(te.create_schedule(B.op), [A, B], "llvm")(a, b)
    tvm.testing.assert_allclose(b.numpy(), a.numpy() + 1, rtol=1e-5)


# -- hybrid scripts


def test_a_hybrid_script_feeds_a_compute():
    @te.hybrid.script
    def prefix_product(a):
        b = output_tensor(a.shape, a.dtype)  # noqa: F821  a word of hybrid scripts
        running = 1.0
        for i in range(a.shape[0]):
            running *= a[i]
            b[i] = running
        return b

    A = te.placeholder((12,), name="A")
    B = prefix_product(A)
    C = topi.add(B, 1.0)
    s = te.create_schedule(C.op)
    s[C].vectorize(C.op.axis[0])
    a, c = uniform(12), zeros(12)
    tvm.build(s, [A, C])(a, c)
    tvm.testing.assert_allclose(c.numpy(), np.cumprod(a.numpy()) + 1, rtol=1e-5)
    tvm.testing.assert_allclose(prefix_product(a.numpy()), np.cumprod(a.numpy()), rtol=1e-5)
