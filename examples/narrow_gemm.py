"""GEMM of bytes and of bfloat16 numbers by instructions of their own, beside the peak that one core has in floats.

    python examples/narrow_gemm.py [SIZE]

Bytes are multiplied by the intrinsic `words.dot`, which the body of the compute calls; numbers of bfloat16 in tiles of
matrices, which the schedule names: `amx.tile_mulf`. Prints operations a second, and their ratio to multiply-adds of
floats on this core, measured in turns in the same run. What the processor has no instruction for is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import ml_dtypes
import numpy as np
from gemm import interleaved

import tilework as tw
from tilework import te
from tilework.targets.cpu.host import host_target
from tilework.tools.bench.fma_peak import fma_peak

TILE = 32
"""Sizes are multiples of it."""

Prepared = tuple[Callable[[], None], Callable[[], None]]
"""A product to be measured, and the check of what it has computed."""


def schedule_of_bytes(n: int) -> tuple[te.Schedule, list[te.Tensor]]:
    """Four bytes of a row are a word of A; B is in panels of 16 columns, whose words hold four numbers of a column."""
    A = te.placeholder((n, n // 4), "int32", name="A")
    B = te.placeholder((n // 16, n // 4, 16), "int32", name="B")
    k = te.reduce_axis((0, n // 4), "k")
    dot = partial(te.call_intrin, "int32", "words.dot")
    C = te.compute((n, n), lambda i, j: te.sum(dot(A[i, k], B[j // 16, k, j % 16]), axis=k), name="C")
    s = te.create_schedule(C.op)
    sums = s.cache_write(C, "register")
    io, ii = s[C].split(C.op.axis[0], factor=12, tail="shift")
    jo, ji = s[C].split(C.op.axis[1], factor=32)
    s[C].reorder(jo, io, ii, ji)
    jv, lane = s[C].split(ji, factor=16)
    for axis in (ii, jv):
        s[C].unroll(axis)
    s[C].vectorize(lane)
    s[sums].compute_at(s[C], io)
    i, j = s[sums].op.axis
    jv, lane = s[sums].split(j, factor=16)
    s[sums].reorder(*s[sums].op.reduce_axis, i, jv, lane)
    for axis in (i, jv):
        s[sums].unroll(axis)
    s[sums].vectorize(lane)
    return s, [A, B, C]


def bytes_product(n: int) -> Prepared:
    """Bytes without a sign times bytes with one, summed in words."""
    s, tensors = schedule_of_bytes(n)
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 256, (n, n)).astype(np.uint8), rng.integers(-128, 128, (n, n)).astype(np.int8)
    panels = np.ascontiguousarray(b.reshape(n // 4, 4, n // 16, 16).transpose(2, 0, 3, 1))
    words = a.view(np.int32), panels.view(np.int32).reshape(n // 16, n // 4, 16), np.empty((n, n), np.int32)
    call = partial(tw.build(s, tensors, name="bytes"), *words)
    return call, lambda: np.testing.assert_array_equal(words[2], a.astype(np.int32) @ b.astype(np.int32))


def schedule_of_tiles(n: int) -> tuple[te.Schedule, list[te.Tensor]]:
    """B is in panels of 16 columns, of which pairs of numbers lie side by side; 2 by 2 tiles of sums at a time."""
    A = te.placeholder((n, n), "bfloat16", name="A")
    B = te.placeholder((n // 16, n // 2, 16, 2), "bfloat16", name="B")
    ko, kp, kb = (te.reduce_axis((0, extent), name) for name, extent in (("ko", n // 32), ("kp", 16), ("kb", 2)))

    def term(j: te.IterVar, i: te.IterVar, column: te.IterVar) -> te.Tensor:
        factors = A[i, 32 * ko + 2 * kp + kb], B[j, 16 * ko + kp, column, kb]
        return te.sum(factors[0].astype("float32") * factors[1].astype("float32"), axis=[ko, kp, kb])

    C = te.compute((n // 16, n, 16), term, name="C")
    D = te.compute((n, n), lambda i, j: C[j // 16, i, j % 16], name="D")
    s = te.create_schedule(D.op)
    tiles = s.cache_write(C, "amx")
    io, jo, _, lanes = s[D].tile(*s[D].op.axis, 32, 32)
    s[D].reorder(jo, io)
    s[D].vectorize(s[D].split(lanes, factor=16)[1])
    for stage, intrinsic in ((C, "amx.tile_store"), (tiles, "amx.tile_mulf")):
        s[stage].compute_at(s[D], io)
        j, i, column = s[stage].op.axis
        outer, inner = s[stage].split(i, factor=16)
        s[stage].reorder(*s[stage].op.reduce_axis[:1], outer, j, inner, column, *s[stage].op.reduce_axis[1:])
        for axis in (outer, j):
            s[stage].unroll(axis)
        s[stage].tensorize(inner, intrinsic)
    return s, [A, B, D]


def tiles_product(n: int) -> Prepared:
    """Numbers of bfloat16, summed in floats."""
    s, tensors = schedule_of_tiles(n)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 8, (n, n)).astype(np.float32) for _ in "ab")  # so that sums are exact
    panels = b.reshape(n // 2, 2, n // 16, 16).transpose(2, 0, 3, 1)
    narrow = [np.ascontiguousarray(x.astype(ml_dtypes.bfloat16)) for x in (a, panels)]
    result = np.empty((n, n), np.float32)
    return partial(tw.build(s, tensors, name="tiles"), *narrow, result), lambda: np.testing.assert_array_equal(
        result, a @ b
    )


def main() -> int:
    """Build and check both products, measure them in turns, print a table."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    if n % TILE:
        print(f"narrow_gemm.py: the size is a multiple of {TILE}", file=sys.stderr)
        return 2
    tw.set_num_threads(1)
    target = host_target()
    made: dict[str, Prepared] = {}
    if target.dot_bits:
        made["bytes"] = bytes_product(n)
    if target.multiplies_tiles:
        made["bfloat16"] = tiles_product(n)
    for call, check in made.values():
        call()
        check()
    peak, peak_flops = fma_peak()
    seconds = interleaved({"peak": peak, **{name: call for name, (call, _) in made.items()}})
    best = peak_flops / seconds["peak"] / 1e9
    print(f"GEMM of {n} x {n} x {n} on one core; peak of floats {best:.1f} GFLOP/s")
    for name in ("bytes", "bfloat16"):
        if name in made:
            rate = 2 * n**3 / seconds[name] / 1e9
            times = f"{rate / best:6.2f} times the peak of floats"
            print(f"{name:10} {1000 * seconds[name]:9.2f} ms {rate:8.1f} GOP/s {times}")
        else:
            print(f"{name:10} left out: {target.cpu} has no instruction for it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
