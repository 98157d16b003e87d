"""int4 and uint4, which are kept two to a byte: te on them against numpy and ml_dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from programs import apply_phase
from xdsl.dialects.builtin import ModuleOp

import tilework as tw
from tilework import te
from tilework.algebra.errors import UsageError
from tilework.dialects.loop import ForOp, Kind
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.check_semantics import SemanticCheck
from tilework.frontends.te.errors import ScheduleError
from tilework.runtime.cache import KernelCache

Array = np.ndarray[Any, Any]

LENGTHS = (0, 1, 2, 7, 16, 33, 64, 101)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def halves(shape: int | tuple[int, ...], dtype: str = "int4") -> Array:
    """Every value of the type, at random."""
    return np.random.default_rng(3).integers(-8, 8, shape).astype(getattr(ml_dtypes, dtype))


def empty(shape: int | tuple[int, ...], dtype: str) -> Array:
    """Memory that holds something else than the results."""
    return np.full(shape, 5).astype(getattr(ml_dtypes, dtype, dtype))


def elementwise(n: object, source: str, to: str, value: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    A = te.placeholder((n,), source, name="A")
    B = te.compute((n,), lambda i: value(A[i]).astype(to), name="B")
    return te.create_schedule(B.op), A, B


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
@pytest.mark.parametrize("to", ["int8", "uint8", "int32", "float32", "float16", "bool"])
def test_what_is_read(dtype: str, to: str, cache: KernelCache):
    n = te.var("n")
    s, A, B = elementwise(n, dtype, to, lambda a: a)
    outer, inner = s[B].split(B.op.axis[0], 8)
    s[B].vectorize(inner)
    s[B].parallel(outer)
    f = tw.build(s, [A, B], cache=cache)
    for length in LENGTHS:
        a, b = halves(length, dtype), empty(length, to)
        f(a, b)
        np.testing.assert_array_equal(b, a.astype(to))


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
@pytest.mark.parametrize("source", ["int8", "uint8", "int32", "float32", "bfloat16", "bool"])
def test_what_is_written_wraps(dtype: str, source: str, cache: KernelCache):
    n = te.var("n")
    s, A, B = elementwise(n, source, dtype, lambda a: a)
    _, inner = s[B].split(B.op.axis[0], 8)
    s[B].vectorize(inner)
    f = tw.build(s, [A, B], cache=cache)
    for length in LENGTHS:
        low = 0 if source in ("uint8", "bool") else -100
        a = np.random.default_rng(3).integers(low, 100, length).astype(getattr(ml_dtypes, source, source))
        b = empty(length, dtype)
        f(a, b)
        np.testing.assert_array_equal(b, a.astype(np.int32).astype(b.dtype))


SCHEDULES: dict[str, Callable[[Any, Any], object]] = {
    "plain": lambda s, B: None,
    "unrolled tail": lambda s, B: s[B].unroll(s[B].split(B.op.axis[1], 4)[1]),
    "vector tail": lambda s, B: s[B].vectorize(s[B].split(B.op.axis[1], 4)[1]),
    "odd vectors": lambda s, B: s[B].vectorize(s[B].split(B.op.axis[1], 3)[1]),
    "rows as vectors": lambda s, B: s[B].vectorize(B.op.axis[1]),
    "columns as vectors": lambda s, B: (s[B].reorder(*B.op.axis[::-1]), s[B].vectorize(B.op.axis[0])),
    "fused": lambda s, B: s[B].vectorize(s[B].split(s[B].fuse(*B.op.axis), 8)[1]),
    "fused, parallel": lambda s, B: s[B].parallel(s[B].split(s[B].fuse(*B.op.axis), 8)[0]),
}


@pytest.mark.parametrize("shape", [(5, 7), (4, 8), (3, 1)])
@pytest.mark.parametrize("name", SCHEDULES)
def test_stores_under_schedules(name: str, shape: tuple[int, int], cache: KernelCache):
    A = te.placeholder(shape, "uint4", name="A")
    T = te.compute(shape, lambda i, j: (A[i, j].astype("int8") * 3).astype("int4"), name="T")
    B = te.compute(shape, lambda i, j: te.if_then_else(j > 0, T[i, j - 1], A[i, j].astype("int4")), name="B")
    s = te.create_schedule(B.op)
    SCHEDULES[name](s, B)
    a, b = halves(shape, "uint4"), empty(shape, "int4")
    tw.build(s, [A, B], cache=cache)(a, b)
    tripled = (a.astype(np.int8) * 3).astype(b.dtype)
    expected = np.hstack([a[:, :1].astype(np.int8).astype(b.dtype), tripled[:, :-1]])
    np.testing.assert_array_equal(b, expected)


def test_a_matrix_of_int4_with_scales_times_a_vector(cache: KernelCache):
    """Weight-only quantisation: 4-bit weights, a float scale for each group of 32."""
    rows, columns, group = 33, 256, 32
    W = te.placeholder((rows, columns), "int4", name="W")
    S = te.placeholder((rows, columns // group), name="S")
    X = te.placeholder((columns,), name="X")
    k = te.reduce_axis((0, columns), "k")
    Y = te.compute((rows,), lambda i: te.sum(W[i, k] * S[i, k // group] * X[k], axis=k), name="Y")
    s = te.create_schedule(Y.op)
    _, lanes = s[Y].split(k, 16)
    partial = s.rfactor(Y, lanes)
    s[partial].vectorize(s[partial].op.axis[0])
    s[partial].reorder(s[partial].op.axis[1], s[partial].op.reduce_axis[0], s[partial].op.axis[0])
    s[partial].compute_at(s[Y], Y.op.axis[0])
    s[Y].parallel(Y.op.axis[0])
    f = tw.build(s, [W, S, X, Y], cache=cache)
    random = np.random.default_rng(0)
    w, scales = halves((rows, columns)), random.random((rows, columns // group), np.float32)
    x, y = random.random(columns, np.float32), np.empty(rows, np.float32)
    f(w, scales, x, y)
    np.testing.assert_allclose(y, (w.astype(np.float32) * np.repeat(scales, group, 1)) @ x, rtol=1e-5, atol=1e-4)
    assert "vector<8xi8>" in str(tw.lower(s, [W, S, X, Y])), "weights are loaded eight bytes at a time"


def test_rank_zero_and_constants(cache: KernelCache):
    A = te.placeholder((), "int4", name="A")
    B = te.compute((), lambda: te.if_then_else(A[()].astype("bool"), A[()], te.const(-7, "int4")), name="B")
    f = tw.build(te.create_schedule(B.op), [A, B], cache=cache)
    for given, expected in ((-5, -5), (0, -7)):
        b = empty((), "int4")
        f(np.array(given).astype(ml_dtypes.int4), b)
        assert b == ml_dtypes.int4(expected)


def test_gathered_by_uint4(cache: KernelCache):
    T = te.placeholder((16, 3), "int4", name="T")
    At = te.placeholder((9,), "uint4", name="At")
    G = te.compute((9, 3), lambda i, j: T[At[i], j], name="G")
    t, at, g = halves((16, 3)), halves(9, "uint4"), empty((9, 3), "int4")
    tw.build(te.create_schedule(G.op), [T, At, G], cache=cache)(t, at, g)
    np.testing.assert_array_equal(g, t[at.astype(int)])


def test_a_reducer_that_carries_int4(cache: KernelCache):
    K = te.placeholder((5, 9), name="K")
    V = te.placeholder((5, 9), "int4", name="V")
    best = te.comm_reducer(
        lambda x, y: (te.Select(x[1] >= y[1], x[0], y[0]), te.max(x[1], y[1])),
        lambda value, key: (te.const(0, value), te.min_value(key)),
    )
    k = te.reduce_axis((0, 9), "k")
    B, M = te.compute((5,), lambda i: best((V[i, k], K[i, k]), axis=k), name="best")
    keys = np.random.default_rng(0).permutation(45).reshape(5, 9).astype(np.float32)
    v, b, m = halves((5, 9)), empty(5, "int4"), np.empty(5, np.float32)
    tw.build(te.create_schedule(B.op), [K, V, B, M], cache=cache)(keys, v, b, m)
    np.testing.assert_array_equal(b, v[np.arange(5), keys.argmax(1)])


def test_statements(cache: KernelCache):
    """te.extern on int4: a buffer of its own, and elements back to front."""
    A = te.placeholder((7,), "int4", name="A")

    def reversed_(ins: Any, outs: Any) -> Any:
        ib = te.ir_builder.create()
        X, Y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        held = ib.allocate("int4", 1, name="held", scope="local")
        with ib.for_range(0, 7, name="i") as i:
            held[0] = X[6 - i]
            Y[i] = held[0]
        return ib.get()

    B = te.extern((7,), [A], reversed_, dtype="int4", name="B")
    a, b = halves(7), empty(7, "int4")
    tw.build(te.create_schedule(B.op), [A, B], cache=cache)(a, b)
    np.testing.assert_array_equal(b, a[::-1])


def test_a_stage_of_its_own_is_a_byte_an_element(cache: KernelCache):
    """What a kernel keeps for itself may be written in parallel, whatever the rows' length."""
    A = te.placeholder((6, 7), "int8", name="A")
    T = te.compute((6, 7), lambda i, j: A[i, j].astype("int4"), name="T")
    B = te.compute((6, 7), lambda i, j: T[5 - i, j].astype("int32"), name="B")
    s = te.create_schedule(B.op)
    s[T].parallel(T.op.axis[0])
    assert "scratch(%T: memref<6x7xi8>)" in str(tw.lower(s, [A, B]))
    a, b = np.arange(42, dtype=np.int8).reshape(6, 7), np.empty((6, 7), np.int32)
    tw.build(s, [A, B], cache=cache)(a, b)
    np.testing.assert_array_equal(b, a[::-1].astype(ml_dtypes.int4).astype(np.int32))


# -- what is refused


@pytest.mark.parametrize(
    ("function", "write"),
    [
        ("add", lambda a: a + 1),
        ("sub", lambda a: -a),
        ("xor", lambda a: ~a),
        ("lt", lambda a: a < 3),
        ("eq", lambda a: a == a),
        ("max", lambda a: te.max(a, a)),
        ("abs", te.abs),
        ("add", lambda a: te.sum(a, axis=te.reduce_axis((0, 4), "k"))),
    ],
)
def test_no_arithmetic(function: str, write: Callable[[Any], object]):
    A = te.placeholder((4,), "uint4", name="A")
    with pytest.raises(
        UsageError, match=f"{function} of uint4, which is a type to keep values in: convert with astype"
    ):
        write(A[0])


def test_numbers_that_do_not_fit():
    A = te.placeholder((4,), "int4", name="A")
    with pytest.raises(UsageError, match="8 does not fit int4, which holds -8 to 7"):
        te.compute((4,), lambda i: te.Select(i > 0, A[i], 8))
    with pytest.raises(UsageError, match="-1 does not fit uint4, which holds 0 to 15"):
        te.const(-1, "uint4")


def test_threads_that_would_write_one_byte():
    A = te.placeholder((5, 7), "int8", name="A")
    B = te.compute((5, 7), lambda i, j: A[i, j].astype("int4"), name="B")
    s = te.create_schedule(B.op)
    s[B].parallel(B.op.axis[0])
    with pytest.raises(
        ScheduleError, match="two iterations of the parallel loop 'i' may write 4-bit integers of one byte"
    ):
        tw.build(s, [A, B])


def test_arrays_of_another_type(cache: KernelCache):
    s, A, B = elementwise(4, "int4", "uint4", lambda a: a)
    f = tw.build(s, [A, B], cache=cache)
    with pytest.raises(UsageError, match=r"'A' is int8.* takes int4: convert with A.astype\(ml_dtypes.int4\)"):
        f(np.zeros(4, np.int8), empty(4, "uint4"))
    with pytest.raises(UsageError, match="'B' is int4, .* writes uint4"):
        f(halves(4), empty(4, "int4"))


# -- passes and rules

TEXT = """
te.kernel @odd_rows(%x: tensor<303x301xf32>) -> tensor<301x303xi4> {
  %y = te.compute "y" [i: 301, j: 303] : tensor<301x303xi4> {
    %v = te.read %x[j, i] : tensor<303x301xf32>
    %w = arith.fptosi %v : f32 to i4
    te.yield %w : i4
  }
  te.return %y : tensor<301x303xi4>
}
te.kernel @one_after_another(%x: tensor<?x303xi8, #graph.dims<[N, 303]>>) -> tensor<?x303xui4, #graph.dims<[N, 303]>> {
  %y = te.compute "y" [i: N, j: 303] : tensor<?x303xui4, #graph.dims<[N, 303]>> {
    %v = te.read %x[i, j] : tensor<?x303xi8, #graph.dims<[N, 303]>>
    %w = arith.trunci %v : i8 to i4
    te.yield %w : i4
  }
  te.return %y : tensor<?x303xui4, #graph.dims<[N, 303]>>
}
te.kernel @sums(%x: tensor<301x303x40xi4>) -> tensor<301x303xi4> {
  %s = te.compute "s" [i: 301, j: 303] reduce [k: 40] : tensor<301x303xi32> {
    %v = te.read %x[i, j, k] : tensor<301x303x40xi4>
    %w = arith.extsi %v : i4 to i32
    te.reduce add %w : i32
  }
  %z = te.compute "z" [i: 301, j: 303] : tensor<301x303xi4> {
    %v = te.read %s[i, j] : tensor<301x303xi32>
    %w = arith.trunci %v : i32 to i4
    te.yield %w : i4
  }
  te.return %z : tensor<301x303xi4>
}
"""


def lowered(text: str, *instrumentations: SemanticCheck) -> ModuleOp:
    module = SourceParser(make_context(), text, "<test>").parse_module()
    apply_phase("compile-kernel", module, instrumentations)
    return module


def test_no_pass_changes_an_answer():
    check = SemanticCheck()
    lowered(TEXT.replace("301", "5").replace("303", "9"), check)
    compared = [c for c in check.report.comparisons if c.pass_name == "loop-emulate-narrow-types"]
    assert len(compared) == 3 and all(c.elements and c.bitwise for c in compared)


def test_default_schedules_share_no_bytes():
    """Threads write a tensor of int4 only where they write whole vectors of it one after another."""
    loops = [op for op in lowered(TEXT).walk() if isinstance(op, ForOp)]
    assert [op.axis.data for op in loops if op.kind.data is Kind.PARALLEL] == ["i.j.outer"]
