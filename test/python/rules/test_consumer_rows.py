"""Windows whose results only a product reads are summed some rows at a time, in its loop over these rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from programs import plan_by, schedule_by
from xdsl.dialects.builtin import TensorType, f32

from tilework.algebra.index_expr import Expr
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.rules.cpu.consumer_rows import Rows, rows_of
from tilework.rules.cpu.default import Default
from tilework.rules.cpu.stages import plan_stages
from tilework.targets import parse_target

TARGETS = {
    cpu: replace(parse_target(f"llvm -mcpu={cpu}"), cores=2, cache_bytes=(32 << 10, 64 << 10, 8 << 20))
    for cpu in ("znver4", "haswell", "cortex-a72")
}
"""A part is 16 kB at most."""


def separable(rows: int, step: int, blocks: int = 2, epilogue: bool = True, again: bool = False) -> KernelOp:
    """Windows of 3 x 3 of each channel, in blocks of 16, relu or nothing, a product over all channels, with bias.

    again: whether the product's result has what it reads of added to it.
    """
    k = KernelBuilder("separable")
    columns, channels = 14, 16 * blocks
    x = k.argument(TensorType(f32, (blocks, rows * step + 2, columns * step + 2, 16)), "x")
    w = k.argument(TensorType(f32, (blocks, 3, 3, 16)), "w")
    v = k.argument(TensorType(f32, (blocks, channels, 16)), "v")
    b = k.argument(TensorType(f32, (blocks, 16)), "b")
    shape = (blocks, rows, columns, 16)

    def window(c: Expr, i: Expr, j: Expr, lane: Expr) -> Scalar:
        return k.sum((3, 3), lambda t, u: x[c, step * i + t, step * j + u, lane] * w[c, t, u, lane])

    made = k.compute("depthwise", shape, window)
    if epilogue:
        summed = made
        made = k.compute("relu", shape, lambda *i: k.max(summed[i], 0.0))
    y = k.compute(
        "pointwise",
        shape,
        lambda o, i, j, lane: k.sum((channels,), lambda r: made[r // 16, i, j, r % 16] * v[o, r, lane]),
    )
    others = (lambda o, i, j, lane: made[o, i, j, lane]) if again else (lambda o, i, j, lane: b[o, lane])
    return k.finish([k.compute("bias", shape, lambda *i: y[i] + others(*i))])


CASES = {
    "rows": (separable(12, 1), Rows("i", 6, 6, 1, frozenset({"i"}))),
    "every second": (separable(12, 2), Rows("i", 6, 6, 1, frozenset({"i"}))),
    "sums alone": (separable(12, 1, epilogue=False), Rows("i", 6, 6, 1, frozenset({"i"}))),
    "read again": (separable(12, 1, again=True), None),  # as a whole, by another stage
    "no equal blocks": (separable(13, 1), None),  # one core would have a row more
    "many weights": (separable(12, 1, blocks=9), None),  # 83 kB, that every block of rows would read again
}


@pytest.mark.parametrize(("kernel", "expected"), CASES.values(), ids=CASES)
def test_rows(kernel: KernelOp, expected: Rows | None):
    target = TARGETS["znver4"]
    plan = plan_stages(kernel, target)
    [root] = [c for c in plan.roots if c.stage.data == "bias"]
    assert rows_of(plan, root, plan.anchored[root], target) == expected
    assert plan_by(Default(), kernel, target).computes_in_parts == (expected is not None)


def test_parts_fit_on_the_stack():
    """However large the second cache is: rows of 7 kB, 128 for each core."""
    kernel, target = separable(256, 1, blocks=8), replace(TARGETS["znver4"], cache_bytes=(32 << 10, 16 << 20, 64 << 20))
    plan = plan_stages(kernel, target)
    [root] = [c for c in plan.roots if c.stage.data == "bias"]
    assert rows_of(plan, root, plan.anchored[root], target) == Rows("i", 32, 32, 1, frozenset({"i"}))


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("kernel", [kernel for kernel, _ in CASES.values()], ids=CASES)
def test_results_stay(run_kernel_everywhere, kernel: KernelOp, target):
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, schedule_by(Default(), kernel, target))
