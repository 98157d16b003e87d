"""Hybrid scripts: compiled they do what they do in numpy."""

# The words of hybrid scripts are no names of Python.
# ruff: noqa: F821

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilework.compat.tvm as tvm
from tilework.compat.tvm import te
from tilework.compat.tvm.te.hybrid import script

RNG = np.random.default_rng(0)


def check(function: Any, *args: Any, sizes: dict[Any, int] | None = None):
    """Compiled for te tensors, the function makes what it makes of arrays."""
    known = sizes or {}
    made = function(*args)
    outputs = list(made) if isinstance(made, tuple | list) else [made]
    s = te.create_schedule(outputs[0].op)
    numbers = {key: known[key] for key in known}
    arrays = {}
    for arg in args:
        if isinstance(arg, te.Tensor):
            shape = [numbers.get(size, size) if isinstance(size, te.Var) else _size(size, known) for size in arg.shape]
            values = RNG.uniform(0.1, 4, shape)
            arrays[arg] = values.astype(arg.dtype)
    given = [arrays[arg] if isinstance(arg, te.Tensor) else known.get(arg, arg) for arg in args]
    expected = function(*given)
    expected = list(expected) if isinstance(expected, tuple | list) else [expected]
    results = [np.zeros(e.shape, e.dtype) for e in expected]
    passed = [arg for arg in args if isinstance(arg, te.Tensor | te.Var)]
    values = [arrays[arg] if isinstance(arg, te.Tensor) else known[arg] for arg in passed]
    tvm.build(s, [*passed, *outputs])(*values, *results)
    for got, right in zip(results, expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-6)


def _size(size: Any, known: dict[Any, int]) -> int:
    found = te.substitute(size, known)
    assert isinstance(found, int)
    return found


def test_loops_over_sizes():
    @script
    def outer_product(n, m, a, b):
        """What it computes."""
        c = output_tensor((n, m), a.dtype)
        for i in range(n):
            for j in range(m):
                assert i < n and j < m, "index out of range!"
                c[i, j] = a[i] * b[j]
        return c

    n, m = te.size_var("n"), te.size_var("m")
    check(outer_product, n, m, te.placeholder((n,), name="a"), te.placeholder((m,), name="b"), sizes={n: 9, m: 11})


def test_variables_that_change():
    @script
    def fanout(n, a):
        three = 3.0
        b = output_tensor((a.shape[0] - 3,), a.dtype)
        for i in range(a.shape[0] - 3):
            sigma = 0.0
            for j in range(3):
                sigma += a[i + j]
            sigma = sigma / three
            b[i] = sigma
        return b

    n = te.size_var("n")
    check(fanout, n, te.placeholder((n,), "float32", name="a"), sizes={n: 10})


def test_kinds_of_loops():
    @script
    def looptype(a, b, c):
        d = output_tensor((16,), "int32")
        e = output_tensor((16,), "int32")
        f = output_tensor((16,), "int32")
        for i in parallel(16):
            d[i] = a[i]
        for j in vectorize(16):
            e[j] = b[j]
        for k in unroll(16):
            f[k] = c[k]
        return d, e, f

    a, b, c = (te.placeholder((16,), name=name, dtype="int32") for name in "abc")
    check(looptype, a, b, c)
    d, *_ = looptype(a, b, c)
    text = str(tvm.lower(te.create_schedule(d.op), [a, b, c, *d.op.outputs], simple_mode=True))
    assert all(text.count(kind) == 1 for kind in ("parallel", "vectorized", "unrolled"))


def test_conditions():
    @script
    def conditions(a):
        b = output_tensor((10,), "float32")
        c = output_tensor((10,), "float32")
        for i in range(10):
            if 0 <= i < 5:
                b[i] = a[i]
            elif i >= 7 and not a[i] > 3:
                b[i] = a[i] + 1
            else:
                b[i] = 0.5
        for i in unroll(10):
            c[i] = -1.0 if i % 2 == 0 or i == 3 else 1.0
        return b, c

    check(conditions, te.placeholder((10,), name="a"))


def test_functions_of_numbers():
    @script
    def intrinsics(a):
        b = output_tensor((10,), "float32")
        b[0] = sqrt(a[0])
        b[1] = log(a[1])
        b[2] = exp(a[2])
        b[3] = sigmoid(a[3])
        b[4] = power(a[4], a[5])
        b[5] = tanh(a[5])
        b[6] = min(a[4], a[5])
        b[7] = max(a[5], a[6])
        b[8] = float32(popcount(int32(a[7])))
        b[9] = float32(ceil_div(len(a.shape) + 6, 2))
        return b

    check(intrinsics, te.placeholder((10,), name="a"))


def test_loops_that_begin_elsewhere_and_end_with_others():
    @te.hybrid.script
    def blur(a):
        b = output_tensor((6, 6), "float32")
        for i in range(2, 8):
            for j in range(2, 8):
                s = 0.0
                for di in range(3):
                    for dj in range(3):
                        s += a[i - di, j - dj]
                b[i - 2, j - 2] = s / 9.0
        return b

    @te.hybrid.script
    def triangle(a, b):
        c = output_tensor((5, 5), dtype="float32")
        for i in range(5):
            for j in range(5):
                c[i, j] = 0.0
            for j in range(i, 5):
                c[i, j] = a[i] * b[j]
        return c

    check(blur, te.placeholder((8, 8), "float32", "a"))
    check(triangle, te.placeholder((5,), name="a"), te.placeholder((5,), name="b"))


def test_memory_and_what_is_known_beforehand():
    taps = [1.0, 2.0, 1.0]
    wide = True

    @te.hybrid.script
    def smooth(a):
        b = output_tensor((6,), "float32")
        for i in range(6):
            window = allocate((3,), "float32", "local")
            for j in const_range(3):
                window[j] = a[i + j] * taps[j]
            if wide:
                b[i] = window[0] + window[1] + window[2]
            else:
                b[i] = window[1]
        return b

    check(smooth, te.placeholder((8,), name="a"))


def test_scripts_call_scripts():
    @te.hybrid.script
    def doubled(a):
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = a[i] * 2.0
        return b

    @te.hybrid.script
    def caller(a):
        c = doubled(a)
        return c

    check(caller, te.placeholder((7,), name="a"))


def test_a_script_between_computes():
    @te.hybrid.script
    def shifted(x):
        y = output_tensor(x.shape, x.dtype)
        for i in range(x.shape[0]):
            y[i] = x[x.shape[0] - 1 - i]
        return y

    a = te.placeholder((8,), name="a")
    b = te.compute((8,), lambda i: a[i] + 1, name="b")
    c = shifted(b)
    d = te.compute((8,), lambda i: c[i] * 2, name="d")
    x, y = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    s = te.create_schedule(d.op)
    s[b].vectorize(b.op.axis[0])
    tvm.build(s, [a, d])(x, y)
    np.testing.assert_array_equal(y, (x + 1)[::-1] * 2)


def test_what_is_no_hybrid_script():
    a = te.placeholder((4,), name="a")

    def refused(message, function):
        with pytest.raises(tvm.TVMError, match=message):
            te.hybrid.script(function)(a)

    def while_loop(a):
        b = output_tensor((4,), "float32")
        while True:
            b[0] = 1.0
        return b

    def unknown_function(a):
        b = output_tensor((4,), "float32")
        b[0] = mystery(a[0])
        return b

    def unset(a):
        b = output_tensor((4,), "float32")
        b[0] = nothing
        return b

    def threads(a):
        b = output_tensor((4,), "float32")
        for i in bind("threadIdx.x", 4):
            b[i] = a[i]
        return b

    def not_returned(a):
        b = output_tensor((4,), "float32")
        c = output_tensor((4,), "float32")
        b[0] = a[0]
        c[0] = a[0]
        return b

    def returns_input(a):
        return a

    def false_assertion(a):
        b = output_tensor((4,), "float32")
        assert a.shape[0] == 5
        return b

    refused("^hybrid script 'while_loop' has a statement that te does not know: while True:", while_loop)
    refused("^hybrid script 'unknown_function' calls mystery, which te does not know", unknown_function)
    refused("^hybrid script 'unset' uses 'nothing', which nothing has set", unset)
    refused("^bind is not there in hybrid scripts: a schedule of te.compute binds axes to threads", threads)
    refused("^hybrid script 'not_returned' does not return 'c', which output_tensor makes$", not_returned)
    refused("^hybrid script 'returns_input' returns what output_tensor makes, and nothing else$", returns_input)
    refused(r"^assertion of hybrid script 'false_assertion' does not hold: a.shape\[0\] == 5", false_assertion)
    with pytest.raises(tvm.TVMError, match="^te.hybrid.script takes a function, not a int$"):
        te.hybrid.script(3)
    with pytest.raises(tvm.TVMError, match="^tvm.te.hybrid.build is not supported: tvm.build compiles a schedule of"):
        te.hybrid.build(None, [], [])
