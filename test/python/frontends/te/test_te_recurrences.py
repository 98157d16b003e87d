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


def scheduled(change):
    """Sums over time, doubled, copied by statements, and added to what was copied; a schedule of it, changed."""

    def copy(ins, outs):
        ib = te.ir_builder.create()
        source, result = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 6, name="i") as i, ib.for_range(0, 8, name="j") as j:
            result[i, j] = source[i, j]
        return ib.get()

    X, sums, init, update = cumulative_sum(6, 8)
    D = te.compute((6, 8), lambda t, i: sums[t, i] * 2, name="D")
    E = te.extern((6, 8), [D], copy, name="E")
    F = te.compute((6, 8), lambda t, i: E[t, i] + D[t, i], name="F")
    s = te.create_schedule(F.op)
    change(
        s,
        {
            "X": X,
            "state": sums.op.state_placeholder[0],
            "init": init,
            "update": update,
            "sums": sums,
            "D": D,
            "E": E,
            "F": F,
        },
    )
    return X, F, s


def in_first_axis(producer, consumer):
    return lambda s, t: s[t[producer]].compute_at(s[t[consumer]], t[consumer].op.axis[0])


ROOT = "scan 'sums' is computed at the root: it runs over time itself"
NOT_REWRITTEN = "of scan 'sums', which is not rewritten; rewrite the stages of its steps"
WHOLE = "extern 'E' runs as a whole, at the root: it takes set_scope, nothing else"


@pytest.mark.parametrize(
    "change, message",
    [
        (in_first_axis("sums", "D"), ROOT),
        (lambda s, t: s.create_group(t["sums"], t["X"]).compute_at(s[t["D"]], t["D"].op.axis[0]), ROOT),
        (lambda s, t: s.create_group(t["D"], t["X"]).compute_at(s[t["F"]], t["F"].op.axis[0]), ROOT),
        (lambda s, t: s[t["sums"]].compute_inline(), f"schedule.compute_inline {NOT_REWRITTEN}"),
        (lambda s, t: s.cache_write(t["sums"], "local"), f"schedule.cache_write {NOT_REWRITTEN}"),
        (lambda s, t: s.cache_read(t["update"], "local", [t["sums"]]), f"schedule.cache_read {NOT_REWRITTEN}"),
        (in_first_axis("init", "sums"), "stage 'init' is where a scan begins: it is computed at the root"),
        (
            in_first_axis("update", "D"),
            "stage 'update' is a result of scan 'sums', of which every step makes all: compute it at axis 'sums_idx' "
            "of the scan",
        ),
        (in_first_axis("E", "F"), WHOLE),
        (lambda s, t: s.create_group(t["E"], t["D"]).compute_at(s[t["F"]], t["F"].op.axis[0]), WHOLE),
        (in_first_axis("D", "F"), "stage 'D' is read whole by extern 'E': it is computed at the root"),
        (
            lambda s, t: s.cache_read(t["state"], "local", [t["update"]]),
            "'state' is a state, which only the steps of its scan read: name a stage instead",
        ),
    ],
)
def test_refusals_name_the_stage(change, message):
    with pytest.raises((te.ScheduleError, tw.UsageError)) as refusal:
        X, F, s = scheduled(change)
        tw.lower(s, [X, F])
    assert str(refusal.value) == message


def copied(of, reader):
    def change(s, t):
        copy = s.cache_read(t[of], "local", [t[reader]])
        s[copy].compute_at(s[t[reader]], t[reader].op.axis[0])

    return change


@pytest.mark.parametrize("change", [copied("sums", "D"), copied("E", "F")])
def test_what_a_scan_or_an_extern_makes_is_copied_for_a_reader(run_te, change):
    X, F, s = scheduled(change)
    x = integers(6, 8)
    np.testing.assert_array_equal(run_te(s, [X, F], x), x.cumsum(axis=0) * 4)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_one_of_the_states_of_a_scan_is_copied(run_te, which: int):
    """States of different ranks: that one which the reader reads; a reader of both gets no copy of one alone."""
    X = te.placeholder((6, 8), name="X")
    states = te.placeholder((6, 8), name="s"), te.placeholder((6,), name="t")
    init = te.compute((1, 8), lambda t, i: X[0, i], name="init"), te.compute((1,), lambda t: X[0, 0], name="first")
    rows = te.compute((6, 8), lambda t, i: states[0][t - 1, i] + X[t, i], name="rows")
    column = te.compute((6,), lambda t: states[1][t - 1] + X[t, 0], name="column")
    a, b = te.scan(init, (rows, column), states, name="sums")
    D = te.compute((6, 8), lambda t, i: a[t, i] * 2 + (b[t] if which == 2 else 0), name="D")
    E = te.compute((6, 8), lambda t, i: D[t, i] + b[t], name="E")
    s = te.create_schedule(E.op)
    reader = E if which == 1 else D
    copy = s.cache_read(b if which == 1 else a, "local", [reader])
    s[copy].compute_at(s[reader], reader.op.axis[0])
    if which == 2:
        message = "^the readers read tensors of 'sums' that differ in shape: copy each for other readers"
        with pytest.raises(te.ScheduleError, match=message):
            tw.lower(s, [X, E])
        return
    x = integers(6, 8)
    np.testing.assert_array_equal(run_te(s, [X, E], x), x.cumsum(0) * 2 + x[:, :1].cumsum(0))
