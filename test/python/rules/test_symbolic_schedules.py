"""Schedules for sizes that are symbols: what cores share, what is copied, and that results stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from programs import schedule_by
from xdsl.dialects.builtin import IntegerAttr, TensorType, f32

from tilework.algebra.index_expr import Expr, ExprLike, var
from tilework.dialects.schedule import (
    CacheReadOp,
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    FuseOp,
    ParallelOp,
    ReorderOp,
    RFactorOp,
    SequenceOp,
    SplitOp,
    Tail,
)
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar
from tilework.rules.cpu.default import Default
from tilework.rules.cpu.row_blocks import RowBlocks
from tilework.targets import Target, parse_target

HASWELL, NO_MASKS = parse_target("llvm -mcpu=haswell"), parse_target("llvm -mcpu=x86-64")
N, S, T = map(var, "NST")
Run = Callable[..., object]


def blocks(outputs: int, sums: int = 64) -> KernelOp:
    """[o, n, y, x, l] = sum of x[n, k, y, x] * w[o, k, l]: images are behind blocks of outputs."""
    k = KernelBuilder("blocks")
    x, w = k.argument(tensor_type([N, sums, 4, 6], f32), "x"), k.argument(TensorType(f32, (outputs, sums, 16)), "w")

    def element(o: Expr, n: Expr, y: Expr, x_: Expr, lane: Expr) -> Reduction:
        def term(r: Expr) -> Scalar:
            return x[n, r, y, x_] * w[o, r, lane]

        return k.sum((sums,), term)

    return k.finish([k.compute("y", (outputs, N, 4, 6, 16), element)])


def windows(outputs: int, rows: int) -> KernelOp:
    """[o, n, i, l] = sum of x[n, i + t, k] * w[o, k, t, l]: rows of images are cut into pieces for cores."""
    k = KernelBuilder("windows")
    x = k.argument(tensor_type([N, rows + 2, 64], f32), "x")
    w = k.argument(TensorType(f32, (outputs, 64, 3, 16)), "w")

    def element(o: Expr, n: Expr, i: Expr, lane: Expr) -> Reduction:
        def term(r: Expr, t: Expr) -> Scalar:
            return x[n, i + t, r] * w[o, r, t, lane]

        return k.sum((64, 3), term)

    return k.finish([k.compute("y", (outputs, N, rows, 16), element)])


def points(sums: int = 64) -> KernelOp:
    """[n, o, p] = sum of x[n, k, p] * w[o, k]: images come first."""
    k = KernelBuilder("points")
    x, w = k.argument(tensor_type([N, sums, 28], f32), "x"), k.argument(TensorType(f32, (16, sums)), "w")

    def element(n: Expr, o: Expr, p: Expr) -> Reduction:
        def term(r: Expr) -> Scalar:
            return x[n, r, p] * w[o, r]

        return k.sum((sums,), term)

    return k.finish([k.compute("y", (N, 16, 28), element)])


def scores(heads: int, depth: int = 64) -> KernelOp:
    """[b, h, i, j] = sum of q[b, h, i, d] * k[b, h, d, j], for unknown numbers of all but the heads."""
    k = KernelBuilder("scores")
    q = k.argument(tensor_type([N, heads, S, depth], f32), "q")
    w = k.argument(tensor_type([N, heads, depth, T], f32), "k")

    def element(b: Expr, h: Expr, i: Expr, j: Expr) -> Reduction:
        def term(d: Expr) -> Scalar:
            return q[b, h, i, d] * w[b, h, d, j]

        return k.sum((depth,), term)

    return k.finish([k.compute("y", (N, heads, S, T), element)])


def product(sums: ExprLike, columns: ExprLike) -> KernelOp:
    """[i, j] = sum of x[i, k] * w[k, j] for an unknown number of rows."""
    k = KernelBuilder("product")
    x, w = k.argument(tensor_type([N, sums], f32), "x"), k.argument(tensor_type([sums, columns], f32), "w")

    def element(i: Expr, j: Expr) -> Reduction:
        def term(r: Expr) -> Scalar:
            return x[i, r] * w[r, j]

        return k.sum((sums,), term)

    return k.finish([k.compute("y", (N, columns), element)])


def softmax(*dims: ExprLike) -> KernelOp:
    """A softmax along the last axis."""
    k = KernelBuilder("softmax")
    x = k.argument(tensor_type(dims, f32), "x")
    *rows, columns = dims

    def largest(*i: Expr) -> Reduction:
        def term(r: Expr) -> Scalar:
            return x[(*i, r)]

        return k.reduce_max((columns,), term)

    def exponential(*i: Expr) -> Scalar:
        return k.call("exp", x[i] - most[i[:-1]])

    def total(*i: Expr) -> Reduction:
        def term(r: Expr) -> Scalar:
            return exps[(*i, r)]

        return k.sum((columns,), term)

    def quotient(*i: Expr) -> Scalar:
        return exps[i] / sums[i[:-1]]

    most = k.compute("max", rows, largest)
    exps = k.compute("exp", dims, exponential)
    sums = k.compute("sum", rows, total)
    return k.finish([k.compute("y", dims, quotient)])


def shared(schedule: SequenceOp) -> list[str]:
    """The loops that cores share, by name; what is copied for all of the kernel is not looked at."""
    axis = next(op.axis for op in schedule.walk() if isinstance(op, ParallelOp))
    fused = list(axis.owner.axes) if isinstance(axis.owner, FuseOp) else [axis]
    return [str(a.name_hint) for a in fused]


def name_of(value: object) -> str:
    return value.sym_name.data if isinstance(value, KernelOp) else str(value)


@pytest.mark.parametrize(
    ("kernel", "cores", "expected"),
    [
        (points(), 2, ["n", "p_o"]),  # there may be one image
        (blocks(4), 4, ["o"]),  # enough without images
        (blocks(4), 8, ["n", "o", "y"]),  # too few in front of them: they come first
        (blocks(16), 16, ["o"]),
        (scores(8), 2, ["b", "h_o", "h_i"]),  # first already, and in front of the pieces for cores
        (windows(16, 128), 2, ["i_o", "o"]),  # pieces come first
        (windows(4, 128), 8, ["n", "o"]),
    ],
    ids=name_of,
)
def test_loops_of_unknown_length_are_shared_as_the_outermost_only(kernel: KernelOp, cores: int, expected: list[str]):
    assert shared(schedule_by(Default(), kernel, replace(HASWELL, cores=cores))) == expected


@pytest.mark.parametrize(
    ("matrices", "cores", "expected"), [(1, 4, ["i1_o"]), (4, 4, ["i0"]), (4, 8, ["i0", "i1_o"]), (16, 8, ["i0"])]
)
def test_blocks_of_unknown_numbers_of_rows_are_shared_where_matrices_are_too_few(
    matrices: int, cores: int, expected: list[str]
):
    kernel = softmax(matrices, N, 64)
    assert shared(schedule_by(RowBlocks(), kernel, replace(HASWELL, cores=cores))) == expected


@pytest.mark.parametrize(
    ("kernel", "copied"),
    [
        (scores(2), True),
        (product(64, T), True),
        (product(64, 544), True),  # rows of 2 kB, which an unknown number of tiles read
        (product(64, 96), False),
        (product(S, T), False),  # nobody knows how large it would be
    ],
    ids=["scores", "unknown columns", "long rows", "short rows", "unknown sums"],
)
def test_panels_of_matrices_of_unknown_size(kernel: KernelOp, copied: bool):
    schedule = schedule_by(Default(), kernel, HASWELL)
    assert any(isinstance(op, CacheReadOp) for op in schedule.walk()) == copied


def filters_at_points(filters: int, channels: int = 64) -> KernelOp:
    """[o, p] = sum of x[c, p] * w[o, c], at all points of an image of unknown size."""
    k = KernelBuilder("filters")
    x, w = k.argument(tensor_type([channels, S * T], f32), "x"), k.argument(TensorType(f32, (filters, channels)), "w")

    def element(o: Expr, p: Expr) -> Reduction:
        def term(c: Expr) -> Scalar:
            return x[c, p] * w[o, c]

        return k.sum((channels,), term)

    return k.finish([k.compute("y", (filters, S * T), element)])


def names_of(schedule: SequenceOp, kind: type[ReorderOp | ComputeAtOp], number: int) -> list[str | None]:
    """The names of the loops of the first such operation, from its operand of this number on."""
    op = next(op for op in schedule.walk() if isinstance(op, kind))
    return [v.name_hint for v in op.operands[number:]]


@pytest.mark.parametrize(("filters", "channels", "pieces"), [(64, 64, []), (512, 256, ["o_o"]), (20, 8, ["o_o"])])
def test_all_filters_take_a_panel_of_an_unknown_number_of_points(filters: int, channels: int, pieces: list[str]):
    """It is copied once, in the loop over panels, and loops over filters are inside; not pieces of them for cores."""
    schedule = schedule_by(Default(), filters_at_points(filters, channels), HASWELL)
    inside = "o_i_o" if pieces else "o_o"
    loops = names_of(schedule, ReorderOp, 0)
    assert loops[: len(pieces) + 2] == [*pieces, "p_o", inside]
    panel = next(op for op in schedule.walk() if isinstance(op, CacheReadOp)).results[0]
    [place] = [op.axis for op in schedule.walk() if isinstance(op, ComputeAtOp) and op.stage == panel]
    assert place.name_hint == "p_o"


@pytest.mark.parametrize("target", [HASWELL, NO_MASKS], ids=["masks", "no masks"])
@pytest.mark.parametrize("columns", [64, S], ids=["known", "unknown"])
def test_unknown_numbers_of_rows_come_in_blocks_of_a_vector(target: Target, columns: ExprLike):
    """What is left of them is a part of its own. Stages are inlined whose rows have an unknown length."""
    schedule = schedule_by(RowBlocks(), softmax(N, columns), target)
    first = next(op for op in schedule.walk() if isinstance(op, SplitOp))
    assert isinstance(first.factor, IntegerAttr) and first.factor.value.data == target.lanes(32)
    assert first.tail.data is Tail.PARTITION
    assert any(isinstance(op, ComputeInlineOp) for op in schedule.walk()) == (columns is S)


def test_unknown_rows_are_not_factored_into_lanes_without_masks():
    """Their ends would not be whole vectors. Their sums are factored into blocks."""
    for columns, factored in ((64, True), (S, False)):
        schedule = schedule_by(RowBlocks(), softmax(N, columns), NO_MASKS)
        factors = [op.factor_axis.value.data for op in schedule.walk() if isinstance(op, RFactorOp)]
        assert any(at == -1 for at in factors) == factored
        assert any(at == 0 for at in factors) != factored


def test_sums_of_unknown_numbers_of_rows_are_in_registers_with_masks_only():
    """Without masks the last block's vector would have too few lanes."""
    for target, scope in ((HASWELL, "register"), (NO_MASKS, "local")):
        schedule = schedule_by(RowBlocks(), softmax(N, S), target)
        scopes = {op.scope.data for op in schedule.walk() if isinstance(op, CacheWriteOp)}
        assert scopes == {scope}


def test_rows_too_long_for_the_stack_are_refused():
    assert RowBlocks().match(softmax(N, 1 << 20), HASWELL, set()) is None


@pytest.mark.parametrize("target", [HASWELL, NO_MASKS], ids=["masks", "no masks"])
@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [
        (points(4), {"N": 3}),
        (blocks(4, 4), {"N": 2}),
        (scores(2, 4), {"N": 2, "S": 9, "T": 29}),
        (scores(2, 4), {"N": 1, "S": 1, "T": 1}),
        (product(5, 21), {"N": 13}),
        (softmax(N, S), {"N": 11, "S": 13}),
        (softmax(N, S), {"N": 1, "S": 1}),
        (softmax(3, N, 24), {"N": 9}),
    ],
    ids=name_of,
)
def test_results_stay_what_they_are(
    run_kernel_everywhere: Run, kernel: KernelOp, sizes: dict[str, int], target: Target
):
    machine = replace(target, cores=8)
    rule = RowBlocks() if RowBlocks().match(kernel, machine, set()) else Default()
    rng = np.random.default_rng(0)
    shapes = [[int(e.evaluate(dict(sizes))) for e in dims_of(t)] for t in kernel.body.block.arg_types]
    arrays = [rng.random(shape).astype(np.float32) for shape in shapes]
    run_kernel_everywhere(kernel, arrays, schedule_by(rule, kernel, machine), 1e-5)
