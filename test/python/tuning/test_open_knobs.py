"""A nest in which knobs are symbols computes for each of their choices what the schedule does that has them set."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from schedule_templates import gemm, kernel_and_schedule
from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.index_expr import const, var
from tilework.algebra.predicate import at_least
from tilework.analysis.data_indices import index_limits
from tilework.dialects import loop
from tilework.dialects.schedule import (
    EnvThreadsOp,
    KnobAttr,
    PadToMultipleOp,
    SequenceOp,
    SplitOp,
    knobs_of,
    set_knobs,
)
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import KernelOp
from tilework.frontends import te
from tilework.interpreters.loop import run_loop_kernel
from tilework.interpreters.te import run_kernel
from tilework.lowering.schedule_to_loop import lower_kernel
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.scheduling.open_knobs import KnobMustBeSet, OpenKnobs, symbol_of
from tilework.tools.fuzz.cases import Case, random_case
from tilework.tools.fuzz.check import arguments, compare, lower
from tilework.tools.fuzz.draw import Seeded
from tilework.transforms.loop.simplify import Simplify
from tilework.transforms.loop.skip_padding import SkipPadding

NUMBERS = (1, 2, 3, 4, 5, 6, 8)
TRIALS = 3


def open_nest(kernel: KernelOp, sequence: SequenceOp, others: Sequence[loop.KernelOp] = ()) -> loop.KernelOp:
    """The nest with all knobs open."""
    kernel, sequence = kernel.clone(), sequence.clone()
    ModuleOp([*(op.clone() for op in others), kernel, sequence])
    knobs = OpenKnobs({name: knob.values for name, knob in knobs_of(sequence).items()})
    apply_dataflow(kernel, sequence, knobs)
    return lower_kernel(kernel, sequence, knobs)


def with_knobs(sequence: SequenceOp, rng: random.Random) -> SequenceOp:
    """The schedule with a knob for each number that says how axes are split, padded or launched."""
    sequence = sequence.clone()
    numbered = [op for op in sequence.body.block.ops if isinstance(op, SplitOp | PadToMultipleOp | EnvThreadsOp)]
    for op, key in ((op, key) for op in numbered for key in ("factor", "nparts", "extent")):
        number = op.properties.get(key)
        if number is not None:
            chosen = number.value.data
            choices = [chosen, *(n for n in rng.sample(NUMBERS, 3) if n != chosen)]
            op.properties[key] = KnobAttr.of(f"t{len(knobs_of(sequence))}", choices, chosen)
    return sequence


def differences(case: Case, rng: random.Random) -> tuple[int, list[str]]:
    """How many choices of knobs were tried, and what was wrong."""
    sequence = with_knobs(case.sequence, rng)
    knobs = knobs_of(sequence)
    if not knobs:
        return 0, []
    try:
        lower(case.kernel, case.sequence, case.intrinsics)
        nest = open_nest(case.kernel, sequence, case.intrinsics)
    except (CompileError, KnobMustBeSet):
        return 0, []
    if not any(op.kind.data is loop.Kind.VIRTUAL for op in nest.walk() if isinstance(op, loop.ForOp)):
        for step in (Simplify(), SkipPadding(), Simplify()):
            step.run(None, nest)
    wrong: list[str] = []
    tried = 0
    for _ in range(TRIALS):
        values = {name: rng.choice(knob.values) for name, knob in knobs.items()}
        chosen = sequence.clone()
        set_knobs(chosen, values)
        try:
            _, lowered = lower(case.kernel, chosen, case.intrinsics)
        except CompileError:
            continue
        arrays = arguments(lowered, index_limits(case.kernel), case.size, case.seed)
        inputs, count = lowered.group_sizes[:2]
        outputs = arrays[inputs : inputs + count]
        symbols = [*(case.size for _ in case.kernel.symbols), *values.values()]
        run_loop_kernel(nest, arrays[:inputs], outputs, symbols=symbols)
        difference = compare(f"seed {case.seed} with {values}", outputs, run_kernel(case.kernel, arrays[:inputs]))
        wrong += [] if difference is None else [difference]
        tried += 1
    return tried, wrong


@pytest.mark.parametrize("first", range(0, 90, 30))
def test_random_schedules_compute_the_same_for_all_choices(first: int):
    rng = random.Random(first)
    results = [differences(random_case(Seeded(seed), seed), rng) for seed in range(first, first + 30)]
    assert [text for _, wrong in results for text in wrong] == []
    assert sum(tried for tried, _ in results) >= 8  # schedules that nobody refuses, with numbers in them


def test_a_nest_says_what_it_is_over_its_knobs():
    kernel, sequence = kernel_and_schedule(gemm(8, 24, 16, cached=True))
    text = str(open_nest(kernel, sequence))
    assert "symbols(%$ti, %$tj, %$tk)" in text
    assert 'loop.for %i_outer = 0 to 8 floordiv %$ti "i.outer"' in text  # all choices divide: no rest
    assert "loop.used_dims = #graph.dims<[$ti, $tj]>" in text and "memref<8x24xf32" in text  # the largest choices
    assert "loop.if" not in text.split("k.inner")[1].split("i.inner")[0]


def test_a_choice_that_divides_nothing_leaves_a_condition():
    kernel, sequence = kernel_and_schedule(gemm(7, 24, 16, uneven=True))
    assert "- %i_inner + 6 >= 0" in str(open_nest(kernel, sequence))


def copies(schedule: Callable[[te.Schedule, te.Tensor, te.Tensor], object]) -> tuple[KernelOp, SequenceOp]:
    """y = x + 1, z = 2 y, under a schedule."""
    x = te.placeholder((30, 40), name="x")
    y = te.compute((30, 40), lambda i, j: x[i, j] + 1.0, name="y")
    z = te.compute((30, 40), lambda i, j: y[i, j] * 2.0, name="z")
    s = te.create_schedule(z.op)
    schedule(s, y, z)
    return kernel_and_schedule((s, [x, z]))


def aligned(s: te.Schedule, y: te.Tensor, z: te.Tensor) -> None:
    io, _ = s[z].split(z.op.axis[0], factor=te.knob("rows", [2, 3]))
    s[y].compute_at(s[z], io)
    s[y].storage_align(y.op.axis[0], te.knob("align", [1, 16]), 8)


def prefetched(s: te.Schedule, y: te.Tensor, z: te.Tensor) -> None:
    s[z].prefetch(y, z.op.axis[0], te.knob("ahead", [1, 2]))


def cut(s: te.Schedule, y: te.Tensor, z: te.Tensor) -> None:
    s[z].pragma(z.op.axis[0], "loop_partition_hint", te.knob("cut", [0, 1]))


@pytest.mark.parametrize("schedule, name", [(aligned, "align"), (prefetched, "ahead"), (cut, "cut")])
def test_what_loops_are_alike_for_no_two_choices_of_has_to_be_set(schedule: Callable[..., object], name: str):
    with pytest.raises(KnobMustBeSet, match=f"not the same for all choices of {name}") as refusal:
        open_nest(*copies(schedule))
    assert refusal.value.knobs == (name,)


def test_what_holds_for_all_choices():
    knobs = OpenKnobs({"a": (4, 8), "b": (2, 4)})
    a, b = (var(symbol_of(name)) for name in "ab")
    assert knobs.divide(b, a) and knobs.divide(a, const(16)) and not knobs.divide(a, b)
    assert knobs.proves(at_least(a, b)) and not knobs.proves(at_least(b, a))
    assert (knobs.least(a, b), knobs.greatest(a, const(3))) == (b, a)
    assert knobs.least(a, const(6)) not in (a, const(6))  # it depends
    assert knobs.most(a * b) == 32 and knobs.most(const(9) // b) == 4
    assert knobs.settle(a + b) and not knobs.settle(a + var("n"))
    assert knobs.ranges == {symbol_of("a"): (4, 8), symbol_of("b"): (2, 4)}


def test_symbols_of_knobs_with_odd_names_differ():
    assert len({symbol_of(name) for name in ("tile x", "tile_x", "tile.x", "tile+x")}) == 4
