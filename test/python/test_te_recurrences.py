"""te.scan in Python, compiled and compared with numpy."""

import numpy as np
import pytest

import tilework as tw
from tilework import te


def integers(*shape: int, seed: int = 0) -> np.ndarray:
    """Small integers, so that sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


def cumulative_sum(m, n):
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    return X, te.scan(init, update, state, inputs=[X], name="sums"), init, update


# tvm: test_lang_tensor/tensor_scan test_schedule_schedule_ops/schedule_scan
def test_cumulative_sum(run_te):
    m, n = te.var("m"), te.var("n")
    X, sums, init, update = cumulative_sum(m, n)
    assert sums.op.scan_axis.name == "sums.idx" and sums.op.input_tensors[1:] == [init, update]
    s = te.create_schedule(sums.op)
    assert [stage.name for stage in s.stages] == ["init", "update", "sums"]
    x = integers(9, 7)
    np.testing.assert_array_equal(run_te(s, [X, sums], x, shapes=[(9, 7)]), x.cumsum(axis=0))


def test_the_steps_are_scheduled(run_te):
    X, sums, init, update = cumulative_sum(12, 32)
    s = te.create_schedule(sums.op)
    outer, inner = s[update].split(update.op.axis[1], factor=8)
    s[update].vectorize(inner)
    s[init].vectorize(init.op.axis[1])
    x = integers(12, 32)
    np.testing.assert_array_equal(run_te(s, [X, sums], x), x.cumsum(axis=0))


def test_axes_independent_of_time_run_around_it(run_te):
    m, n, w = 6, 5, 4
    X = te.placeholder((m, n, w), name="X")
    state = te.placeholder((m, n, w), name="state")
    init = te.compute((1, n, w), lambda _, i, j: X[0, i, j], name="init")
    update = te.compute((m, n, w), lambda t, i, j: state[t - 1, i, w - 1 - j] + X[t, i, j], name="update")
    result = te.scan(init, update, state, name="result", independent=1)
    s = te.create_schedule(result.op)
    time, row = s[result].op.axis
    assert [row] == result.op.spatial_axis and time == result.op.scan_axis
    s[result].reorder(row, time)
    s[result].parallel(row)
    s[update].vectorize(update.op.axis[2])
    x = integers(m, n, w)
    expected = [x[0]]
    for row_ in x[1:]:
        expected.append(expected[-1][:, ::-1] + row_)
    np.testing.assert_array_equal(run_te(s, [X, result], x), expected)
    with pytest.raises(tw.UsageError, match="^scan 's': 3 independent axes, of 2 behind time$"):
        te.scan(init, update, state, name="s", independent=3)
    wrong = te.scan(init, update, state, name="wrong", independent=2)
    with pytest.raises(tw.UsageError, match="wrong"):
        tw.lower(te.create_schedule(wrong.op), [X, wrong])


# tvm: test_lang_tensor/scan_multi_out
def test_two_states(run_te):
    """Fibonacci numbers and their sums."""
    n = 20
    fibonacci, total = te.placeholder((n,), "int32", name="fibonacci"), te.placeholder((n,), "int32", name="total")
    first, first_total = (te.compute((2,), lambda _: te.const(1, "int32"), name=name) for name in ("first", "ones"))
    following = te.compute((n,), lambda t: fibonacci[t - 1] + fibonacci[t - 2], name="following")
    sums = te.compute((n,), lambda t: total[t - 1] + following[t], name="sums")
    f, s = te.scan([first, first_total], [following, sums], [fibonacci, total], name="scan")
    assert f.op is s.op and (f.value_index, s.value_index) == (0, 1)
    numbers, totals = run_te(te.create_schedule(f.op), [f, s])
    expected = [1, 1]
    while len(expected) < n:
        expected.append(expected[-1] + expected[-2])
    np.testing.assert_array_equal(numbers, expected)
    np.testing.assert_array_equal(totals, [1, *(np.cumsum(expected[1:]))])


# tvm: test_schedule_schedule_ops/scan_inline1 test_schedule_schedule_ops/scan_inline2
def test_what_a_step_needs_is_inlined(run_te):
    m, n = 8, 5
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    scaled = te.compute((m, n), lambda t, i: state[t - 1, i] * 2, name="scaled")
    shifted = te.compute((m, n), lambda t, i: scaled[t, i] + 1, name="shifted")
    update = te.compute((m, n), lambda t, i: shifted[t, i] + X[t, i], name="update")
    result = te.scan(init, update, state, name="result")
    s = te.create_schedule(result.op)
    s[scaled].compute_inline()
    s[shifted].compute_inline()
    x = integers(m, n)
    expected = [x[0]]
    for row in x[1:]:
        expected.append(expected[-1] * 2 + 1 + row)
    np.testing.assert_array_equal(run_te(s, [X, result], x), expected)


def test_refusals():
    X = te.placeholder((9, 4), name="X")
    state = te.placeholder((9, 4), name="state")
    init = te.compute((1, 4), lambda _, i: X[0, i], name="init")
    update = te.compute((9, 4), lambda t, i: state[t - 1, i] + 1, name="update")

    def refused(message, *args):
        with pytest.raises(tw.UsageError) as caught:
            te.scan(*args, name="s")
        assert str(caught.value) == message

    refused(
        "scan 's' has 1 inits, 2 updates and 1 states: as many of each, and at least one", init, [update] * 2, state
    )
    refused("scan 's': the state 'update' is no placeholder", init, update, update)
    refused("scan 's': the update 'state' is no compute", init, state, state)
    flat = te.compute((1,), lambda i: X[0, i], name="flat")
    refused(
        "scan 's': init, update and state have the same axes but for time; got 'flat' (1), 'update' (9, 4), "
        "'state' (9, 4)",
        flat,
        update,
        state,
    )
    short = te.compute((8, 4), lambda t, i: state[t - 1, i] + 1, name="short")
    refused("scan 's': update (8, 4) and state (9, 4) end at different times", init, short, state)
    doubles = te.compute((9, 4), lambda t, i: state[t - 1, i].astype("float64"), name="doubles")
    refused("scan 's': init is float32, update float64, state float32", init, doubles, state)


def test_a_state_is_read_at_earlier_times_only():
    X = te.placeholder((9, 4), name="X")
    state = te.placeholder((9, 4), name="state")
    init = te.compute((1, 4), lambda _, i: X[0, i], name="init")
    update = te.compute((9, 4), lambda t, i: state[t, i] + 1, name="update")
    s = te.create_schedule(te.scan(init, update, state, name="s").op)
    with pytest.raises(tw.UsageError, match="compute 'update' reads a state of scan 's' at t: only times from"):
        tw.lower(s, [X, s.outputs[0].output(0)])


def lstm(steps: int, batch: int, hidden: int):
    """The cell of TVM's test_schedule_lstm: gates from the input and from the state before."""
    x = te.placeholder((steps, 4, batch, hidden), name="x")
    weight = te.placeholder((4, hidden, hidden), name="weight")
    shape = (steps, batch, hidden)
    h, c = te.placeholder(shape, name="h"), te.placeholder(shape, name="c")
    init_h = te.compute((1, batch, hidden), lambda *i: 0.0, name="init_h")
    init_c = te.compute((1, batch, hidden), lambda *i: 0.0, name="init_c")
    k = te.reduce_axis((0, hidden), "k")
    recurrent = te.compute(
        (steps, 4, batch, hidden), lambda t, g, i, j: te.sum(h[t - 1, i, k] * weight[g, j, k], axis=k), name="recurrent"
    )
    gates = te.compute(x.shape, lambda *i: x(*i) + recurrent(*i), name="gates")
    into = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, 0, i, j]), name="into")
    transform = te.compute(shape, lambda t, i, j: te.tanh(gates[t, 1, i, j]), name="transform")
    forget = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, 2, i, j]), name="forget")
    out = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, 3, i, j]), name="out")
    next_c = te.compute(
        shape, lambda t, i, j: forget[t, i, j] * c[t - 1, i, j] + into[t, i, j] * transform[t, i, j], name="next_c"
    )
    next_h = te.compute(shape, lambda t, i, j: out[t, i, j] * te.tanh(next_c[t, i, j]), name="next_h")
    all_h, all_c = te.scan([init_h, init_c], [next_h, next_c], [h, c], inputs=[x, weight], name="lstm")
    return x, weight, all_h, all_c, [gates, into, transform, forget, out]


# tvm: test_schedule_lstm/lstm_cell_inline
def test_lstm_cell_inline(run_te):
    steps, batch, hidden = 5, 2, 8
    x, weight, all_h, all_c, inlined = lstm(steps, batch, hidden)
    s = te.create_schedule(all_h.op)
    for tensor in inlined:
        s[tensor].compute_inline()
    rng = np.random.default_rng(0)
    xs, ws = rng.normal(size=(steps, 4, batch, hidden)), rng.normal(size=(4, hidden, hidden)) / hidden
    found_h, found_c = run_te(s, [x, weight, all_h, all_c], xs.astype(np.float32), ws.astype(np.float32))
    h, c = [np.zeros((batch, hidden))], [np.zeros((batch, hidden))]

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    for t in range(1, steps):
        gates = xs[t] + np.einsum("ik,gjk->gij", h[-1], ws)
        c.append(sigmoid(gates[2]) * c[-1] + sigmoid(gates[0]) * np.tanh(gates[1]))
        h.append(sigmoid(gates[3]) * np.tanh(c[-1]))
    np.testing.assert_allclose(found_h, h, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found_c, c, rtol=1e-5, atol=1e-6)
