"""Programs of TVM pass stages between others as arguments, wherever these are computed."""

from __future__ import annotations

import numpy as np
import pytest

import tilework.compat.tvm as tvm
from tilework.compat.tvm import te


@pytest.mark.parametrize("place", ["at the root", "at its consumer", "inline"])
def test_a_stage_between_others_is_an_argument(place: str):
    """TVM leaves an argument whose stage is inlined as it was; here it gets its values, wherever they are computed."""
    m = te.size_var("m")
    A = te.placeholder((m,), name="A")
    B = te.compute((m,), lambda i: A[i] + 1, name="B")
    C = te.compute((m,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    if place == "at its consumer":
        s[B].compute_at(s[C], C.op.axis[0])
    if place == "inline":
        s[B].compute_inline()
    a, b, c = (tvm.nd.array(np.arange(n, n + 5, dtype="float32")) for n in range(3))
    tvm.build(s, [A, B, C])(a, b, c)
    np.testing.assert_array_equal(b.numpy(), a.numpy() + 1)
    np.testing.assert_array_equal(c.numpy(), (a.numpy() + 1) * 2)
