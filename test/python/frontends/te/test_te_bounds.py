"""te in Python: reads out of bounds are refused where they are certain, and looked at in a call where sizes decide."""

import inspect

import numpy as np
import pytest

import tilework as tw
from tilework import te


def refusal(shape, rule, inputs) -> tw.UsageError:
    B = te.compute(shape, rule, name="B")
    with pytest.raises(tw.UsageError) as caught:
        tw.build(te.create_schedule(B.op), [*inputs, B])
    return caught.value


def test_the_message_names_the_line():
    A = te.placeholder((2, 2), dtype="int16", name="A")
    line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
    B = te.compute((2, 3), lambda d, z: A[z, d], name="B")
    with pytest.raises(tw.UsageError) as caught:
        tw.lower(te.create_schedule(B.op), [A, B])
    assert str(caught.value) == (
        "compute 'B' reads argument 0 (%A) out of bounds: "
        "axis 0 has 2 elements, index z runs from 0 to 2, and is 2 at z = 2"
    )
    assert caught.value.__notes__ == [f'File "{__file__}", line {line}']


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda A, k, n: lambda i: A[i + 1], "index i + 1 runs from 1 to 8, and is 8 at i = 7"),
        (lambda A, k, n: lambda i: A[(i * 3) % 9], "index 3 * (i mod 3) runs from 0 to 6"),
        (lambda A, k, n: lambda i: A[8 - i], "index -i + 8 runs from 1 to 8, and is 8 at i = 0"),
        (lambda A, k, n: lambda i: te.sum(A[i + k], axis=k), "index i + k runs from 0 to 9, and is 8 at i = 6, k = 2"),
        (lambda A, k, n: lambda i: te.sum(A[i + k], axis=k, where=k < 2), "and is 8 at i = 7, k = 1"),
        (lambda A, k, n: lambda i: te.if_then_else(i > 2, A[i - 4], 0), "index i - 4 runs from -1 to 3"),
        (lambda A, k, n: lambda i: te.if_then_else(te.any(i < 1, i > 5), A[i + 2], 0), "and is 8 at i = 6"),
        (lambda A, k, n: lambda i: te.if_then_else(te.all(i > 1, i < 7), 0, A[i - 1]), "and is -1 at i = 0"),
    ],
)
def test_certain_reads_are_refused(rule, message):
    A, k = te.placeholder((8,), name="A"), te.reduce_axis((0, 3), "k")
    if "mod" in message:
        A = te.placeholder((6,), name="A")
    assert message in str(refusal((8,), rule(A, k, te.var("n")), [A]))


def test_reads_that_conditions_keep_inside(run_te):
    """Conditions are on indices or on data, in `where=`, in `te.Select` as in `te.if_then_else`."""
    A, M = te.placeholder((8,), name="A"), te.placeholder((8,), "int32", name="M")
    k = te.reduce_axis((0, 8), "k")
    made = [
        te.compute((8,), lambda i: te.Select(M[i] > 0, A[i + 1], -1.0), name="B"),
        te.compute((8,), lambda i: te.if_then_else(te.all(i > 0, i < 7), A[i - 1] + A[i + 1], -1.0), name="C"),
        te.compute((1,), lambda _: te.sum(A[k + 1], axis=k, where=M[k] > 0), name="D"),
        te.compute((1,), lambda _: te.max(A[k - 2], axis=k, where=k >= 2), name="E"),
        te.compute((8,), lambda i: te.Select(M[i] > 0, A[M[i]], -1.0), name="F"),
    ]
    a, m = np.arange(8, dtype=np.float32) ** 2, np.array([1, 0, 1, 7, 0, -1, 2, 0], np.int32)
    wide = np.append(a, 0)
    expected = [
        np.where(m > 0, wide[1:], -1),
        np.array([-1, *(a[:-2] + a[2:]), -1]),
        wide[1:][m > 0].sum(keepdims=True),
        a[:6].max(keepdims=True),
        np.where(m > 0, a[m.clip(0)], -1),
    ]
    for found, wanted in zip(
        run_te(te.create_schedule([t.op for t in made]), [A, M, *made], a, m), expected, strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


def test_sizes_decide():
    """Where some sizes keep a read inside and others do not, those of a call are looked at."""
    n, m = te.var("n"), te.var("m")
    A, B = te.placeholder((n,), name="A"), te.placeholder((m,), name="B")
    C = te.compute((m,), lambda i: A[i] + B[i], name="C")
    D = te.compute((5,), lambda i: A[2 * i], name="D")
    f = tw.build(te.create_schedule([C.op, D.op]), [A, B, C, D])

    def call(n, m):
        a, b, c, d = (np.arange(size, dtype=np.float32) for size in (n, m, m, 5))
        f(a, b, c, d)
        np.testing.assert_array_equal(c, a[:m] + np.arange(m))
        np.testing.assert_array_equal(d, a[:9:2])

    call(9, 9)
    call(12, 4)
    call(9, 0)
    with pytest.raises(
        tw.UsageError,
        match="compute 'C' reads argument 0 .*%A.* is m - 1 at .* \\(m = 10 is .*, n = 9 is dimension",
    ):
        call(9, 10)
    with pytest.raises(tw.UsageError, match="compute 'D' reads .* runs from 0 to 8, and is 8 at .* \\(n = 8 is"):
        call(8, 3)


def test_nothing_is_read_of_an_empty_tensor():
    n, m = te.var("n"), te.var("m")
    A, I = te.placeholder((n,), name="A"), te.placeholder((m,), "int32", name="I")  # noqa: E741
    B = te.compute((m,), lambda i: A[I[i]], name="B")
    f = tw.build(te.create_schedule(B.op), [A, I, B])
    b = np.zeros(2, np.float32)
    f(np.array([3], np.float32), np.zeros(2, np.int32), b)
    assert b.tolist() == [3, 3]
    f(np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    with pytest.raises(
        tw.UsageError,
        match="compute 'B' reads .*%A.*, of which axis 0 is empty \\(m = 2 is .*, n = 0 is dimension",
    ):
        f(np.zeros(0, np.float32), np.zeros(2, np.int32), b)


def test_a_read_that_is_out_of_bounds_for_every_size():
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    message = "axis 0 has n elements, index i + 1 is n at i = n - 1"
    assert message in str(refusal((n,), lambda i: A[i + 1], [A]))


def test_division_of_indices_by_0():
    A, r = te.placeholder((8,), name="A"), te.reduce_axis((0, 3), "r")
    for rule, message in (
        (lambda i: te.max(A[(i + 2) % r], axis=r), "divides an index by 0 at r = 0: r in (i + 2) mod r"),
        (lambda i: te.max(A[i // (2 - r)], axis=r), "divides an index by 0 at r = 2: -r + 2 in i floordiv (-r + 2)"),
        (lambda i: te.max(A[i] * (12 // r), axis=r), "divides an index by 0 at r = 0: r in 12 floordiv r"),
    ):
        error = refusal((8,), rule, [A])
        assert message in str(error) and __file__ in error.__notes__[0]
    with pytest.raises(tw.UsageError, match="floordiv by 0: the divisor must be another number"):
        te.compute((8,), lambda i: A[i].astype("int32") // 0)


def test_statements(run_te):
    """Loads and stores of an extern as well."""
    A = te.placeholder((8,), name="A")

    def copy(distance):
        def write(ins, outs):
            ib = te.ir_builder.create()
            a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
            with ib.for_range(0, 8, name="i") as i:
                b[i] = a[i + distance]
            return ib.get()

        return te.extern((8,), [A], write, name="B")

    B = copy(0)
    a = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(run_te(te.create_schedule(B.op), [A, B], a), a)
    B = copy(1)
    with pytest.raises(tw.TileworkError, match=r"out of bounds: dimension 0 has 8 elements, the subscript"):
        tw.build(te.create_schedule(B.op), [A, B])


def test_a_read_that_very_many_expressions_use():
    """There are 2^60 ways from it to the result."""
    A = te.placeholder((4,), name="A")

    def powered(x):
        for _ in range(60):
            x = x * x
        return x

    B = te.compute((4,), lambda i: powered(A[i]), name="B")
    tw.lower(te.create_schedule(B.op), [A, B])
    assert "out of bounds" in str(refusal((5,), lambda i: powered(A[i]), [A]))
