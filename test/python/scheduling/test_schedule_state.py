"""What a schedule's state knows: who reads whom, and which loops stand around a stage."""

from __future__ import annotations

from xdsl.dialects.builtin import f32

from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.scheduling.state import ScheduleState, read_schedule


def chain() -> KernelOp:
    """c = b + a, b = a, a = x."""
    k = KernelBuilder("chain")
    x = k.argument(tensor_type((8, 8), f32), "x")
    a = k.compute("a", (8, 8), lambda i, j: x[i, j])
    b = k.compute("b", (8, 8), lambda i, j: a[i, j])
    c = k.compute("c", (8, 8), lambda i, j: b[i, j] + a[j, i])
    return k.finish([c])


# tvm: test_schedule_graph/create_read_graph
def test_producers_and_consumers():
    state = ScheduleState(chain())
    a, b, c = state.stages.values()
    assert [state.producers(s) for s in (a, b, c)] == [[], [a], [b, a]]
    assert [[reader for reader, _ in state.consumers(s)] for s in (a, b, c)] == [[b, c], [c], []]
    assert [s for s in (a, b, c) if s.is_output] == [c]


# tvm: test_schedule_graph/attach_path
def test_the_loops_around_a_stage_go_through_the_stages_it_is_computed_in():
    kernel = chain()
    s = ScheduleBuilder(kernel)
    a, b, c = (s.stage(name) for name in "abc")
    outer, _ = s.split(c.axes["i"], 4)
    s.compute_at(b, outer)
    s.compute_at(a, outer)
    state = read_schedule(kernel, s.finish())
    first, second, last = state.stages.values()
    assert [str(axis) for axis in state.attach_path(second)] == ["i.outer"]
    assert state.attach_path(first) == state.attach_path(second) == last.leaves[:1]
    assert state.attach_path(last) == []


def test_a_group_places_what_has_no_place_inside_it():
    kernel = chain()
    s = ScheduleBuilder(kernel)
    a, b, c = (s.stage(name) for name in "abc")
    group = s.create_group([b], [a.handle], include_inputs=True)
    s.group_compute_at(group, c.axes["i"])
    state = read_schedule(kernel, s.finish())
    first, second, last = state.stages.values()
    assert (first.attach, second.attach, last.attach) == (last.leaves[0], last.leaves[0], None)


def test_scopes_follow_the_nearest_threads_unless_set():
    kernel = chain()
    s = ScheduleBuilder(kernel)
    a, b, c = (s.stage(name) for name in "abc")
    s.bind(c.axes["i"], "blockIdx.x")
    s.bind(c.axes["j"], "threadIdx.x")
    s.compute_at(b, c.axes["j"])
    s.compute_at(a, c.axes["i"])
    sequence = s.finish()
    state = read_schedule(kernel, sequence)
    assert [state.scope_of(stage) for stage in state.stages.values()] == ["shared", "local", "global"]
