"""te in Python: what tensors equal, compiled and compared with numpy. Names as in TVM's test_lang_tensor."""

import numpy as np
import pytest

import tilework as tw
from tilework import te


def integers(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """Small integers, so that sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(dtype)


# tvm: test_lang_tensor/rank_zero
def test_rank_zero(run_te):
    n = 37
    A = te.placeholder((n,), name="A")
    scale = te.placeholder((), name="scale")
    k = te.reduce_axis((0, n), name="k")
    T = te.compute((), lambda: te.sum(A[k] * scale(), axis=k), name="T")
    U = te.compute((), lambda: T() + 1, name="U")
    assert T.ndim == 0 and U.shape == ()
    a = integers(n)
    np.testing.assert_array_equal(run_te(te.create_schedule(U.op), [A, scale, U], a, np.float32(3)), a.sum() * 3 + 1)


# tvm: test_lang_tensor/conv1d
def test_conv1d(run_te):
    n = te.size_var("n")
    A = te.placeholder((n + 2,), name="A")
    size = te.placeholder((n,), name="size")
    B = te.compute((n,), lambda i: A[i] + A[i + 1] * 2 + A[i + 2] + size[i], name="B")
    a, zero = integers(12), np.zeros(10, np.float32)
    result = run_te(te.create_schedule(B.op), [size, A, B], zero, a, shapes=[(10,)])
    np.testing.assert_array_equal(result, a[:-2] + 2 * a[1:-1] + a[2:])


# tvm: test_lang_tensor/tensor_slice
def test_tensor_slice(run_te):
    A = te.compute((5, 6), lambda i, j: i * 10 + j, name="A")
    B = te.compute((6,), lambda j: A[0][j] + A[1][5 - j], name="B")
    j = np.arange(6)
    np.testing.assert_array_equal(run_te(te.create_schedule(B.op), [B]), j + 10 + 5 - j)


# tvm: test_lang_tensor/tensor_reduce_multi_axis
def test_tensor_reduce_multi_axis(run_te):
    A = te.placeholder((4, 6), name="A")
    k1, k2 = te.reduce_axis((0, 4), "k1"), te.reduce_axis((1, 6), "k2")
    C = te.compute((1,), lambda _: te.sum(A[k1, k2], axis=(k1, k2)), name="C")
    D = te.compute((1,), lambda _: te.max(A[k1, k2], axis=[k1, k2]), name="D")
    a = integers(4, 6)
    c, d = run_te(te.create_schedule([C.op, D.op]), [A, C, D], a)
    assert c == a[:, 1:].sum() and d == a[:, 1:].max()


def argmax_reducer():
    return te.comm_reducer(
        lambda x, y: (te.Select(x[1] >= y[1], x[0], y[0]), te.Select(x[1] >= y[1], x[1], y[1])),
        lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
        name="argmax",
    )


# tvm: test_lang_tensor/tensor_comm_reducer test_lang_tensor/tensor_comm_reducer_overload
def test_tensor_comm_reducer(run_te):
    A = te.placeholder((5, 9), name="A")
    k = te.reduce_axis((0, 9), "k")
    product = te.comm_reducer(lambda x, y: x * y, lambda t: te.const(1, dtype=t), name="product")
    B = te.compute((5,), lambda i: product(A[i, k], axis=k), name="B")
    a = np.random.default_rng(0).uniform(0.5, 2, (5, 9)).astype(np.float32)
    np.testing.assert_allclose(run_te(te.create_schedule(B.op), [A, B], a), a.prod(axis=1), rtol=1e-5)
    C = te.compute((5,), lambda i: te.max(te.sum(A[i, 0], A[i, 1]), te.prod(A[i, 2], 2)), name="C")
    expected = np.maximum(a[:, 0] + a[:, 1], a[:, 2] * 2)
    np.testing.assert_array_equal(run_te(te.create_schedule(C.op), [A, C], a), expected)


# tvm: test_lang_tensor/tensor_reduce
def test_tensor_reduce(run_te):
    m, n, l = te.size_var("m"), te.size_var("n"), te.size_var("l")  # noqa: E741  TVM's name
    A, B = te.placeholder((m, l), name="A"), te.placeholder((n, l), name="B")
    k = te.reduce_axis((0, l), "k")
    C = te.compute((m, n), lambda y, x: te.sum(A[y, k] * B[x, k], axis=k), name="C")
    assert C.op.reduce_axis == [k]
    assert C.op.input_tensors == [A, B] and [a.name for a in C.op.axis] == ["y", "x"]
    f = tw.build(te.create_schedule(C.op), [A, B, C])
    for shape in ((3, 4, 5), (1, 1, 1), (0, 2, 3), (8, 40, 0)):
        a, b = integers(shape[0], shape[2]), integers(shape[1], shape[2], seed=1)
        c = np.full(shape[:2], np.nan, np.float32)
        f(a, b, c)
        np.testing.assert_array_equal(c, a @ b.T)


# tvm: test_lang_tensor/tensor_reduce_multiout_with_cond
def test_tensor_reduce_multiout_with_cond(run_te):
    key, value = te.placeholder((6, 10), "int32", name="key"), te.placeholder((6, 10), name="value")
    k = te.reduce_axis((0, 10), "k")
    best, where = te.compute(
        (6,), lambda i: argmax_reducer()((key[i, k], value[i, k]), axis=k, where=key[i, k] > 2), name="best"
    )
    assert best.op is where.op and best.op.num_outputs == 2 and best.dtype == "int32"
    keys, values = integers(6, 10, dtype="int32"), integers(6, 10, seed=1)
    found, found_value = run_te(te.create_schedule(best.op), [key, value, best, where], keys, values)
    for i in range(6):
        chosen = [(v, -j) for j, v in enumerate(values[i]) if keys[i, j] > 2]
        v, j = max(chosen) if chosen else (np.finfo(np.float32).min, None)
        assert found_value[i] == v
        assert found[i] == (-1 if j is None else keys[i, -j])


def test_where_of_a_named_reducer(run_te):
    A = te.placeholder((6, 8), name="A")
    k = te.reduce_axis((0, 8), "k")
    B = te.compute((6,), lambda i: te.sum(A[i, k], axis=k, where=te.all(k <= i, A[i, k] > 0)), name="B")
    a = integers(6, 8)
    expected = (a * (np.tri(6, 8) > 0) * (a > 0)).sum(axis=1)
    np.testing.assert_array_equal(run_te(te.create_schedule(B.op), [A, B], a), expected)


def test_what_takes_no_part_in_a_reduction_is_not_read(run_te):
    A, at = te.placeholder((10,), name="A"), te.placeholder((14,), "int32", name="at")
    k = te.reduce_axis((0, 14), "k")
    B = te.compute((1,), lambda _: te.sum(A[k - 2], axis=k, where=te.all(k >= 2, k < 12)), name="B")
    C = te.compute((1,), lambda _: te.max(A[at[k]], axis=k, where=at[k] >= 0), name="C")
    a, places = integers(10), np.array([-1, 3, -(2**31), 9, 0, 1, 2, -7, 4, 5, 6, 7, 8, -2], np.int32)
    b, c = run_te(te.create_schedule([B.op, C.op]), [A, at, B, C], a, places)
    assert b[0] == a.sum() and c[0] == a.max()


# tvm: test_lang_tensor/tuple_inputs test_lang_tensor/tensor_inputs
def test_tuple_inputs(run_te):
    A0, A1 = te.placeholder((4, 5), name="A0"), te.placeholder((4, 5), name="A1")
    T0, T1 = te.compute((4, 5), lambda i, j: (A0[i, j] * 2, A1[i, j] * 3), name="T")
    assert T0.op.input_tensors == [A0, A1] and (T0.value_index, T1.value_index) == (0, 1)
    a, b = integers(4, 5), integers(4, 5, seed=1)
    t0, t1 = run_te(te.create_schedule(T0.op), [A0, A1, T0, T1], a, b)
    np.testing.assert_array_equal(t0, 2 * a)
    np.testing.assert_array_equal(t1, 3 * b)


# tvm: test_lang_tensor/tuple_with_different_deps
def test_tuple_with_different_deps(run_te):
    A0, A1 = te.placeholder((4, 5), name="A0"), te.placeholder((4, 5), name="A1")
    B0, B1 = te.compute((4, 5), lambda i, j: (A0[i, j] * 2, A1[i, j] * 3), name="B")
    C = te.compute((4, 5), lambda i, j: B0[i, j] + 4, name="C")
    s = te.create_schedule(C.op)
    xo, xi = s[C].split(C.op.axis[0], factor=2)
    s[B0].compute_at(s[C], xo)
    a = integers(4, 5)
    np.testing.assert_array_equal(run_te(s, [A0, A1, C], a, a), 2 * a + 4)


# tvm: test_lang_tensor/tensor_pool
def test_tensor_pool(run_te):
    A = te.placeholder((1, 3, 8, 8), name="A")
    dh, dw = te.reduce_axis((0, 2), "dh"), te.reduce_axis((0, 2), "dw")
    B = te.compute((1, 3, 4, 4), lambda n, c, y, x: te.max(A[n, c, 2 * y + dh, 2 * x + dw], axis=[dh, dw]), name="B")
    a = integers(1, 3, 8, 8)
    expected = a.reshape(1, 3, 4, 2, 4, 2).max(axis=(3, 5))
    np.testing.assert_array_equal(run_te(te.create_schedule(B.op), [A, B], a), expected)


# tvm: test_lang_tensor/tensor_scalar_mixed
def test_tensor_scalar_mixed(run_te):
    A, scale = te.placeholder((7,), name="A"), te.placeholder((), name="scale")
    B = te.compute((7,), lambda i: A[i] * scale(), name="B")
    a = integers(7)
    np.testing.assert_array_equal(run_te(te.create_schedule(B.op), [A, scale, B], a, np.float32(2)), 2 * a)


def test_if_then_else_is_lazy(run_te):
    A = te.placeholder((10,), name="A")
    padded = te.compute((14,), lambda i: te.if_then_else(te.all(i >= 2, i < 12), A[i - 2], 0), name="padded")
    other = te.compute((14,), lambda i: te.if_then_else(te.any(i < 2, i >= 12), -1, A[i - 2]), name="other")
    odd = te.compute((14,), lambda i: te.if_then_else(te.all(i != 3, te.any(i < 2, i > 12)), 1.0, 2.0), name="odd")
    a = integers(10)
    found = run_te(te.create_schedule([padded.op, other.op, odd.op]), [A, padded, other, odd], a)
    np.testing.assert_array_equal(found[0], np.pad(a, 2))
    np.testing.assert_array_equal(found[1], np.pad(a, 2, constant_values=-1))
    i = np.arange(14)
    np.testing.assert_array_equal(found[2], np.where((i != 3) & ((i < 2) | (i > 12)), 1, 2))


def test_if_then_else_on_data_is_lazy(run_te):
    """Where the condition does not hold the index is out of bounds."""
    A, at = te.placeholder((8,), name="A"), te.placeholder((12,), "int32", name="at")
    B = te.compute((12,), lambda i: te.if_then_else(te.all(at[i] >= 0, at[i] < 8), A[at[i]], -1), name="B")
    a, indices = integers(8), np.array([0, -1, 7, 8, 1000000000, 3, -(2**31), 2, 1, 0, 4, 5], np.int32)
    inside = (indices >= 0) & (indices < 8)
    expected = np.where(inside, a[np.where(inside, indices, 0)], -1)
    np.testing.assert_array_equal(run_te(te.create_schedule(B.op), [A, at, B], a, indices), expected)


def test_what_a_condition_reads_is_guarded_by_the_tests_of_indices(run_te):
    """Neither element of A exists at the first index, nor at the last."""
    A = te.placeholder((10,), name="A")
    left = te.compute((11,), lambda i: te.if_then_else(te.all(A[i - 1] > 0, i > 0), A[i - 1], 0), name="left")
    right = te.compute((11,), lambda i: te.if_then_else(te.any(i > 9, ~(A[i] > 0)), -1, A[i]), name="right")
    a = integers(10)
    found = run_te(te.create_schedule([left.op, right.op]), [A, left, right], a)
    np.testing.assert_array_equal(found[0], np.maximum([0, *a], 0))
    np.testing.assert_array_equal(found[1], np.where(np.array([*a, 0]) > 0, [*a, 0], -1))


def test_select(run_te):
    A = te.placeholder((20,), name="A")
    B = te.compute((20,), lambda i: te.Select(A[i] > 2, A[i], te.Select(i % 2 == 0, 0.5, -1.0)), name="B")
    a = integers(20)
    expected = np.where(a > 2, a, np.where(np.arange(20) % 2 == 0, 0.5, -1))
    np.testing.assert_array_equal(run_te(te.create_schedule(B.op), [A, B], a), expected)


def test_tests_of_indices_in_vectors(run_te):
    """What is no plain bound is computed in lanes: a loop has no place to be split at."""
    A = te.placeholder((8, 32), name="A")
    rule = te.compute(
        (8, 32),
        lambda i, j: (
            te.Select(te.any(i == j // 4, te.max(i, 3) * j % 5 == 2), A[i, j], -A[i, j])
            + te.if_then_else(j % 2 != 0, 1.0, te.min(i, j).astype("float32"))
        ),
        name="rule",
    )
    s = te.create_schedule(rule.op)
    s[rule].vectorize(s[rule].split(rule.op.axis[1], factor=16)[1])
    a, (i, j) = integers(8, 32), np.indices((8, 32))
    expected = np.where((i == j // 4) | (np.maximum(i, 3) * j % 5 == 2), a, -a) + np.where(j % 2, 1, np.minimum(i, j))
    np.testing.assert_array_equal(run_te(s, [A, rule], a), expected)
    text = str(tw.lower(s, [A, rule]))
    assert "not vectorized: the condition" not in text


def test_gather(run_te):
    table, at = te.placeholder((50, 4), name="table"), te.placeholder((6,), "int64", name="at")
    B = te.compute((6, 4), lambda i, j: table[at[i], j] + table[(at[i] + 1) % 50, 3 - j], name="B")
    t, indices = integers(50, 4), np.array([3, 49, 0, 20, 20, 7])
    expected = t[indices] + t[(indices + 1) % 50][:, ::-1]
    np.testing.assert_array_equal(run_te(te.create_schedule(B.op), [table, at, B], t, indices), expected)


def test_indices_are_numbers(run_te):
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * i + (n - i) * 2, name="B")
    C = te.compute((n,), lambda i: te.max(i, 3) - te.min(n, 5), name="C")
    a = integers(9)
    b, c = run_te(te.create_schedule([B.op, C.op]), [A, B, C], a, shapes=[(9,), (9,)])
    i = np.arange(9)
    np.testing.assert_array_equal(b, a * i + (9 - i) * 2)
    np.testing.assert_array_equal(c, np.maximum(i, 3) - 5)


# tvm: test_schedule_schedule_ops/loop_dep_reduce
def test_a_reduce_extent_that_depends_on_an_axis(run_te):
    X = te.placeholder((9,), name="X")

    def triangle(n):
        rv = te.reduce_axis((0, n), "rv")
        return te.sum(X[rv], axis=rv)

    Y = te.compute((10,), triangle, name="Y")
    x = integers(9)
    np.testing.assert_array_equal(run_te(te.create_schedule(Y.op), [X, Y], x), np.concatenate([[0], np.cumsum(x)]))


def test_names_of_axes():
    A = te.placeholder((2, 3), name="A")
    assert [a.name for a in te.compute((2, 3), lambda *indices: A(*indices)).op.axis] == ["i0", "i1"]
    assert [a.name for a in te.compute((2, 3), lambda i, *rest: A[(i, *rest)]).op.axis] == ["i", "i1"]
    assert [a.name for a in te.compute((2, 3), lambda *x: A(*x), varargs_names=["u", "v"]).op.axis] == ["u", "v"]


def test_axes_are_found_in_lists():
    A = te.placeholder((2, 3), name="A")
    B = te.compute((2, 3), lambda i, j: A[i, j], name="B")
    i, j = B.op.axis
    assert j in B.op.axis and B.op.axis.index(j) == 1 and [j, i] != B.op.axis and {i, j} == set(B.op.axis)
    assert te.reduce_axis((0, 3), "j") not in B.op.axis
    with pytest.raises(tw.UsageError, match="^a value has no truth value while the program is written: "):
        assert i == 0


def test_tags_and_attributes():
    A = te.placeholder((2,), name="A")
    with te.tag_scope("elemwise"):
        B = te.compute((2,), lambda i: A[i], attrs={"of": 3})
        C = te.compute((2,), lambda i: A[i], tag="own")
    assert (B.op.tag, C.op.tag, te.compute((2,), lambda i: A[i]).op.tag) == ("elemwise", "own", "")
    assert B.op.attrs == {"of": 3} and B.op.name == "compute" and A.op.name == "placeholder"[:0] + "A"


def test_equal_names_are_told_apart(run_te):
    """Two tensors, a symbol and an axis have the name n."""
    n = te.var("n")
    A = te.placeholder((n,), name="n")
    B = te.compute((n,), lambda n: A[n] + 1, name="n")
    C = te.compute((n,), lambda min: B[min] * 2, name="n")
    a = integers(5)
    np.testing.assert_array_equal(run_te(te.create_schedule(C.op), [A, C], a, shapes=[(5,)]), (a + 1) * 2)


def refused(action, message):
    with pytest.raises(tw.UsageError) as caught:
        action()
    assert str(caught.value) == message


# tvm: test_lang_verify_compute/verify_compute
def test_refusals():
    A, I = te.placeholder((4, 5), name="A"), te.placeholder((4,), "int32", name="I")  # noqa: E741
    k, j = te.reduce_axis((0, 5), "k"), te.reduce_axis((0, 5), "j")

    def compute(rule, shape=(4,)):
        return lambda: te.compute(shape, rule, name="B")

    top = (
        "Reductions are only allowed at the top level of compute. Please create another tensor for further composition."
    )
    refused(compute(lambda i: te.sum(A[i, k], axis=k) + 1), top)
    refused(compute(lambda i: te.sum(te.sum(A[i, k], axis=k), axis=j)), top)
    mixed = "the results of compute 'B' are all reductions, or none is: 1 of 2 are"
    refused(compute(lambda i: (te.sum(A[i, k], axis=k), A[i, 0])), mixed)
    refused(
        compute(lambda i: (te.sum(A[i, k], axis=k), te.max(A[i, j], axis=j))),
        "compute 'B' reduces over axes [k] for one result and over [j] for another: reduce all over the same axes, or "
        "make two computes",
    )
    refused(compute(lambda i: te.sum(A[i, k], axis=[])), "a reduction needs a reduce axis")
    refused(
        compute(lambda i: te.sum(A[i, 0], axis=[i])),
        "a reduction runs over axes made by te.reduce_axis, not over axis 'i'",
    )
    refused(compute(lambda i: A[i]), "1 indices into tensor 'A' of 2 dimensions")
    refused(compute(lambda i: A[i, 0, 0]), "3 indices into tensor 'A' of 2 dimensions")
    refused(compute(lambda i: A[i, 7]), "index 7 is outside dimension 1 of tensor 'A', which has extent 5")
    refused(compute(lambda i: A[i, A[i, 0]]), "an index is an integer, not float32")
    refused(compute(lambda i: I[i] / 2), "/ of int32: write // or te.floordiv, te.truncdiv, or convert with astype")
    refused(compute(lambda i: te.exp(I[i])), "exp takes floating-point numbers, not int32")
    refused(compute(lambda i: A[i, 0] & 1), "and takes integers or bools, not float32")
    refused(
        compute(lambda i: te.if_then_else(I[i], 1, 2)),
        "a condition is a bool, such as i < n or A[i] > 0; this one is int32",
    )
    refused(compute(lambda i: A), "a Tensor is used as a value: index a tensor for an element, as in A[i, j]")
    refused(compute(lambda i, j: A[i, j]), "a compute of 1 dimensions: its function takes 2 indices, i, j")
    refused(compute(lambda i: te.const(300, "uint8")), "300 does not fit uint8, which holds 0 to 255")
    refused(compute(lambda i: i // 0), "an index is divided by 0: the divisor must be positive")
    refused(
        compute(lambda i: 1.0 if A[i, 0] > 0 else 2.0),
        "a value has no truth value while the program is written: use te.if_then_else or te.Select, "
        "and te.all, te.any for and, or",
    )
    refused(
        lambda: te.placeholder((3,), "float31"),
        "unknown dtype 'float31'; known: float32, float64, float16, bfloat16, "
        "int4, int8, int16, int32, int64, uint4, uint8, uint16, uint32, uint64, bool",
    )
    refused(lambda: te.placeholder((-1,)), "a shape has the extent -1: extents are 0 or more")
    refused(lambda: te.size_var("x", "float32"), "te.size_var 'x' of float32: a symbol is an extent, int32 or int64")


def test_refusals_of_whole_programs():
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n,), name="A")
    other = te.compute((n,), lambda j: A[j], name="other")
    B = te.compute((n,), lambda i: A[i] + other.op.axis[0], name="B")
    message = (
        "compute 'B' uses 'j', which is neither one of its axes nor a te.var of a shape, nor one among the arguments"
    )
    refused(lambda: tw.lower(te.create_schedule(B.op), [A, B]), message)
    C = te.compute((m,), lambda i: A[i], name="C")
    message = "te.var 'm' is in no shape of an argument that is read: its value is not known"
    refused(lambda: tw.lower(te.create_schedule(C.op), [A, C]), message)
    D = te.compute((n,), lambda i: A[i], name="D")
    s = te.create_schedule(D.op)
    refused(lambda: tw.lower(s, [D]), "placeholder 'A' is read but is not among the arguments")
    refused(lambda: tw.lower(s, [A]), "output 'D' of the schedule is not among the arguments")
    refused(lambda: tw.lower(s, [A, C, D]), "argument 'C' is not part of this schedule")
    refused(lambda: tw.lower(s, [A, A, D]), "an argument is given twice")
    refused(lambda: te.create_schedule(A.op), "'A' is a placeholder: a schedule is of computes")
