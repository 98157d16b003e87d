"""GEMM of bytes and of bfloat16 numbers by instructions of their own, beside the peak that one core has in floats.

    python examples/narrow_gemm.py [SIZE]

Bytes and numbers of bfloat16 are multiplied by the intrinsics `dot4.ui8i8` and `bf16.dot`, which the body of the
compute calls; numbers of bfloat16 also in tiles of matrices, which the schedule names: `amx.tile_mulf`. Prints
operations a second, and their ratio to multiply-adds of floats on this core, measured in turns in the same run. What
the processor has no instruction for is left out.
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

LANES = host_target().lanes(32)
ROWS = 12 if host_target().vector_registers >= 32 else 6
"""Words in a vector; rows of sums that fit the vector registers, two vectors each, beside what they are made of."""

Prepared = tuple[Callable[[], None], Callable[[], None]]
"""A product to be measured, and the check of what it has computed."""


def schedule_of_words(n: int, numbers: int, dtype: str, intrinsic: str) -> tuple[te.Schedule, list[te.Tensor]]:
    """So many numbers of a row are a word of A; B is in panels of a vector's columns, whose words hold as many
    numbers of a column."""
    A = te.placeholder((n, n // numbers), "int32", name="A")
    B = te.placeholder((n // LANES, n // numbers, LANES), "int32", name="B")
    k = te.reduce_axis((0, n // numbers), "k")
    dot = partial(te.call_intrin, dtype, intrinsic)
    C = te.compute((n, n), lambda i, j: te.sum(dot(A[i, k], B[j // LANES, k, j % LANES]), axis=k), name="C")
    s = te.create_schedule(C.op)
    sums = s.cache_write(C, "register")
    io, ii = s[C].split(C.op.axis[0], factor=ROWS, tail="shift")
    jo, ji = s[C].split(C.op.axis[1], factor=2 * LANES)
    s[C].reorder(jo, io, ii, ji)
    jv, lane = s[C].split(ji, factor=LANES)
    for axis in (ii, jv):
        s[C].unroll(axis)
    s[C].vectorize(lane)
    s[sums].compute_at(s[C], io)
    i, j = s[sums].op.axis
    jv, lane = s[sums].split(j, factor=LANES)
    s[sums].reorder(*s[sums].op.reduce_axis, i, jv, lane)
    for axis in (i, jv):
        s[sums].unroll(axis)
    s[sums].vectorize(lane)
    return s, [A, B, C]


def bytes_product(n: int) -> Prepared:
    """Bytes without a sign times bytes with one, summed in words."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 256, (n, n)).astype(np.uint8), rng.integers(-128, 128, (n, n)).astype(np.int8)
    s, tensors = schedule_of_words(n, 4, "int32", "dot4.ui8i8")
    result = np.empty((n, n), np.int32)
    call = partial(tw.build(s, tensors, name="bytes"), words_of(a), words_of(panels_of(b, LANES, 4)), result)
    return call, lambda: np.testing.assert_array_equal(result, a.astype(np.int32) @ b.astype(np.int32))


def pairs_product(n: int) -> Prepared:
    """Numbers of bfloat16, summed in floats."""
    a, b = exact_operands(n)
    s, tensors = schedule_of_words(n, 2, "float32", "bf16.dot")
    narrow = [words_of(x.astype(ml_dtypes.bfloat16)) for x in (a, panels_of(b, LANES, 2))]
    result = np.empty((n, n), np.float32)
    call = partial(tw.build(s, tensors, name="pairs"), *narrow, result)
    return call, lambda: np.testing.assert_array_equal(result, a @ b)


def exact_operands(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Matrices of small integers, so that sums of floats are exact."""
    rng = np.random.default_rng(0)
    return rng.integers(-8, 8, (n, n)).astype(np.float32), rng.integers(-8, 8, (n, n)).astype(np.float32)


def panels_of(b: np.ndarray, columns: int, numbers: int) -> np.ndarray:
    """Panels of some columns of a square matrix, so many numbers of a column side by side."""
    n = len(b)
    return np.ascontiguousarray(b.reshape(n // numbers, numbers, n // columns, columns).transpose(2, 0, 3, 1))


def words_of(x: np.ndarray) -> np.ndarray:
    """Numbers that are side by side, as words; a dimension of what is one word is left out."""
    words = x.view(np.int32)
    return words[..., 0] if x.ndim > 2 else words


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
    """Numbers of bfloat16, summed in floats: tiles of 16 by 16 sums at a time."""
    a, b = exact_operands(n)
    s, tensors = schedule_of_tiles(n)
    narrow = [x.astype(ml_dtypes.bfloat16) for x in (a, panels_of(b, 16, 2))]
    result = np.empty((n, n), np.float32)
    call = partial(tw.build(s, tensors, name="tiles"), *narrow, result)
    return call, lambda: np.testing.assert_array_equal(result, a @ b)


def main() -> int:
    """Build and check all products, measure them in turns, print a table."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    if n % TILE:
        print(f"narrow_gemm.py: the size is a multiple of {TILE}", file=sys.stderr)
        return 2
    tw.set_num_threads(1)
    target = host_target()
    products = {
        "bytes": (bytes_product, target.dot_bits),
        "bfloat16": (pairs_product, target.bfloat16_dot_bits),
        "tiles": (tiles_product, target.multiplies_tiles),
    }
    made = {name: prepare(n) for name, (prepare, is_there) in products.items() if is_there}
    for call, check in made.values():
        call()
        check()
    peak, peak_flops = fma_peak()
    seconds = interleaved({"peak": peak, **{name: call for name, (call, _) in made.items()}})
    best = peak_flops / seconds["peak"] / 1e9
    print(f"GEMM of {n} x {n} x {n} on one core; peak of floats {best:.1f} GFLOP/s")
    for name in products:
        if name in made:
            rate = 2 * n**3 / seconds[name] / 1e9
            times = f"{rate / best:6.2f} times the peak of floats"
            print(f"{name:10} {1000 * seconds[name]:9.2f} ms {rate:8.1f} GOP/s {times}")
        else:
            print(f"{name:10} left out: {target.cpu} has no instruction for it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
