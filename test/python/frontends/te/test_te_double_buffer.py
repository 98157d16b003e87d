"""double_buffer in Python: right results, and nothing where there is no next iteration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tilework as tw
from tilework import te


def doubled(rows: int):
    """B = 2 * A; C = B + 1."""
    A = te.placeholder((rows, 8), name="A")
    B = te.compute((rows, 8), lambda i, j: A[i, j] * 2, name="B")
    C = te.compute((rows, 8), lambda i, j: B[i, j] + 1, name="C")
    return A, B, C, te.create_schedule(C.op)


def place(s: te.Schedule, B: te.Tensor, C: te.Tensor, axis: te.IterVar) -> None:
    s[B].compute_at(s[C], axis)
    s[B].double_buffer()


def in_an_axis_of_several(s: te.Schedule, B: te.Tensor, C: te.Tensor) -> None:
    place(s, B, C, C.op.axis[0])


def in_one_part(s: te.Schedule, B: te.Tensor, C: te.Tensor) -> None:
    outer, _ = s[C].split(C.op.axis[0], nparts=1)
    place(s, B, C, outer)


def in_an_axis_that_comes_from_none(s: te.Schedule, B: te.Tensor, C: te.Tensor) -> None:
    place(s, B, C, s[C].fuse())


def in_one_iteration_of_each_thread(s: te.Schedule, B: te.Tensor, C: te.Tensor) -> None:
    outer, inner = s[C].split(C.op.axis[0], 1)
    s[C].parallel(outer)
    place(s, B, C, inner)


def of_a_copy_of_one_row(s: te.Schedule, B: te.Tensor, C: te.Tensor) -> None:
    s[B].compute_at(s[C], C.op.axis[0])
    copy = s.cache_read(B.op.input_tensors[0], "local", [B])
    place(s, copy, B, B.op.axis[0])


@pytest.mark.parametrize(
    "rows, schedule, is_doubled",
    [
        (4, in_an_axis_of_several, True),
        (1, in_an_axis_of_several, False),
        (0, in_an_axis_of_several, False),
        (4, in_one_part, False),
        (4, in_an_axis_that_comes_from_none, False),
        (4, in_one_iteration_of_each_thread, False),
        (4, of_a_copy_of_one_row, False),
    ],
)
def test_a_buffer_is_filled_early_where_there_is_a_next_iteration(
    run_te, rows: int, schedule: Callable[..., None], is_doubled: bool
):
    A, B, C, s = doubled(rows)
    schedule(s, B, C)
    a = np.random.default_rng(0).integers(-8, 9, (rows, 8)).astype(np.float32)
    np.testing.assert_array_equal(run_te(s, [A, C], a), a * 2 + 1)
    assert ("mod 2" in str(tw.lower(s, [A, C]))) == is_doubled


@pytest.mark.parametrize("kind, word", [("parallel", "parallel"), ("unroll", "unrolled"), ("bind", "threadIdx.x")])
def test_iterations_that_do_not_follow_each_other_are_refused(kind: str, word: str):
    A, B, C, s = doubled(4)
    axis = C.op.axis[0]
    getattr(s[C], kind)(axis, *([te.thread_axis("threadIdx.x")] if kind == "bind" else []))
    place(s, B, C, axis)
    with pytest.raises(te.ScheduleError) as refusal:
        tw.lower(s, [A, C])
    what = f"stage 'B' cannot have a double buffer: axis 'i' of stage 'C' is {word}"
    assert str(refusal.value) == f"{what}; compute it at an axis that runs serially"
    assert refusal.value.__notes__[1] == f"the loop nest as it stands:\nC:\n  for i {word}  <-- here\n    for j"


def test_what_cannot_be_filled_early_names_the_line_that_asks_for_it():
    A, B, C, s = doubled(4)
    copy = s.cache_read(B, "local", [C])
    s[B].compute_at(s[C], C.op.axis[0])
    s[copy].compute_at(s[C], C.op.axis[0])
    s[copy].double_buffer()  # here
    message = "^buffer %B_local cannot be a double buffer: it is filled from memory that the same loop writes"
    with pytest.raises(te.ScheduleError, match=message) as refusal:
        tw.lower(s, [A, C])
    here = next(i for i, line in enumerate(open(__file__, encoding="utf-8"), 1) if line.endswith("# here\n"))
    assert refusal.value.__notes__[0] == f'File "{__file__}", line {here}'
