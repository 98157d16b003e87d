"""Features of schedules with knobs, against those of the same schedules with numbers, and what loops really do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from schedule_templates import (
    Scheduled,
    conv,
    gemm,
    kernel_and_schedule,
    softmax,
    squares,
    transpose,
)
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from tilework.algebra.errors import UsageError
from tilework.dialects import arith, loop
from tilework.dialects.schedule import set_knobs
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.frontends import te
from tilework.lowering.schedule_to_loop import lower_kernel
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.scheduling.open_knobs import OpenKnobs
from tilework.targets import parse_target
from tilework.transforms.loop.partition import Partition
from tilework.transforms.loop.rewrite_unsafe_select import RewriteUnsafeSelect
from tilework.transforms.loop.simplify import Simplify
from tilework.transforms.loop.skip_padding import SkipPadding
from tilework.tuning.features import SymbolicNest, symbolic_nest
from tilework.tuning.features.columns import names

TARGET = parse_target("llvm -mcpu=znver4 -num-cores=2")
CONFIGURATIONS = 25

TEMPLATES: Mapping[str, Callable[[], Scheduled]] = {
    "gemm": lambda: gemm(order="rows inside", unroll=("ii",), uneven=True),
    "gemm with a cache": lambda: gemm(
        order="columns first", cached=True, packed=True, unroll=("ki", "ii"), uneven=True
    ),
    "conv with its border in tiles": lambda: conv(pad="tile", cached=True, unroll=("oi",), uneven=True),
    "conv with its border inlined": lambda: conv(pad="inline", packed=True, order="filters", uneven=True),
    "softmax": softmax,
    "partial sums": squares,
    "transpose": transpose,
}


@cache
def nest_of(template: Callable[[], Scheduled]) -> tuple[SymbolicNest, Scheduled]:
    scheduled = template()
    return symbolic_nest(*kernel_and_schedule(scheduled), TARGET), scheduled


def drawn(s: te.Schedule, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Random configurations."""
    rng = np.random.default_rng(seed)
    return {name: rng.choice(knob.values, count) for name, knob in s.knobs.items()}


def with_numbers(scheduled: Scheduled, values: Mapping[str, int]) -> np.ndarray:
    """The features of a schedule that has numbers where the knobs were: its nest is lowered as a compilation does."""
    kernel, sequence = kernel_and_schedule(scheduled)
    set_knobs(sequence, values)
    for op in sequence.walk():
        for key, attribute in op.properties.items():
            if hasattr(attribute, "chosen"):
                op.properties[key] = attribute.chosen  # pyright: ignore
    [row] = symbolic_nest(kernel, sequence, TARGET).features({})
    return row


@pytest.mark.parametrize("template", TEMPLATES)
def test_features_are_those_of_the_schedule_with_numbers(template: str):
    """All but a few: a loop that runs once is none for the lowering of numbers, and what LLVM unrolls is a little less
    then; and a stage of which a choice needs all is computed from its beginning."""
    nest, scheduled = nest_of(TEMPLATES[template])
    values = drawn(scheduled[0], CONFIGURATIONS)
    table = nest.features(values)
    rows = [with_numbers(scheduled, {n: int(v[i]) for n, v in values.items()}) for i in range(CONFIGURATIONS)]
    equal = np.isclose(table, rows, rtol=1e-6, atol=1e-9)
    odd = Counter(nest.names[column] for _, column in np.argwhere(~equal))
    assert equal.mean() >= 0.98, odd
    assert np.isfinite(table).all() and not nest.set_apart


# -- what loops do


def products(block: Block, values: dict[SSAValue, int]) -> int:
    """How many products and sums the loops of a block compute, by running through them."""
    count = 0
    for op in block.ops:
        match op:
            case loop.ForOp():
                for index in range(op.lower.evaluate(values), op.upper.evaluate(values)):
                    count += products(op.body.block, {**values, op.index: index})
            case loop.IfOp():
                holds = all(p.evaluate(values) for p in op.conditions)
                branch = op.then_body if holds else op.else_body
                count += sum(products(b, values) for b in branch.blocks)
            case arith.AddfOp():
                count += 1
            case _:
                pass
    return count


def executed(scheduled: Scheduled, values: Mapping[str, int]) -> int:
    """How many sums a schedule computes where loops are cut as a compilation cuts them."""
    kernel, sequence = kernel_and_schedule(scheduled)
    kernel.detach()
    sequence.detach()
    ModuleOp([kernel, sequence])
    set_knobs(sequence, values)
    apply_dataflow(kernel, sequence)
    nest = lower_kernel(kernel, sequence)
    for step in (RewriteUnsafeSelect(), Simplify(), SkipPadding(), Simplify(), Partition(), Simplify()):
        step.run(make_context(), nest)
    return products(nest.body.block, {})


@pytest.mark.parametrize(
    "template",
    [
        lambda: gemm(7, 10, 9, uneven=True),
        lambda: gemm(8, 12, 6, cached=True, packed=True),
        lambda: conv(3, 4, 7, 6, pad="inline", order="filters", uneven=True),
        lambda: conv(3, 4, 7, 6, pad="inline", order="windows outside", uneven=True),
        lambda: conv(4, 4, 6, 5, pad="tile", cached=True, uneven=True),
    ],
    ids=["gemm", "gemm cached", "conv filters", "conv windows", "conv tile"],
)
def test_points_are_counted_as_loops_run(template: Callable[[], Scheduled]):
    """Tails and padding: what guards leave out is not counted, and neither is what was skipped as a product with 0."""
    nest, scheduled = nest_of(template)
    values = drawn(scheduled[0], 6)
    counted = np.exp2(nest.features(values)[:, names().index("multiply-adds")]) - 1
    real = [executed(scheduled, {n: int(v[i]) for n, v in values.items()}) for i in range(6)]
    np.testing.assert_allclose(counted, real, rtol=1e-9)


def test_loops_of_one_iteration_change_nothing():
    def scaled(steps: Sequence[Any], **values: Sequence[int]) -> np.ndarray:
        x = te.placeholder((64, 48), name="x")
        y = te.compute((64, 48), lambda i, j: x[i, j] * 2.0, name="y")
        s = te.create_schedule(y.op)
        i, j = y.op.axis
        for factor in steps:
            _, i = s[y].split(i, factor=factor)
        s[y].vectorize(j)
        [row] = symbolic_nest(*kernel_and_schedule((s, [x, y])), TARGET).features(values)
        return row

    all_rows, one_row = te.knob("all", [16, 64]), te.knob("one", [2, 8])
    np.testing.assert_allclose(scaled([8]), scaled([all_rows, 8, one_row], all=[64], one=[8]))


def test_all_nests_have_the_same_columns():
    tables = [nest_of(t)[0].names for t in (TEMPLATES["gemm"], softmax, transpose)]
    assert tables == [names()] * 3 and len(set(names())) == len(names())


def test_rows_do_not_depend_on_their_neighbours():
    nest, (s, _) = nest_of(TEMPLATES["conv with its border inlined"])
    values = drawn(s, 9000, seed=3)
    some = np.random.default_rng(0).choice(9000, 20, replace=False)
    alone = nest.features({name: column[some] for name, column in values.items()})
    np.testing.assert_allclose(nest.features(values)[some], alone, rtol=1e-9)


# -- knobs that are set apart


def aligned() -> Scheduled:
    x = te.placeholder((32, 40), name="x")
    y = te.compute((32, 40), lambda i, j: x[i, j] + 1.0, name="y")
    z = te.compute((32, 40), lambda i, j: y[i, j] * 2.0, name="z")
    s = te.create_schedule(z.op)
    io, _ = s[z].split(z.op.axis[0], factor=te.knob("rows", [2, 3, 8]))
    s[y].compute_at(s[z], io)
    s[y].storage_align(y.op.axis[0], te.knob("align", [1, 16, 64]), 8)
    return s, [x, z]


def test_knobs_that_change_the_loops_are_lowered_one_by_one():
    nest, scheduled = nest_of(aligned)
    assert nest.set_apart == ("align",)
    values = drawn(scheduled[0], 12)
    rows = [with_numbers(scheduled, {n: int(v[i]) for n, v in values.items()}) for i in range(12)]
    np.testing.assert_allclose(nest.features(values), rows)
    bytes_ = nest.features({"rows": [2, 2], "align": [1, 64]})[:, names().index("stack bytes")]
    assert bytes_[0] < bytes_[1]


def shifted() -> Scheduled:
    """Sums whose last tile would overlap the one before it, which is refused inside of the reduction."""
    x = te.placeholder((16, 8), name="x")
    k = te.reduce_axis((0, 8), name="k")
    y = te.compute((16,), lambda i: te.sum(x[i, k], axis=k), name="y")
    s = te.create_schedule(y.op)
    io, ii = s[y].split(y.op.axis[0], factor=te.knob("part", [4, 3, 2]), tail="shift")
    s[y].reorder(k, io, ii)
    return s, [x, y]


def test_a_choice_that_the_schedule_refuses_is_invalid():
    nest, _ = nest_of(shifted)
    values = {"part": [4, 3, 2]}
    assert nest.set_apart == ("part",)
    assert nest.valid(values).tolist() == [True, False, True]
    assert not nest.features(values)[1].any() and nest.features(values)[0].any()


# -- limits


def valid_row(scheduled: Scheduled, values: Mapping[str, Sequence[int]]) -> list[bool]:
    return symbolic_nest(*kernel_and_schedule(scheduled), TARGET).valid(values).tolist()


def test_what_is_unrolled_is_limited():
    values = {"ti": [2, 64], "tj": [64, 64], "tk": [2, 128]}
    assert valid_row(gemm(unroll=("ii", "ki")), values) == [True, False]


def test_local_buffers_fit_the_stack():
    x = te.placeholder((64, 8192), name="x")
    y = te.compute((64, 8192), lambda i, j: x[i, j] + 1.0, name="y")
    z = te.compute((64, 8192), lambda i, j: y[i, j] * 2.0, name="z")
    s = te.create_schedule(z.op)
    io, _ = s[z].split(z.op.axis[0], factor=te.knob("rows", [1, 64]))
    s[y].compute_at(s[z], io)
    assert valid_row((s, [x, z]), {"rows": [1, 64]}) == [True, False]


def test_buffers_in_registers_fit_them():
    x = te.placeholder((64, 256), name="x")
    y = te.compute((64, 256), lambda i, j: x[i, j] + 1.0, name="y")
    z = te.compute((64, 256), lambda i, j: y[i, j] * 2.0, name="z")
    s = te.create_schedule(z.op)
    io, ii = s[z].split(z.op.axis[0], factor=te.knob("rows", [2, 4, 16]))
    jo, ji = s[z].split(z.op.axis[1], factor=te.knob("columns", [16, 64]))
    s[z].reorder(io, jo, ii, ji)
    s[y].compute_at(s[z], jo)
    s[y].set_scope("register")
    values = {"rows": [2, 16, 16], "columns": [64, 16, 64]}
    # 8 registers, 16, and 64, of which there are 32
    assert valid_row((s, [x, z]), values) == [True, True, False]


def test_threads_of_a_device_are_none_of_a_processor():
    x = te.placeholder((64,), name="x")
    y = te.compute((64,), lambda i: x[i] + 1.0, name="y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], factor=te.knob("threads", [8, 16]))
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    s[y].bind(inner, te.thread_axis("threadIdx.x"))
    assert valid_row((s, [x, y]), {"threads": [8, 16]}) == [False, False]


# -- wrong use


@pytest.mark.parametrize(
    "values, message",
    [
        ({"ti": [2], "tj": [16]}, "no values for knob 'tk'; the schedule's knobs are ti, tj, tk"),
        ({"ti": [2], "tj": [16], "tk": [2], "x": [1]}, "the schedule has no knob 'x'; its knobs are ti, tj, tk"),
        ({"ti": [7], "tj": [16], "tk": [2]}, "knob 'ti' cannot be 7; its choices are 1, 2, 4, 8"),
        (
            {"ti": [2, 4], "tj": [16], "tk": [2]},
            "values of knobs are one row of numbers for all knobs, not 'ti' of shape [2], 'tj' of shape [1], 'tk' of "
            "shape [1]",
        ),
    ],
)
def test_wrong_values_are_refused(values: dict[str, Any], message: str):
    nest, _ = nest_of(plain)
    for method in (nest.features, nest.valid):
        with pytest.raises(UsageError) as refusal:
            method(values)
        assert str(refusal.value) == message


def plain() -> Scheduled:
    return gemm(8, 16, 8)


def test_a_kernel_has_known_sizes():
    n = te.var("n")
    x = te.placeholder((n,), name="x")
    y = te.compute((n,), lambda i: x[i] + 1.0, name="y")
    s = te.create_schedule(y.op)
    with pytest.raises(UsageError, match="kernel @main has sizes that are not known: n; give them numbers"):
        symbolic_nest(*kernel_and_schedule((s, [x, y])), TARGET)


def test_a_target_is_a_processor():
    with pytest.raises(UsageError, match="features are those of processors; 'opencl .*' is none"):
        symbolic_nest(*kernel_and_schedule(plain()), parse_target("opencl"))


def test_a_schedule_that_is_refused_says_why():
    x = te.placeholder((10,), name="x")
    k = te.reduce_axis((0, 10), name="k")
    y = te.compute((1,), lambda i: te.sum(x[k], axis=k), name="y")
    s = te.create_schedule(y.op)
    s[y].split(y.op.reduce_axis[0], factor=te.knob("f", [3, 4]), tail="shift")
    with pytest.raises(CompileError, match="tail shift would count elements twice"):
        symbolic_nest(*kernel_and_schedule((s, [x, y])), TARGET)


def test_neither_kernel_nor_schedule_is_changed():
    kernel, sequence = kernel_and_schedule(gemm(8, 16, 8, cached=True))
    before = str(kernel), str(sequence)
    nest = symbolic_nest(kernel, sequence, TARGET)
    nest.features({"ti": [2], "tj": [8], "tk": [4]})
    assert (str(kernel), str(sequence)) == before


def test_a_schedule_without_knobs_has_one_row():
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda i: x[i] + 1.0, name="y")
    s = te.create_schedule(y.op)
    nest = symbolic_nest(*kernel_and_schedule((s, [x, y])), TARGET)
    assert nest.features({}).shape == (1, len(names())) and nest.valid({}).tolist() == [True]


def test_knobs_alone_are_symbols():
    """What a knob is called in a nest is nothing that a kernel could call something."""
    assert all(symbol.startswith("$") for symbol in OpenKnobs({"i": (1, 2)}).symbols)
