"""Tensor intrinsics that are declared in Python: compared with loops, written by snippets, run against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilework as tw
from tilework import te

RANDOM = np.random.default_rng(46)
TARGETS = ("llvm", "c")


def vector_add(n: int) -> te.TensorIntrin:
    x, y = (te.placeholder((n,), name=name) for name in "xy")
    z = te.compute((n,), lambda i: x[i] + y[i], name="z")

    def written(ins: Any, outs: Any) -> Any:
        a, b, c = (buffer.access_ptr("r") for buffer in (*ins, *outs))
        llvm = [f"$_a = load <{n} x float>, ptr {a}, align 4", f"$_b = load <{n} x float>, ptr {b}, align 4"]
        llvm += [f"$_s = fadd <{n} x float> $_a, $_b", f"store <{n} x float> $_s, ptr {c}, align 4"]
        return {"llvm": llvm, "c": f"for (int k = 0; k < {n}; k++) {c}[k] = {a}[k] + {b}[k];"}

    return te.decl_tensor_intrin(z.op, written, name="vadd")


def gemv(m: int, n: int, parts: str = "body reset update") -> te.TensorIntrin:
    """Rows of a matrix times a vector; `parts` are those that there are instructions for."""
    a = te.placeholder((m, n), name="a")
    b = te.placeholder((n,), name="b")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((m,), lambda i: te.sum(a[i, k] * b[k], axis=k), name="c")
    binds = {a: te.decl_buffer((m, n), name="a", strides=[te.var("row"), 1], offset_factor=1)}

    def written(ins: Any, outs: Any) -> Any:
        x, y, z = (buffer.access_ptr("r") for buffer in (*ins, *outs))
        loops = f"for (int i = 0; i < {m}; i++)"
        sums = f"for (int k = 0; k < {n}; k++) {z}[i] += {x}[i * {ins[0].strides[0]} + k] * {y}[k];"
        reset = {"c": f"{loops} {z}[i] = 0;"}
        whole = {"c": f"{loops} {{ {z}[i] = 0; {sums} }}"}
        found = {"body": whole, "reset": reset, "update": {"c": f"{loops} {sums}"}}
        return tuple(found[part] if part in parts else None for part in ("body", "reset", "update"))

    return te.decl_tensor_intrin(c.op, written, name="gemv", binds=binds)


def product(m: int, n: int, l: int) -> tuple[te.Tensor, te.Tensor, te.Tensor]:  # noqa: E741
    A = te.placeholder((n, l), name="A")
    B = te.placeholder((m, l), name="B")
    k = te.reduce_axis((0, l), name="k")
    return A, B, te.compute((n, m), lambda i, j: te.sum(B[j, k] * A[i, k], axis=k), name="C")


def built(s: te.Schedule, args: list[te.Tensor], target: str, *inputs: np.ndarray) -> np.ndarray:
    result = np.empty([int(dim.offset) for dim in args[-1].dims], np.float32)
    tw.build(s, args, target=target)(*inputs, result)
    return result


# tvm: test_lang_schedule/tensor_intrin test_schedule_tensorize/tensorize_vadd
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("factor", [4, 16])
def test_vectors_are_added(target: str, factor: int):
    A, B = (te.placeholder((64,), name=name) for name in "AB")
    C = te.compute((64,), lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    _, xi = s[C].split(C.op.axis[0], factor=factor)
    s[C].tensorize(xi, vector_add(factor))
    assert f"loop.intrinsic @vadd writes %C[{factor} * %i_outer]" in str(tw.lower(s, [A, B, C]))
    a, b = (RANDOM.standard_normal(64, np.float32) for _ in "ab")
    np.testing.assert_array_equal(built(s, [A, B, C], target, a, b), a + b)


# tvm: test_schedule_tensorize/tensorize_matmul test_schedule_tensorize/tensorize_op
@pytest.mark.parametrize("parts", ["body", "reset update", "body reset update"])
def test_a_matrix_is_multiplied_by_a_vector(parts: str):
    """All of the reduction is inside; the matrix of the intrinsic has rows of any distance."""
    A, B, C = product(32, 12, 16)
    s = te.create_schedule(C.op)
    _, yi = s[C].split(C.op.axis[1], factor=8)
    s[C].tensorize(yi, gemv(8, 16, parts))
    text = str(tw.lower(s, [A, B, C]))
    assert ("loop.intrinsic @gemv writes" in text) == ("body" in parts)
    assert ("@gemv.reset writes" in text) == ("body" not in parts)
    a, b = RANDOM.integers(-4, 5, (12, 16)).astype(np.float32), RANDOM.integers(-4, 5, (32, 16)).astype(np.float32)
    np.testing.assert_array_equal(built(s, [A, B, C], "c", a, b), a @ b.T)


@pytest.mark.parametrize("parts", ["reset update", "body reset update"])
def test_parts_of_a_reduction_are_joined(parts: str):
    A, B, C = product(32, 12, 16)
    s = te.create_schedule(C.op)
    yo, yi = s[C].split(C.op.axis[1], factor=8)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=4)
    s[C].reorder(C.op.axis[0], yo, ko, yi, ki)
    s[C].tensorize(yi, gemv(8, 4, parts))
    text = str(tw.lower(s, [A, B, C]))
    assert "@gemv.reset writes" in text and "updates" in text
    a, b = RANDOM.integers(-4, 5, (12, 16)).astype(np.float32), RANDOM.integers(-4, 5, (32, 16)).astype(np.float32)
    np.testing.assert_array_equal(built(s, [A, B, C], "c", a, b), a @ b.T)


def test_two_intrinsics_of_one_name_are_two():
    A, B = (te.placeholder((64,), name=name) for name in "AB")
    C = te.compute((64,), lambda i: A[i] + B[i], name="C")
    D = te.compute((64,), lambda i: C[i] + B[i], name="D")
    s = te.create_schedule(D.op)
    for stage, factor in ((C, 4), (D, 8)):
        _, xi = s[stage].split(stage.op.axis[0], factor=factor)
        s[stage].tensorize(xi, vector_add(factor))
    text = str(tw.lower(s, [A, B, D]))
    assert text.count("te.intrinsic @vadd") == 2
    a, b = (RANDOM.standard_normal(64, np.float32) for _ in "ab")
    np.testing.assert_array_equal(built(s, [A, B, D], "llvm", a, b), a + b + b)


def test_an_intrinsic_that_a_back_end_does_not_know_is_refused():
    A, B, C = product(8, 12, 16)
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], gemv(8, 16))
    with pytest.raises(
        tw.TileworkError, match="the back end of 'llvm' has no emitter for it, and the declaration no sn"
    ):
        tw.build(s, [A, B, C])


def test_what_differs_is_shown_with_what_to_split():
    A, B, C = product(32, 12, 16)
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], gemv(8, 4))
    with pytest.raises(tw.TileworkError, match=r"\(split 'j' by 8, split 'k' by 4, and tensorize the inner loops\)"):
        tw.lower(s, [A, B, C])


X = te.placeholder((8,), name="x")
Y = te.compute((8,), lambda i: X[i] + 1.0, name="y")
N = te.var("n")
OPEN = te.placeholder((N,), name="open")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: te.decl_tensor_intrin(X, lambda *_: {}), "takes a compute that reads placeholders alone"),
        (
            lambda: te.decl_tensor_intrin(te.compute((8,), lambda i: Y[i] * 2.0).op, lambda *_: {}),
            "takes a compute that reads placeholders alone",
        ),
        (
            lambda: te.decl_tensor_intrin(te.compute((N,), lambda i: OPEN[i] * 2.0).op, lambda *_: {}),
            "of tensors whose shapes are known",
        ),
        (lambda: te.decl_tensor_intrin(Y.op, 3), "fcompute of decl_tensor_intrin is a function"),
        (lambda: te.decl_tensor_intrin(Y.op, lambda *_: None), "fcompute returns snippets, or three of these"),
        (lambda: te.decl_tensor_intrin(Y.op, lambda *_: 3), "snippets are a dictionary from kinds of targets"),
        (lambda: te.decl_tensor_intrin(Y.op, lambda *_: {"c": 3}), "the snippet for 'c' is a text, or a list of lines"),
        (
            lambda: te.decl_tensor_intrin(Y.op, lambda *_: (None, {"c": ""}, {"c": ""})),
            "returns a body alone, since the compute is no reduction",
        ),
        (lambda: te.decl_tensor_intrin(Y.op, lambda *_: {}, scalar_params=[1]), "takes no scalar_params"),
        (
            lambda: te.decl_tensor_intrin(Y.op, lambda *_: {}, binds={OPEN: te.decl_buffer((8,))}),
            "binds of decl_tensor_intrin names 'open', which it does not read",
        ),
        (
            lambda: te.decl_tensor_intrin(Y.op, lambda *_: {}, binds={X: te.decl_buffer((4,), name="b")}),
            r"buffer 'b' is of shape \[4\] and float32, and tensor 'x' of shape \[8\] and float32",
        ),
        (lambda: te.decl_tensor_intrin(Y.op, lambda *_: {}, binds={X: 3}), "tensors are bound to buffers"),
        (lambda: te.decl_buffer("8"), "an index is made of integers"),
        (lambda: te.decl_buffer((8,), strides=[1, 2]), "strides of buffer 'buffer' are a list of 1 numbers or te.vars"),
        (
            lambda: te.decl_buffer((8,), data_alignment=16),
            "data_alignment of decl_buffer is 16: arrays may begin at any element's address",
        ),
        (lambda: te.decl_buffer((8,), data=X), "data and elem_offset of decl_buffer are chosen where"),
    ],
)
def test_what_is_no_intrinsic_is_refused(call: Callable[[], Any], message: str):
    with pytest.raises(tw.UsageError, match=message):
        call()


# -- intrinsics on scalars


@pytest.mark.parametrize("target", TARGETS)
def test_words_of_bytes_are_multiplied(target: str):
    """In vectors, where lanes along the outputs are computed together."""
    A, B = te.placeholder((6, 8), "int32", name="A"), te.placeholder((8, 32), "int32", name="B")
    k = te.reduce_axis((0, 8), name="k")
    C = te.compute((6, 32), lambda i, j: te.sum(te.call_intrin("int32", "dot4.ui8i8", A[i, k], B[k, j]), axis=k))
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    jo, ji = s[C].split(j, factor=16)
    s[C].reorder(i, jo, k, ji)
    s[C].vectorize(ji)
    assert "loop.call_intrinsic @dot4.ui8i8" in str(tw.lower(s, [A, B, C]))
    a, b = (RANDOM.integers(-(2**31), 2**31, shape).astype(np.int32) for shape in ((6, 8), (8, 32)))
    result = np.empty((6, 32), np.int32)
    tw.build(s, [A, B, C], target=target)(a, b, result)
    rows = a.view(np.uint8).astype(np.int32)
    columns = np.ascontiguousarray(b.T).view(np.int8).astype(np.int32)
    np.testing.assert_array_equal(result, rows @ columns.T)


@pytest.mark.parametrize("target", TARGETS)
def test_words_of_bfloat16_are_multiplied(target: str):
    A, B = te.placeholder((7, 5), "int32", name="A"), te.placeholder((5, 32), "int32", name="B")
    k = te.reduce_axis((0, 5), name="k")
    C = te.compute((7, 32), lambda i, j: te.sum(te.call_intrin("float32", "bf16.dot", A[i, k], B[k, j]), axis=k))
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    jo, ji = s[C].split(j, factor=16)
    s[C].reorder(i, jo, k, ji)
    s[C].vectorize(ji)
    assert "loop.call_intrinsic @bf16.dot" in str(tw.lower(s, [A, B, C]))
    rows, columns = RANDOM.integers(-128, 129, (7, 10)), RANDOM.integers(-128, 129, (10, 32))  # so that sums are exact
    a, b = (x.astype(ml_dtypes.bfloat16) for x in (rows, columns.reshape(5, 2, 32).transpose(0, 2, 1)))
    result = np.empty((7, 32), np.float32)
    tw.build(s, [A, B, C], target=target)(a.view(np.int32), np.ascontiguousarray(b).view(np.int32)[..., 0], result)
    np.testing.assert_array_equal(result, rows @ columns)


def test_externs_call_intrinsics():
    A = te.placeholder((8, 4), "int32", name="A")

    def statements(ins: Any, outs: Any) -> Any:
        ib = te.ir_builder.create()
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 8, "i") as i:
            b[i] = te.call_intrin("int32", "dot4.ui8i8", a[i, 0], a[i, 1])
        return ib.get()

    B = te.extern((8,), [A], statements, dtype="int32", name="B")
    a, b = RANDOM.integers(-(2**31), 2**31, (8, 4)).astype(np.int32), np.empty(8, np.int32)
    tw.build(te.create_schedule(B.op), [A, B])(a, b)
    first, second = a[:, :1].copy().view(np.uint8).astype(np.int32), a[:, 1:2].copy().view(np.int8)
    np.testing.assert_array_equal(b, (first * second).sum(axis=1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: te.call_intrin("int32", "dot4.u8i8", x, x), "on scalars 'dot4.u8i8'; there are .*did you mean"),
        (lambda x: te.call_intrin("int32", "amx.tile_zero"), "there is no intrinsic on scalars 'amx.tile_zero'"),
        (lambda x: te.call_intrin("int32", 3), "there is no intrinsic on scalars a int"),
        (lambda x: te.call_intrin("int32", "dot4.ui8i8", x), r"is \(i32, i32\) -> i32, not \(i32\) -> i32"),
        (lambda x: te.call_intrin("float32", "dot4.ui8i8", x, x), r"is \(i32, i32\) -> i32, not \(i32, i32\) -> f32"),
        (lambda x: te.call_intrin("int33", "dot4.ui8i8", x, x), "int33"),
        (lambda x: te.call_intrin("int32", "bf16.dot", x, x), r"is \(i32, i32\) -> f32, not \(i32, i32\) -> i32"),
        (
            lambda x: te.call_intrin("float32", "bf16.dot", x, x.astype("float32")),
            r"is \(i32, i32\) -> f32, not \(i32, f32\) -> f32",
        ),
    ],
)
def test_calls_of_what_is_no_intrinsic_are_refused(call: Callable[[Any], Any], message: str):
    X = te.placeholder((8,), "int32", name="X")
    with pytest.raises(tw.UsageError, match=message):
        te.compute((8,), lambda i: call(X[i]))
