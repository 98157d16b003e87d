"""Schedules that no device with blocks of threads can run are refused when they are lowered, with the remedy."""

from __future__ import annotations

from typing import Any

import pytest

import tilework as tw
from tilework import te
from tilework.dialects.support.diagnostics import UsageError

BLOCK, THREAD = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")


def reversed_rows(n: int = 64) -> tuple[Any, Any, Any, Any]:
    """A stage of which each element is read by another thread than the one that computes it."""
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2, name="B")
    c = te.compute((n,), lambda i: b[n - 1 - i] + 1, name="C")
    return te.create_schedule(c.op), a, b, c


def refuses(s: Any, arguments: list[Any], message: str, target: str = "opencl") -> None:
    with pytest.raises(te.ScheduleError, match=message):
        tw.lower(s, arguments, target=target)


def test_local_memory_that_another_thread_reads():
    s, a, b, c = reversed_rows()
    block, thread = s[c].split(c.op.axis[0], factor=64)
    s[c].bind(block, BLOCK)
    s[c].bind(thread, THREAD)
    s[b].set_scope("local")
    s[b].compute_at(s[c], block)
    s[b].bind(b.op.axis[0], THREAD)
    refuses(s, [a, c], '%B is "local", of which every thread has its own.* put it into "shared"')


@pytest.mark.parametrize(("target", "most"), [("opencl", 256), ("opencl -threads=32", 32), ("cuda", 1024)])
def test_too_many_threads(target: str, most: int):
    s, a, b, c = reversed_rows(4096)
    s[b].compute_inline()
    block, thread = s[c].split(c.op.axis[0], factor=2048)
    s[c].bind(block, BLOCK)
    s[c].bind(thread, THREAD)
    refuses(s, [a, c], rf"a block has 2048 threads .* and '.*' allows {most}: split the axes by less", target)


def test_too_much_shared_memory():
    """All threads belong to one block, though no axis is bound to blocks: what they share is the block's."""
    s, a, b, c = reversed_rows(16384)
    _, thread = s[c].split(c.op.axis[0], factor=64)
    s[c].reorder(thread, s[c].leaf_iter_vars[0])
    s[c].bind(thread, THREAD)
    s[b].set_scope("shared")
    s[b].compute_at(s[c], thread)
    s[b].bind(s[b].split(b.op.axis[0], factor=64)[1], THREAD)
    refuses(s, [a, c], r"a block's shared buffers take 65536 bytes with %B, and '.*' allows 32768")


def test_a_store_of_all_threads():
    s, a, b, c = reversed_rows()
    s[c].bind(c.op.axis[0], THREAD)
    s[b].set_scope("shared")
    s[b].compute_at(s[c], c.op.axis[0])
    refuses(s, [a, c], "several threads would store to one element of %B here: bind an axis of the stage to them")


def test_a_stage_that_is_bound_to_no_threads():
    s, a, b, c = reversed_rows()
    s[b].compute_inline()
    refuses(s, [a, c], "what stores to %C is bound to no threads: bind axes of the stage to blockIdx and threadIdx")


def test_an_axis_that_is_bound_twice():
    s, _, b, c = reversed_rows()
    s[b].compute_inline()
    outer, _ = s[c].split(c.op.axis[0], factor=8)
    s[c].bind(outer, THREAD)
    with pytest.raises(te.ScheduleError, match=r"bind: axis 'i.outer' of stage 'C' is already threadIdx.x"):
        s[c].bind(outer, BLOCK)


def test_an_axis_of_more_iterations_than_its_thread_axis_has_threads():
    s, a, b, c = reversed_rows()
    s[b].compute_inline()
    block, thread = s[c].split(c.op.axis[0], factor=16)
    s[c].bind(block, BLOCK)
    s[c].bind(thread, te.thread_axis((0, 32), "threadIdx.x"))
    refuses(s, [a, c], "axis 'i.inner' of stage 'C' has 16 iterations and threadIdx.x has 32 threads: split it by 32")


def test_a_thread_axis_whose_number_of_threads_is_not_known():
    s, _, b, c = reversed_rows()
    with pytest.raises(UsageError, match="bind takes numbers of threads, from 1 on"):
        s[c].bind(c.op.axis[0], te.thread_axis((0, te.var("N")), "threadIdx.x"))


def test_two_axes_of_a_stage_that_are_bound_to_the_same_threads():
    s, a, b, c = reversed_rows()
    s[b].compute_inline()
    for axis in s[c].split(c.op.axis[0], factor=8):
        s[c].bind(axis, THREAD)
    refuses(s, [a, c], r"axis 'i.outer' of stage 'C' is bound to threadIdx.x already; fuse the two, or bind another")


def test_threads_that_are_not_known():
    n = te.var("N")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1, name="B")
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], THREAD)
    refuses(s, [a, b], r"threadIdx.x has N threads: how many a block has must be known; split the axis")
