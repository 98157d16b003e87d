"""Groups of stages, which are placed as a whole."""

import numpy as np

from tilework import te


def integers(*shape: int, seed: int = 0) -> np.ndarray:
    """Small integers, so that sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


# tvm: test_lang_group/nest_group
def test_nest_group(run_te):
    """A group inside a group goes where the outer one goes, unless it has a place of its own."""
    A = te.placeholder((16, 12), name="A")
    A1 = te.compute((16, 12), lambda i, j: A[i, j] + 1, name="A1")
    A2 = te.compute((16, 12), lambda i, j: A1[i, j] * 2, name="A2")
    B = te.compute((16, 12), lambda i, j: A2[i, j] - 3, name="B")
    s = te.create_schedule(B.op)
    inner = s.create_group(outputs=A1, inputs=A, include_inputs=False)
    outer = s.create_group(outputs=A2, inputs=A, include_inputs=False)
    outer.compute_at(s[B], B.op.axis[0])
    a = integers(16, 12)
    np.testing.assert_array_equal(run_te(s, [A, B], a), (a + 1) * 2 - 3)
    inner.compute_at(s[A2], A2.op.axis[0])
    np.testing.assert_array_equal(run_te(s, [A, B], a), (a + 1) * 2 - 3)


# tvm: test_lang_group/scan_group
def test_scan_group(run_te):
    """Stages of the steps of a scan make a group."""
    m, n = 8, 6
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    first = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="first")
    second = te.compute((m, n), lambda t, i: first[t, i] + 1, name="second")
    update = te.compute((m, n), lambda t, i: second[t, i] * 2, name="update")
    result = te.scan(init, update, state, inputs=[X], name="result")
    s = te.create_schedule(result.op)
    group = s.create_group(outputs=second, inputs=first, include_inputs=True)
    group.compute_at(s[update], update.op.axis[1])
    x = integers(m, n)
    expected = [x[0]]
    for row in x[1:]:
        expected.append((expected[-1] + row + 1) * 2)
    np.testing.assert_array_equal(run_te(s, [X, result], x), expected)
