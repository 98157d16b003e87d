"""What is part of a scan's steps, and which axes are independent of time: as a program says, and as is checked."""

from __future__ import annotations

import numpy as np
import pytest

import tilework as tw
from tilework import te
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import KernelOp
from tilework.scheduling.state import read_schedule

m, n, w = 6, 4, 3


def kernel_of(*outputs):
    """The te kernel of a program."""
    schedule = te.create_schedule([t.op for t in outputs])
    return next(op for op in schedule.module().ops if isinstance(op, KernelOp))


def recurrence(step, independent=0, shape=(n, w)):
    """A scan whose element at a time is `step(state, X, t, i, j)`, and what it reads."""
    X = te.placeholder((m, *shape), name="X")
    state = te.placeholder((m, *shape), name="state")
    init = te.compute((1, *shape), lambda _, i, j: X[0, i, j], name="init")
    update = te.compute((m, *shape), lambda t, i, j: step(state, X, t, i, j), name="update")
    return X, te.scan(init, update, state, inputs=[X], name="result", independent=independent)


# tvm: test_schedule_graph/scan test_schedule_graph/getbody
def test_the_steps_of_a_scan_are_what_its_updates_need_of_its_states():
    X = te.placeholder((m, n), name="X")
    scaled = te.compute((m, n), lambda t, i: X[t, i] * 2, name="scaled")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    doubled = te.compute((m, n), lambda t, i: state[t - 1, i] * 2, name="doubled")
    update = te.compute((m, n), lambda t, i: doubled[t, i] + scaled[t, i], name="update")
    result = te.scan(init, update, state, inputs=[X], name="result")
    assert {t.op.name for t in result.op.input_tensors} == {"state", "init", "update"}
    [scan] = [op for op in kernel_of(result).body.block.ops if op.name == "te.scan"]
    assert [step.stage.data for step in scan.steps] == ["doubled", "update"]
    stages = read_schedule(kernel_of(result), None).stages
    assert set(stages) == {"scaled", "init", "doubled", "update", "result"}


# tvm: test_schedule_graph/fix_pt test_schedule_graph/scan_fix_point test_schedule_graph/scan0
def test_axes_along_which_a_step_reads_its_own_elements_are_independent(run_te):
    X, result = recurrence(lambda state, X, t, i, j: state[t - 1, i, j] + X[t, i, j], independent=2)
    s = te.create_schedule(result.op)
    time, row, column = s[result].op.axis
    s[result].reorder(row, column, time)
    x = np.arange(m * n * w, dtype=np.float32).reshape(m, n, w)
    np.testing.assert_array_equal(run_te(s, [X, result], x), x.cumsum(axis=0))


# tvm: test_schedule_graph/scan1
def test_an_axis_behind_a_mixing_one_does_not_count(run_te):
    X, result = recurrence(lambda state, X, t, i, j: state[t - 1, i, w - 1 - j] + X[t, i, j], independent=1)
    x = np.arange(m * n * w, dtype=np.float32).reshape(m, n, w)
    expected = [x[0]]
    for row in x[1:]:
        expected.append(expected[-1][:, ::-1] + row)
    np.testing.assert_array_equal(run_te(te.create_schedule(result.op), [X, result], x), expected)


# tvm: test_schedule_graph/scan3_not_exact_reach test_schedule_graph/scan4_reach_other
@pytest.mark.parametrize(
    "step",
    [
        lambda state, X, t, i, j: state[t - 1, n - 1 - i, j] + X[t, i, j],
        lambda state, X, t, i, j: state[t - 1, 0, j] + X[t, i, j],
        lambda state, X, t, i, j: state[t - 1, i, j] + state[t - 1, j, i] + X[t, i, j],
    ],
)
def test_an_axis_along_which_a_step_reads_other_elements_is_not_independent(step):
    X, result = recurrence(step, independent=1, shape=(n, n))
    with pytest.raises((CompileError, tw.UsageError), match="says that it is independent of time"):
        tw.lower(te.create_schedule(result.op), [X, result])


# tvm: test_schedule_graph/scan5_multi_output
def test_axes_are_independent_if_they_are_for_every_state(run_te):
    X = te.placeholder((m, n), name="X")
    a, b = (te.placeholder((m, n), name=name) for name in "ab")
    first = te.compute((1, n), lambda _, i: X[0, i], name="first")
    second = te.compute((1, n), lambda _, i: X[0, i] * 2, name="second")
    next_a = te.compute((m, n), lambda t, i: a[t - 1, i] + X[t, i], name="next_a")
    next_b = te.compute((m, n), lambda t, i: b[t - 1, i] + next_a[t, i], name="next_b")
    sums, sums_of_sums = te.scan([first, second], [next_a, next_b], [a, b], name="sums", independent=1)
    x = np.arange(m * n, dtype=np.float32).reshape(m, n)
    found, found_sums = run_te(te.create_schedule(sums.op), [X, sums, sums_of_sums], x)
    np.testing.assert_array_equal(found, x.cumsum(axis=0))
    np.testing.assert_array_equal(found_sums, x.cumsum(axis=0).cumsum(axis=0) + x[0])
    mixed = te.compute((m, n), lambda t, i: b[t - 1, n - 1 - i] + next_a[t, i], name="mixed")
    wrong, _ = te.scan([first, second], [next_a, mixed], [a, b], name="wrong", independent=1)
    with pytest.raises(tw.UsageError, match="says that it is independent of time"):
        tw.lower(te.create_schedule(wrong.op), [X, *wrong.op.outputs])


# tvm: test_schedule_bound_inference/bound_scan
def test_a_step_needs_its_part_of_what_it_reads(run_te):
    m, width = 6, 16
    X = te.placeholder((m, width), name="X")
    state = te.placeholder((m, width), name="state")
    init = te.compute((1, width), lambda _, i: X[0, i], name="init")
    update = te.compute((m, width), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    result = te.scan(init, update, state, inputs=[X], name="result")
    s = te.create_schedule(result.op)
    part = s.cache_read(X, "local", [update])
    outer, _ = s[update].split(update.op.axis[1], factor=4)
    s[part].compute_at(s[update], outer)
    assert 'memref.alloca() : memref<4xf32, "local">' in str(tw.lower(s, [X, result]))
    x = np.arange(m * width, dtype=np.float32).reshape(m, width)
    np.testing.assert_array_equal(run_te(s, [X, result], x), x.cumsum(axis=0))
