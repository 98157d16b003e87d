"""How long the compiler itself takes, LLVM apart: a te kernel from Python to LLVM IR text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from tilework.backends.llvm.backend import emit_module
from tilework.dialects.schedule import StageOp
from tilework.frontends import te
from tilework.frontends.te.build import lower
from tilework.targets import parse_target

STAGES = (1, 2, 4, 8, 16, 32, 64)
"""How many stages the chains have whose growth is measured."""

Program = tuple[te.Schedule, Sequence[te.Tensor]]


def measure_compiling(repeat: int) -> dict[str, Any]:
    """Milliseconds, as JSON values: by step for a matrix product of 20 primitives, in all for chains of stages."""
    schedule, _ = matrix_product()
    primitives = sum(1 for op in schedule.primitives.sequence.body.block.ops if not isinstance(op, StageOp))
    _times(matrix_product, 1)  # imports
    return {
        "primitives": primitives,
        "kernel": _times(matrix_product, repeat),
        "stages": {n: sum(_times(partial(chain, n), repeat).values()) for n in STAGES},
    }


def matrix_product() -> Program:
    """relu(A @ B + bias), B in panels, a tile of sums in registers: twenty primitives."""
    n, rows, columns = 1024, 4, 64
    k = te.reduce_axis((0, n), "k")
    A, B = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    bias = te.placeholder((n,), name="bias")

    def packed(panel: Any, row: Any, column: Any) -> Any:
        return B[row, panel * columns + column]

    def product(i: Any, j: Any) -> Any:
        return te.sum(A[i, k] * panels[j // columns, k, j % columns], axis=k)

    def biased(i: Any, j: Any) -> Any:
        return C[i, j] + bias[j]

    def relu(i: Any, j: Any) -> Any:
        return te.max(sums[i, j], 0)

    panels = te.compute((n // columns, n, columns), packed, name="panels")
    C = te.compute((n, n), product, name="C")
    sums = te.compute((n, n), biased, name="sums")
    D = te.compute((n, n), relu, name="D")
    s = te.create_schedule(D.op)
    s[sums].compute_inline()
    io, jo, ii, ji = s[D].tile(D.op.axis[0], D.op.axis[1], rows, columns)
    tiles = s[D].fuse(io, jo)
    s[D].parallel(tiles)
    s[D].unroll(ii)
    s[D].vectorize(ji)
    s[C].compute_at(s[D], tiles)
    s[C].set_scope("register")
    i, j = C.op.axis
    jo, ji = s[C].split(j, factor=16)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(ko, ki, i, jo, ji)
    for axis in (ki, i, jo):
        s[C].unroll(axis)
    s[C].vectorize(ji)
    jo, ji = s[panels].split(panels.op.axis[2], factor=16)
    s[panels].unroll(jo)
    s[panels].vectorize(ji)
    s[panels].parallel(panels.op.axis[0])
    return s, [A, B, bias, D]


def chain(stages: int) -> Program:
    """As many stages, element-wise ones and matrix products in turn, each tiled, vectorized and parallel."""
    first = te.placeholder((256, 256), name="A")
    tensors = [first]
    for i in range(stages):
        tensors.append((_product if i % 2 else _tanh)(tensors[-1]))
    s = te.create_schedule(tensors[-1].op)
    for tensor in tensors[1:]:
        y, x = tensor.op.axis
        outer, _, _, inner = s[tensor].tile(y, x, 8, 16)
        s[tensor].vectorize(inner)
        s[tensor].parallel(outer)
    return s, [first, tensors[-1]]


def _tanh(tensor: te.Tensor) -> te.Tensor:
    def element(y: Any, x: Any) -> Any:
        return te.tanh(tensor[y, x]) + 1

    return te.compute(tensor.shape, element, name="tanh")


def _product(tensor: te.Tensor) -> te.Tensor:
    k = te.reduce_axis((0, tensor.shape[1]), "k")

    def element(y: Any, x: Any) -> Any:
        return te.sum(tensor[y, k] * tensor[k, x], axis=k)

    return te.compute(tensor.shape, element, name="product")


def _times(program: Callable[[], Program], repeat: int) -> dict[str, float]:
    """The median milliseconds of each step."""
    found: dict[str, list[float]] = {"schedule": [], "lower": [], "emit": []}
    for _ in range(repeat):
        marks = [perf_counter()]
        s, args = program()
        marks.append(perf_counter())
        lowered = lower(s, args)
        marks.append(perf_counter())
        emit_module(lowered.module, parse_target("llvm"))
        marks.append(perf_counter())
        for step, start, end in zip(found.values(), marks, marks[1:], strict=False):
            step.append(1000 * (end - start))
    return {name: median(values) for name, values in found.items()}
