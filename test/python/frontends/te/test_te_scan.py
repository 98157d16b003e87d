"""Scans: sums over time, two states, softmax by blocks, an LSTM; on all levels, under schedules."""

from collections.abc import Callable

import numpy as np
import pytest
from programs import apply_phase
from xdsl.dialects.builtin import ModuleOp, f32

from tilework.algebra.index_expr import var
from tilework.dialects.loop import KernelOp as LoopKernelOp
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder, Scalar

RANDOM = np.random.default_rng(0)


def integers(*shape: int) -> np.ndarray:
    return RANDOM.integers(-4, 5, shape).astype(np.float32)


def cumulative_sum(time: object = 9, width: object = 12) -> KernelOp:
    """y[t, i] = x[0, i] + ... + x[t, i]."""
    k = KernelBuilder("cumsum")
    x = k.argument(tensor_type((time, width), f32), "x")
    first = k.compute("first", (1, width), lambda t, i: x[0, i])
    state = k.state((time, width), f32)
    step = k.compute("step", (time, width), lambda t, i: state[t - 1, i] + x[t, i])
    return k.finish(k.scan("sums", [first], [step], [state]))


def unscheduled(s: ScheduleBuilder) -> None:
    pass


def step_scheduled(s: ScheduleBuilder) -> None:
    step = s.stage("step")
    outer, inner = s.split(step.axes["i"], 4)
    s.parallel(outer)
    s.vectorize(inner)


def time_split(s: ScheduleBuilder) -> None:
    s.split(s.stage("sums").axes["t"], 3)


@pytest.mark.parametrize("write", [None, unscheduled, step_scheduled, time_split])
def test_a_cumulative_sum(run_kernel_everywhere, write: Callable[[ScheduleBuilder], None] | None):
    kernel = cumulative_sum()
    s = ScheduleBuilder(kernel)
    if write is not None:
        write(s)
    x = integers(9, 12)
    [y] = run_kernel_everywhere(kernel, [x], None if write is None else s.finish())
    np.testing.assert_array_equal(y, x.cumsum(0))


def test_a_cumulative_sum_of_any_length(run_kernel_everywhere):
    kernel = cumulative_sum(var("T"), var("N"))
    for shape in ((1, 5), (7, 1), (4, 33)):
        x = integers(*shape)
        [y] = run_kernel_everywhere(kernel, [x])
        np.testing.assert_array_equal(y, x.cumsum(0))


def test_two_states_of_different_ranks_and_two_steps_back(run_kernel_everywhere):
    k = KernelBuilder("two")
    x, a0, b0 = (k.argument(tensor_type(d, f32), n) for d, n in (((8, 5), "x"), ((2, 5), "a0"), ((2,), "b0")))
    a, b = k.state((8, 5), f32), k.state((8,), f32)
    a_next = k.compute("a", (8, 5), lambda t, i: a[t - 2, i] + b[t - 1] - x[t, i])
    b_next = k.compute("b", (8,), lambda t: k.sum((5,), lambda i: a_next[t, i]))
    found = k.scan("two", [a0, b0], [a_next, b_next], [a, b])
    values = [integers(8, 5), integers(2, 5), integers(2)]
    histories = run_kernel_everywhere(k.finish(found), values)
    a_value, b_value = np.zeros((8, 5), np.float32), np.zeros(8, np.float32)
    a_value[:2], b_value[:2] = values[1:]
    for t in range(2, 8):
        a_value[t] = a_value[t - 2] + b_value[t - 1] - values[0][t]
        b_value[t] = a_value[t].sum()
    np.testing.assert_array_equal(histories[0], a_value)
    np.testing.assert_array_equal(histories[1], b_value)


def test_softmax_by_blocks(run_kernel_everywhere):
    """The maximum and the sum of exponentials so far, and a weighted sum, block by block: what attention needs."""
    blocks, size, width = 6, 4, 3
    k = KernelBuilder("online")
    x = k.argument(tensor_type((blocks, size), f32), "x")
    v = k.argument(tensor_type((blocks, size, width), f32), "v")
    top, total, weighted = (k.state(d, f32) for d in ((blocks + 1,), (blocks + 1,), (blocks + 1, width)))
    zero = [
        k.compute("m0", (1,), lambda t: -1e30, f32),
        k.compute("s0", (1,), lambda t: 0.0, f32),
        k.compute("w0", (1, width), lambda t, j: 0.0, f32),
    ]
    block = k.compute("block", (blocks,), lambda t: k.reduce_max((size,), lambda i: x[t, i]))
    m = k.compute("m", (blocks + 1,), lambda t: k.max(top[t - 1], block[t - 1]))
    scale = k.compute("scale", (blocks + 1,), lambda t: k.call("exp", top[t - 1] - m[t]))
    e = k.compute("e", (blocks + 1, size), lambda t, i: k.call("exp", x[t - 1, i] - m[t]))
    part = k.compute("part", (blocks + 1,), lambda t: k.sum((size,), lambda i: e[t, i]))
    s = k.compute("s", (blocks + 1,), lambda t: total[t - 1] * scale[t] + part[t])
    product = k.compute("product", (blocks + 1, width), lambda t, j: k.sum((size,), lambda i: e[t, i] * v[t - 1, i, j]))
    w = k.compute("w", (blocks + 1, width), lambda t, j: weighted[t - 1, j] * scale[t] + product[t, j])
    _, sums, weights = k.scan("online", zero, [m, s, w], [top, total, weighted])
    result = k.compute("result", (width,), lambda j: weights[blocks, j] / sums[blocks])
    x_value = RANDOM.normal(size=(blocks, size), scale=5).astype(np.float32)
    v_value = RANDOM.normal(size=(blocks, size, width)).astype(np.float32)
    [y] = run_kernel_everywhere(k.finish([result]), [x_value, v_value], rtol=1e-4)
    p = np.exp(x_value.astype(np.float64).ravel() - x_value.max())
    np.testing.assert_allclose(y, p @ v_value.reshape(-1, width) / p.sum(), rtol=1e-4)


def lstm(steps: int, size: int, inputs: int) -> KernelOp:
    """An LSTM network; its outputs, and its last state."""
    k = KernelBuilder("lstm")
    x = k.argument(tensor_type((steps, inputs), f32), "x")
    wx = k.argument(tensor_type((4, size, inputs), f32), "wx")
    wh = k.argument(tensor_type((4, size, size), f32), "wh")
    time = steps + 1
    ahead = k.compute(
        "ahead", (steps, 4, size), lambda t, g, i: k.sum((inputs,), lambda j: x[t, j] * wx[g, i, j])
    )  # for all times at once
    h, c = k.state((time, size), f32), k.state((time, size), f32)
    zeros = [k.compute(n, (1, size), lambda t, i: 0.0, f32) for n in ("h0", "c0")]
    from_state = k.compute(
        "from_state", (time, 4, size), lambda t, g, i: k.sum((size,), lambda j: h[t - 1, j] * wh[g, i, j])
    )
    gates = k.compute("gates", (time, 4, size), lambda t, g, i: from_state[t, g, i] + ahead[t - 1, g, i])

    def sigmoid(a: Scalar) -> Scalar:
        return 1.0 / (k.call("exp", -a) + 1.0)

    c_next = k.compute(
        "c",
        (time, size),
        lambda t, i: sigmoid(gates[t, 1, i]) * c[t - 1, i] + sigmoid(gates[t, 0, i]) * k.call("tanh", gates[t, 2, i]),
    )
    h_next = k.compute("h", (time, size), lambda t, i: sigmoid(gates[t, 3, i]) * k.call("tanh", c_next[t, i]))
    twice = k.compute("twice", (time, size), lambda t, i: h_next[t, i] * 2.0)
    _, cells, doubled = k.scan("lstm", zeros, [h_next, c_next], [h, c], [twice])
    return k.finish([doubled, k.compute("last", (size,), lambda i: cells[steps, i])])


def numpy_lstm(x: np.ndarray, wx: np.ndarray, wh: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sigmoid = lambda a: 1 / (1 + np.exp(-a))  # noqa: E731
    h = c = np.zeros(wh.shape[1])
    outputs = []
    for row in x.astype(np.float64):
        i, f, g, o = wx.astype(np.float64) @ row + wh.astype(np.float64) @ h
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(2 * h)
    return np.array(outputs), c


@pytest.mark.parametrize("scheduled", [False, True])
def test_an_lstm(run_kernel_everywhere, scheduled: bool):
    kernel = lstm(7, 16, 5)
    s = ScheduleBuilder(kernel)
    if scheduled:
        gates, from_state, time = s.stage("gates"), s.stage("from_state"), s.stage("lstm").axes["t"]
        s.compute_at(gates, time, "local")
        s.compute_at(from_state, gates.axes["g"], "local")
        s.reorder([from_state.axes["j"], from_state.axes["i"]])
        s.vectorize(from_state.axes["i"])
        s.parallel(s.stage("c").axes["i"])
    x, wx, wh = (RANDOM.normal(size=d, scale=0.5).astype(np.float32) for d in ((7, 5), (4, 16, 5), (4, 16, 16)))
    sequence = s.finish() if scheduled else None
    outputs, cell = run_kernel_everywhere(kernel, [x, wx, wh], sequence, rtol=2e-4)
    expected, last = numpy_lstm(x, wx, wh)
    np.testing.assert_allclose(outputs, expected, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(cell, last, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("around", [False, True])
def test_an_axis_independent_of_time_runs_in_parallel_around_it(run_kernel_everywhere, around: bool):
    k = KernelBuilder("batch")
    x, h = k.argument(tensor_type((7, 5, 6), f32), "x"), k.argument(tensor_type((1, 5, 6), f32), "h")
    state = k.state((7, 5, 6), f32)
    sums = k.compute("sums", (7, 5), lambda t, b: k.sum((6,), lambda i: state[t - 1, b, i]))
    step = k.compute("step", (7, 5, 6), lambda t, b, i: k.max(x[t, b, i] - sums[t, b], state[t - 1, b, 5 - i]))
    kernel = k.finish(k.scan("scan", [h], [step], [state], independent=["b"]))
    s = ScheduleBuilder(kernel)
    scan = s.stage("scan")
    if around:
        s.reorder([scan.axes["b"], scan.axes["t"]])
    s.parallel(scan.axes["b"])
    x_value, h_value = integers(7, 5, 6), integers(1, 5, 6)
    [y] = run_kernel_everywhere(kernel, [x_value, h_value], s.finish())
    expected = [h_value[0]]
    for t in range(1, 7):
        expected.append(np.maximum(x_value[t] - expected[-1].sum(1, keepdims=True), expected[-1][:, ::-1]))
    np.testing.assert_array_equal(y, expected)


def test_only_the_live_part_of_a_history_is_kept(run_kernel_everywhere):
    """Two of 40 rows are kept, where only the last one is read."""
    k = KernelBuilder("last")
    x = k.argument(tensor_type((40, 6), f32), "x")
    first = k.compute("first", (1, 6), lambda t, i: x[0, i])
    state = k.state((40, 6), f32)
    step = k.compute("step", (40, 6), lambda t, i: state[t - 1, i] * 0.5 + x[t, i])
    [history] = k.scan("scan", [first], [step], [state])
    kernel = k.finish([k.compute("last", (6,), lambda i: history[39, i])])
    run_kernel_everywhere(kernel, [integers(40, 6)])
    module = ModuleOp([kernel.clone()])
    apply_phase("compile-kernel", module)
    [lowered] = [op for op in module.ops if isinstance(op, LoopKernelOp)]
    assert [2, 6] in [[int(e.evaluate({})) for e in lowered.dims_of(a)] for a in lowered.scratch]
    assert max(e.evaluate({}) for a in lowered.scratch for e in lowered.dims_of(a)) == 6
