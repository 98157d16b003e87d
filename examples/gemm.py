"""GEMM step by step, as in TVM's tutorial: the same tensor expression, scheduled better and better.

    python examples/gemm.py [SIZE]

Prints GFLOP/s of each step on one core, and what share they are of the peak that this core reaches with multiply-adds
alone, measured in the same run. The steps take turns, so that what else the machine does meets all of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from math import lcm
from statistics import median

import numpy as np

import tilework as tw
from tilework import te
from tilework.targets.cpu.host import host_target
from tilework.tools.bench.fma_peak import fma_peak

LANES = host_target().lanes(32)
ROWS, COLUMNS = 4, (4 if host_target().vector_registers >= 32 else 2) * LANES
"""The tile of results that fits the vector registers: ROWS x COLUMNS, beside a row of B and an element of A."""

BLOCK = 32
"""The tile of the steps that keep it in the cache."""

ROUNDS, SECONDS = 30, 2.0
"""How often, and about how long, each step is measured at most."""

Step = tuple[te.Schedule, list[te.Tensor]]


def matmul(n: int) -> tuple[te.Tensor, te.Tensor, te.Tensor, te.IterVar]:
    """C = A @ B for square matrices."""
    k = te.reduce_axis((0, n), "k")
    A = te.placeholder((n, n), name="A")
    B = te.placeholder((n, n), name="B")
    C = te.compute((n, n), lambda m, n: te.sum(A[m, k] * B[k, n], axis=k), name="C")
    return A, B, C, k


def baseline(n: int) -> Step:
    """Three loops."""
    A, B, C, _ = matmul(n)
    return te.create_schedule(C.op), [A, B, C]


def blocking(n: int) -> Step:
    """Tiles, so that what is loaded into the cache is used again."""
    A, B, C, k = matmul(n)
    s = te.create_schedule(C.op)
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(mo, no, ko, ki, mi, ni)
    return s, [A, B, C]


def vectorization(n: int) -> Step:
    """The innermost axis in vectors."""
    A, B, C, k = matmul(n)
    s = te.create_schedule(C.op)
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(mo, no, ko, ki, mi, ni)
    s[C].vectorize(ni)
    return s, [A, B, C]


def permutation(n: int) -> Step:
    """Rows outside k: A is read along its rows."""
    A, B, C, k = matmul(n)
    s = te.create_schedule(C.op)
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(mo, no, ko, mi, ki, ni)
    s[C].vectorize(ni)
    return s, [A, B, C]


def packed_matmul(n: int, width: int) -> tuple[te.Tensor, te.Tensor, te.Tensor, te.Tensor, te.IterVar]:
    """C = A @ B, where B is first copied into panels of `width` columns."""
    k = te.reduce_axis((0, n), "k")
    A = te.placeholder((n, n), name="A")
    B = te.placeholder((n, n), name="B")
    panels = te.compute((n // width, n, width), lambda j, k, jj: B[k, j * width + jj], name="panels")
    C = te.compute(
        (n, n), lambda m, n: te.sum(A[m, k] * panels[n // width, k, te.indexmod(n, width)], axis=k), name="C"
    )
    return A, B, panels, C, k


def packing(n: int) -> Step:
    """B in panels: a tile's columns lie side by side in memory."""
    A, B, panels, C, k = packed_matmul(n, BLOCK)
    s = te.create_schedule(C.op)
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(mo, no, ko, mi, ki, ni)
    s[C].vectorize(ni)
    s[panels].vectorize(panels.op.axis[2])
    return s, [A, B, C]


def write_cache(n: int) -> Step:
    """Sums in registers while k runs, written once."""
    A, B, panels, C, _ = packed_matmul(n, COLUMNS)
    s = te.create_schedule(C.op)
    cache = s.cache_write(C, "register")
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], ROWS, COLUMNS)
    s[C].unroll(mi)
    s[C].vectorize(ni)
    s[cache].compute_at(s[C], no)
    m, n_ = s[cache].op.axis
    (k,) = s[cache].op.reduce_axis
    s[cache].reorder(k, m, n_)
    s[cache].unroll(m)
    s[cache].vectorize(n_)
    s[panels].vectorize(panels.op.axis[2])
    return s, [A, B, C]


def parallel(n: int) -> Step:
    """Rows of tiles on several cores; here, too, on one."""
    s, tensors = write_cache(n)
    C = tensors[2]
    s[C].parallel(s[C].leaf_iter_vars[0])
    panels = s.stages[0]
    panels.parallel(panels.op.axis[0])
    return s, tensors


STEPS: list[Callable[[int], Step]] = [baseline, blocking, vectorization, permutation, packing, write_cache, parallel]


def main() -> int:
    """Build and check every step, measure them in turns, print a table."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    if n % lcm(BLOCK, COLUMNS):
        print(f"gemm.py: the size is a multiple of {lcm(BLOCK, COLUMNS)}", file=sys.stderr)
        return 2
    tw.set_num_threads(1)
    rng = np.random.default_rng(0)
    a, b = rng.random((2, n, n), dtype=np.float32)
    expected = a @ b
    calls: dict[str, Callable[[], None]] = {}
    for step in STEPS:
        s, tensors = step(n)
        f, c = tw.build(s, tensors, name=step.__name__), np.zeros((n, n), np.float32)
        f(a, b, c)
        np.testing.assert_allclose(c, expected, rtol=1e-4)
        calls[step.__name__] = partial(f, a, b, c)
    peak, peak_flops = fma_peak()
    seconds = interleaved({"peak": peak, **calls})
    best = peak_flops / seconds["peak"] / 1e9
    print(f"GEMM of {n} x {n} x {n} on one core; peak {best:.1f} GFLOP/s")
    for name in calls:
        rate = 2 * n**3 / seconds[name] / 1e9
        print(f"{name:14} {1000 * seconds[name]:9.2f} ms {rate:8.1f} GFLOP/s {100 * rate / best:6.1f} %")
    return 0


def interleaved(calls: dict[str, Callable[[], None]]) -> dict[str, float]:
    """The median time of each call. They take turns; those that take long are called less often."""
    first = {name: seconds_of(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(ROUNDS):
        for name, call in calls.items():
            if turn < max(1.0, SECONDS / first[name]):
                times[name].append(seconds_of(call))
    return {name: median(values) for name, values in times.items()}


def seconds_of(call: Callable[[], None]) -> float:
    """How much of this thread's time one call takes: what other programs do counts little."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


if __name__ == "__main__":
    sys.exit(main())
