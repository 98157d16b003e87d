"""Primitives in any order: every pair of which one rewrites te, and longer sequences that people write.

What is accepted computes what the unscheduled program computes, and Python shows the loops that the primitives make.
What is refused is refused in words; nothing else escapes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tilework as tw
from tilework import te
from tilework.dialects import loop
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te import KernelOp
from tilework.interpreters.loop import run_loop_kernel
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.scheduling.state import read_schedule

READER, SOURCE = {"P": "S", "S": "C"}, {"S": "P", "C": "S"}
"""The stage that reads a stage, and the one that it reads."""


class Program:
    """P = A + 1; S = P @ B; C = 2 * S, and a schedule of it."""

    def __init__(self):
        self.A, self.B = te.placeholder((5, 7), name="A"), te.placeholder((7, 6), name="B")
        k = te.reduce_axis((0, 7), "k")
        P = te.compute((5, 7), lambda i, k: self.A[i, k] + 1, name="P")
        S = te.compute((5, 6), lambda i, j: te.sum(P[i, k] * self.B[k, j], axis=k), name="S")
        C = te.compute((5, 6), lambda i, j: S[i, j] * 2, name="C")
        self.tensors = {"P": P, "S": S, "C": C}
        self.s = te.create_schedule(C.op)

    def __getitem__(self, name: str) -> te.Stage:
        return self.s[self.tensors[name]]

    def first(self, name: str) -> te.IterVar:
        """The outermost loop of a stage."""
        return self[name].leaf_iter_vars[0]

    def spatial(self, name: str) -> list[te.IterVar]:
        """The loops of a stage that are not reductions."""
        return self[name].spatial_leaves()

    def reduction(self, name: str) -> te.IterVar:
        """The innermost loop of a stage that is a reduction; any where there is none, which is then refused."""
        return [self.first(name), *self[name].reduce_leaves()][-1]

    def check(self) -> None:
        """Lower, and compare the loops with those that Python shows, and the results with numpy's."""
        args = [self.A, self.B, self.tensors["C"]]
        lowered = tw.lower(self.s, args, simple_mode=True).module
        shown = {stage.name: self.s.primitives.texts(stage.leaf_iter_vars) for stage in self.s.stages}
        made = made_loops(self.s.module("main", args))
        assert made == {name: shown[name] for name in made}
        a, b = (np.random.default_rng(i).integers(-3, 4, s).astype(np.float32) for i, s in enumerate(((5, 7), (7, 6))))
        result = np.full((5, 6), np.nan, np.float32)
        run_loop_kernel(next(op for op in lowered.ops if isinstance(op, loop.KernelOp)), [a, b], [result])
        np.testing.assert_array_equal(result, (a + 1) @ b * 2)


def made_loops(module: ModuleOp) -> dict[str, list[str]]:
    kernel, sequence = (op.clone() for op in module.ops)
    assert isinstance(kernel, KernelOp) and isinstance(sequence, SequenceOp)
    apply_dataflow(kernel, sequence)
    return {name: [a.name for a in stage.leaves] for name, stage in read_schedule(kernel, sequence).stages.items()}


# -- every pair


def in_copy(p: Program, name: str) -> None:
    """cache_write, and the cache is computed in the stage that copies out of it."""
    cache = p.s.cache_write(p.tensors[name], "local")
    p.s[cache].compute_at(p[name], p.first(name))


def in_reader(p: Program, name: str) -> None:
    """cache_read, and the copy is computed in the stage that reads it."""
    copy = p.s.cache_read(p.tensors[name], "local", [p.tensors[READER[name]]])
    p.s[copy].compute_at(p[READER[name]], p.first(READER[name]))


def split_and_rfactor(p: Program, name: str) -> None:
    """rfactor of half of a reduce axis, and the new stage is computed in what is left of the old one."""
    _, inner = p[name].split(p.reduction(name), 3)
    factored = p.s.rfactor(p.tensors[name], inner)
    p.s[factored].compute_at(p[name], p.first(name))


REWRITES: dict[str, Callable[[Program, str], object]] = {
    "compute_inline": lambda p, name: p[name].compute_inline(),
    "cache_write": lambda p, name: p.s.cache_write(p.tensors[name], "local"),
    "cache_write, placed": in_copy,
    "cache_read": lambda p, name: p.s.cache_read(p.tensors[name], "local", [p.tensors[READER[name]]]),
    "cache_read, placed": in_reader,
    "cache_read of an argument": lambda p, name: p.s.cache_read(p.A, "local", [p.tensors["P"]]),
    "rfactor": lambda p, name: p.s.rfactor(p.tensors[name], p.reduction(name)),
    "rfactor, placed": split_and_rfactor,
    "pad_to_multiple": lambda p, name: p[name].pad_to_multiple(p[name].op.axis[-1], 4),
    "pad_to_multiple of a reduction": lambda p, name: p[name].pad_to_multiple(p.reduction(name), 4),
}
NOT_OF_A_REDUCTION = {"compute_inline"}
OF_A_REDUCTION = {"rfactor", "rfactor, placed", "pad_to_multiple of a reduction"}
OTHERS: dict[str, Callable[[Program, str], object]] = {
    "split": lambda p, name: p[name].split(p.spatial(name)[-1], 4),
    "split of a reduction": lambda p, name: p[name].split(p.reduction(name), 3),
    "split, partition": lambda p, name: p[name].split(p.spatial(name)[0], 2, tail="partition"),
    "split, nparts": lambda p, name: p[name].split(p.spatial(name)[0], nparts=3),
    "fuse": lambda p, name: p[name].fuse(*p.spatial(name)[:2]),
    "fuse of none": lambda p, name: p[name].fuse(),
    "reorder": lambda p, name: p[name].reorder(*reversed(p[name].leaf_iter_vars)),
    "reorder of two": lambda p, name: p[name].reorder(*reversed(p.spatial(name))),
    "vectorize": lambda p, name: p[name].vectorize(p.spatial(name)[-1]),
    "parallel": lambda p, name: p[name].parallel(p.spatial(name)[0]),
    "unroll": lambda p, name: p[name].unroll(p.reduction(name)),
    "bind": lambda p, name: p[name].bind(p.spatial(name)[0], te.thread_axis("threadIdx.x")),
    "pragma": lambda p, name: p[name].pragma(p.first(name), "auto_unroll_max_step", 4),
    "prefetch": lambda p, name: p[name].prefetch(p.A, p.first(name), 1),
    "tensorize": lambda p, name: p[name].tensorize(p.first(name), "amx"),
    "compute_at": lambda p, name: p[name].compute_at(p[READER[name]], p.first(READER[name])),
    "compute_root": lambda p, name: p[name].compute_root(),
    "reverse_compute_at": lambda p, name: p[name].reverse_compute_at(p[SOURCE[name]], p.first(SOURCE[name])),
    "decompose_reduction": lambda p, name: p[name].decompose_reduction(p.first(name)),
    "set_scope": lambda p, name: p[name].set_scope("local"),
    "storage_align": lambda p, name: p[name].storage_align(p[name].op.axis[0], 8, 1),
    "double_buffer": lambda p, name: p[name].double_buffer(),
    "group": lambda p, name: p.s.create_group(p.tensors[name], p.A).compute_at(p[READER[name]], p.first(READER[name])),
}
NEEDS_READER = {"cache_read", "cache_read, placed", "compute_at", "group"}
NEEDS_SOURCE = {"reverse_compute_at"}


def exists(primitive: str, name: str) -> bool:
    """Whether there is the other stage that a primitive is about."""
    return (name in READER or primitive not in NEEDS_READER) and (name in SOURCE or primitive not in NEEDS_SOURCE)


CASES = [
    (name, rewrite, other)
    for name, refused, others in (("P", OF_A_REDUCTION, "PS"), ("S", NOT_OF_A_REDUCTION, "SPC"))
    for rewrite in REWRITES
    for other in others
    if rewrite not in refused
]


@pytest.mark.parametrize("rewritten, rewrite, other", CASES)
def test_every_pair_is_right_or_refused(rewritten: str, rewrite: str, other: str):
    """The rewriting primitive behind another one, and in front of it, on the same stage or on its neighbour."""
    accepted = 0
    for name, primitive in (REWRITES | OTHERS).items():
        if not exists(name, other):
            continue
        calls = [(primitive, other), (REWRITES[rewrite], rewritten)]
        for order in (calls, calls[::-1]):
            program = Program()
            try:
                for call, stage in order:
                    call(program, stage)
                program.check()
                accepted += 1
            except (te.ScheduleError, tw.UsageError) as refusal:
                assert "\n" not in str(refusal)
    assert accepted > 10 or rewrite == "rfactor"  # which needs two reduce axes


# -- longer sequences


def integers(*shape: int) -> np.ndarray:
    """Small integers, so that sums are exact."""
    return np.random.default_rng(0).integers(-8, 9, shape).astype(np.float32)


def rows(n: int = 7, m: int = 53):
    """The sums of rows, and the rows divided by them."""
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    S = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="S")
    C = te.compute((n, m), lambda i, j: A[i, j] * S[i], name="C")
    return A, S, C, te.create_schedule(C.op)


def test_a_stage_is_placed_and_then_factored(run_te):
    A, S, C, s = rows()
    outer, inner = s[C].split(C.op.axis[0], 4)
    s[C].parallel(outer)
    s[S].compute_at(s[C], inner)
    _, lanes = s[S].split(S.op.reduce_axis[0], 8)
    factored = s.rfactor(S, lanes)
    s[factored].compute_at(s[S], S.op.axis[0])
    s[factored].reorder(*s[factored].op.reduce_axis, *s[factored].op.axis)
    s[factored].vectorize(s[factored].op.axis[0])
    a = integers(7, 53)
    np.testing.assert_array_equal(run_te(s, [A, C], a), a * a.sum(1, keepdims=True))


def test_a_stage_is_placed_and_then_cached_in_another_layout(run_te):
    A = te.placeholder((12, 10), name="A")
    B = te.compute((12, 10), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((12, 10), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].storage_align(B.op.axis[0], 8, 1)  # of a dimension, which the stage keeps
    s[B].split(B.op.axis[1], 4)
    cache = s.cache_write(B, "local")
    assert [a.name for a in s[cache].op.axis] == ["i", "j.outer", "j.inner"]
    s[C].split(C.op.axis[0], 3)  # with which B moves, under its new handle
    s[B].vectorize(s[B].op.axis[1])
    a = integers(12, 10)
    np.testing.assert_array_equal(run_te(s, [A, C], a), (a + 1) * 2)


def test_what_was_asked_of_axes_that_stay_is_asked_of_the_copy():
    A, S, C, s = rows(8, 16)
    outer, inner = s[C].split(C.op.axis[1], 4)
    s[C].reorder(outer, C.op.axis[0], inner)
    s[S].parallel(S.op.axis[0])
    cache = s.cache_write(S, "local")
    s[cache].compute_at(s[S], S.op.axis[0])
    loops = [line.strip() for line in str(tw.lower(s, [A, C], simple_mode=True)).splitlines() if "loop.for" in line]
    assert loops[:2] == ['loop.for %i = 0 to 8 "i" parallel {', 'loop.for %k = 0 to 16 "k" {']


def test_loops_keep_their_order_where_reduce_axes_between_them_go(run_te):
    """A reorder of both kinds of axes, and then axes that are neighbours only since the reduce axis is gone."""
    A = te.placeholder((4, 5, 12), name="A")
    k = te.reduce_axis((0, 12), "k")
    S = te.compute((4, 5), lambda i, j: te.sum(A[i, j, k], axis=k), name="S")
    for rewrite in ("rfactor", "cache_write"):
        s = te.create_schedule(S.op)
        i, j = S.op.axis
        if rewrite == "rfactor":
            outer, inner = s[S].split(k, 4)
            s[S].reorder(outer, j, inner, i)
            s.rfactor(S, inner)
            s[S].fuse(j, i)
        else:
            s[S].reorder(k, i, j)
            s.cache_write(S, "local")
            s[S].fuse(i, j)
        a = integers(4, 5, 12)
        np.testing.assert_array_equal(run_te(s, [A, S], a), a.sum(2))


def test_a_stage_without_axes_is_factored_and_cached(run_te):
    A = te.placeholder((24,), name="A")
    k = te.reduce_axis((0, 24), "k")
    S = te.compute((), lambda: te.sum(A[k], axis=k), name="S")
    s = te.create_schedule(S.op)
    _, inner = s[S].split(k, 4)
    factored = s.rfactor(S, inner)
    cache = s.cache_write(S, "local")
    one = s[S].fuse()
    s[cache].compute_at(s[S], one)
    s[factored].compute_at(s[S], one)
    a = integers(24)
    np.testing.assert_array_equal(run_te(s, [A, S], a), a.sum())


def test_a_cache_of_a_cache_of_a_factored_stage(run_te):
    A, S, C, s = rows(5, 16)
    _, inner = s[S].split(S.op.reduce_axis[0], 4)
    factored = s.rfactor(S, inner, factor_axis=1)
    s[factored].split(s[factored].op.axis[1], 2)
    cache = s.cache_write(factored, "local")
    again = s.cache_write(cache, "local")
    assert [s[t].name for t in (factored, cache, again)] == ["S.rf", "S.rf.local", "S.rf.local.local"]
    s[factored].compute_at(s[S], S.op.axis[0])
    s[cache].compute_at(s[factored], s[factored].op.axis[0])
    a = integers(5, 16)
    np.testing.assert_array_equal(run_te(s, [A, C], a), a * a.sum(1, keepdims=True))


# -- inlining


def pieces():
    """B = 2 * A; D is B backwards, plus 1; C = D + A."""
    A = te.placeholder((4, 8), name="A")
    B = te.compute((4, 8), lambda i, j: A[i, j] * 2, name="B")
    D = te.compute((4, 8), lambda i, j: B[i, 7 - j] + 1, name="D")
    C = te.compute((4, 8), lambda i, j: D[i, j] + A[i, j], name="C")
    return A, B, D, C, te.create_schedule(C.op)


@pytest.mark.parametrize("inlined_first", [True, False])
@pytest.mark.parametrize("copied", ["A for B", "A for B and C", "B for D", "A for D's readers"])
def test_a_reader_or_what_is_read_is_inlined(run_te, inlined_first: bool, copied: str):
    A, B, D, C, s = pieces()
    tensor, readers, inlined = {
        "A for B": (A, [B], [B]),
        "A for B and C": (A, [B, C], [B, D]),
        "B for D": (B, [D], [B]),
        "A for D's readers": (B, [D], [D]),
    }[copied]
    for stage in inlined if inlined_first else ():
        s[stage].compute_inline()
    copy = s.cache_read(tensor, "local", readers)
    for stage in () if inlined_first else inlined:
        s[stage].compute_inline()
    s[copy].compute_at(s[C if D in inlined else D], (C if D in inlined else D).op.axis[0])
    assert "memref.alloca" in str(tw.lower(s, [A, C], simple_mode=True))
    a = integers(4, 8)
    np.testing.assert_array_equal(run_te(s, [A, C], a), (a * 2)[:, ::-1] + 1 + a)


def test_the_last_place_of_a_stage_holds(run_te):
    a = integers(4, 8)
    for calls, buffers in (
        (("compute_at", "compute_inline"), 0),
        (("compute_inline", "compute_at"), 1),
        (("compute_inline", "compute_inline"), 0),
        (("compute_at", "compute_inline", "compute_root"), 0),
        (("compute_inline", "compute_root", "compute_at"), 1),
    ):
        A, B, D, C, s = pieces()
        for call in calls:
            place = (s[D], D.op.axis[0]) if call == "compute_at" else ()
            getattr(s[B], call)(*place)
        s[D].split(D.op.axis[0], 2)  # takes along what is computed there, and nothing else
        text = str(tw.lower(s, [A, C], simple_mode=True))
        assert text.count("memref.alloca") == buffers and ("scratch" in text or calls[-1] != "compute_root")
        np.testing.assert_array_equal(run_te(s, [A, C], a), (a * 2)[:, ::-1] + 1 + a)


def test_an_inlined_stage_may_be_cached(run_te):
    A, B, D, C, s = pieces()
    s[B].compute_inline()
    cache = s.cache_write(B, "local")
    s[cache].compute_at(s[D], D.op.axis[0])
    a = integers(4, 8)
    np.testing.assert_array_equal(run_te(s, [A, C], a), (a * 2)[:, ::-1] + 1 + a)


def test_automatic_inlining_leaves_what_is_scheduled(run_te):
    a = integers(4, 8)
    for schedule in (
        lambda s, B, D: s[B].split(B.op.axis[0], 2),
        lambda s, B, D: s[B].compute_at(s[D], D.op.axis[0]),
        lambda s, B, D: s[B].vectorize(B.op.axis[1]),
        lambda s, B, D: s[B].pragma(B.op.axis[0], "auto_unroll_max_step", 4),
    ):
        A, B, D, C, s = pieces()
        schedule(s, B, D)
        te.AutoInlineInjective(s)
        assert "B" in made_loops(s.module())
        np.testing.assert_array_equal(run_te(s, [A, C], a), (a * 2)[:, ::-1] + 1 + a)


# -- refusals


@pytest.mark.parametrize(
    "calls, message",
    [
        (
            lambda p: (
                (p["S"].compute_at(p["C"], p.first("C")), p["S"].split(p.reduction("S"), 3, tail="partition"))
                and p.s.rfactor(p.tensors["S"], p.reduction("S"))
            ),
            "the split of axis 'k' of stage 'S' becomes a stage, which has no tail partition; use guard",
        ),
        (
            lambda p: (p["P"].compute_at(p["S"], p.reduction("S")), p.s.cache_write(p.tensors["S"], "local")),
            "cache_write of stage 'S' comes after schedule.compute_at used its reduction, which moves into the cache; "
            "call it first",
        ),
        (
            lambda p: (p["S"].decompose_reduction(p.first("S")), p.s.cache_write(p.tensors["S"], "local")),
            "cache_write of stage 'S' comes after schedule.decompose_reduction used its reduction, which moves into "
            "the cache; call it first",
        ),
        (
            lambda p: (p["P"].compute_at(p["S"], p.first("S")), p.s.cache_write(p.tensors["S"], "local")),
            "stage 'P' is computed at axis 'i' of stage 'S', but its consumer 'S.local' is not computed there; compute "
            "that there too, or 'P' at the root",
        ),
        (
            lambda p: (
                p["C"].reverse_compute_at(p["S"], p.first("S")),
                p.s.cache_read(p.tensors["S"], "local", p.tensors["C"]),
            ),
            "stage 'C' cannot follow axis 'i' of stage 'S': it does not read that; use compute_at on a producer",
        ),
        (
            lambda p: (p["P"].split(p.first("P"), 2), p["P"].compute_inline()),
            "stage 'P' is inlined, so it cannot be scheduled: schedule.split uses it; leave that out",
        ),
    ],
)
def test_a_refusal_names_the_stage_and_shows_its_loops(calls: Callable[[Program], object], message: str):
    program = Program()
    with pytest.raises(te.ScheduleError) as refusal:
        calls(program)
        program.check()
    assert str(refusal.value) == message
    place, nest, *_ = refusal.value.__notes__
    assert place.startswith(f'File "{__file__}", line ') and nest.startswith("the loop nest as it stands:\n")
