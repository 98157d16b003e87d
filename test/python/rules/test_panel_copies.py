"""Panels of matrices that are copied: of which operands, and that results stay what they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from programs import schedule_by
from xdsl.dialects.builtin import TensorType, f32

from tilework.dialects.schedule import CacheReadOp
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.rules.cpu.default import Default
from tilework.targets import parse_target

TARGET = parse_target("llvm -mcpu=skylake-avx512")


def product(matrices: int, rows: int, columns: int, sums: int) -> KernelOp:
    """[b, i, j] = sum of x[b, i, k] * w[b, k, j], then relu."""
    k = KernelBuilder("product")
    x = k.argument(TensorType(f32, (matrices, rows, sums)), "x")
    w = k.argument(TensorType(f32, (matrices, sums, columns)), "w")
    dims = (matrices, rows, columns)
    y = k.compute("y", dims, lambda b, i, j: k.sum((sums,), lambda r: x[b, i, r] * w[b, r, j]))
    return k.finish([k.compute("relu", dims, lambda b, i, j: k.max(y[b, i, j], 0.0))])


@pytest.mark.parametrize(
    ("shape", "cores", "copied"),
    [
        ((1, 61, 521), 1, True),  # the last tile begins before the one in front of it ends
        ((1, 61, 544), 2, True),
        ((3, 40, 512), 2, True),
        ((1, 64, 544), 64, False),  # places and rows are fused, to have enough for all cores
        ((1, 61, 500), 2, False),  # rows of less than 2 kB
        ((1, 13, 544), 2, False),  # few tiles read it
        ((1, 150, 544), 2, False),  # many rows of results for 20 of the panel
    ],
    ids=str,
)
def test_panels(run_kernel_everywhere, shape: tuple[int, int, int], cores: int, copied: bool):
    kernel = product(*shape, sums=20)
    schedule = schedule_by(Default(), kernel, replace(TARGET, cores=cores))
    assert any(isinstance(op, CacheReadOp) for op in schedule.walk()) == copied
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-2, 3, t.get_shape()).astype(np.float32) for t in kernel.body.block.arg_types]
    run_kernel_everywhere(kernel, arrays, schedule)


def test_no_panel_of_a_matrix_that_is_multiplied_by_itself():
    """Tiles read all of its rows as the other operand."""
    k = KernelBuilder("square")
    x = k.argument(TensorType(f32, (544, 544)), "x")
    kernel = k.finish([k.compute("y", (544, 544), lambda i, j: k.sum((544,), lambda r: x[i, r] * x[r, j]))])
    assert not any(isinstance(op, CacheReadOp) for op in schedule_by(Default(), kernel, TARGET).walk())
