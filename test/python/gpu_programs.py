"""Programs for devices with blocks of threads, which several tests run."""

from __future__ import annotations

from tilework import te

TENSOR_CORES = {"float16": "mma.f16", "bfloat16": "mma.bf16"}
"""The intrinsic that multiplies numbers of a type."""


def by_warps(n: int, dtype: str) -> tuple[te.Schedule, list[te.Tensor]]:
    """A product of n x n matrices of 16-bit numbers: 2 x 2 warps multiply 32 x 32 sums each, by tensor cores."""
    a, b = te.placeholder((n, n), dtype, name="A"), te.placeholder((n, n), dtype, name="B")
    k = te.reduce_axis((0, n), name="k")

    def wide(t: te.Tensor, i: te.IterVar, j: te.IterVar) -> te.Expr:
        return t[i, j].astype("float32")

    c = te.compute((n, n), lambda i, j: te.sum(wide(a, i, k) * wide(b, k, j), axis=k), name="C")
    s = te.create_schedule(c.op)
    stored = s.cache_write(c, "shared")
    sums = s.cache_write(stored, "mma")
    tiles = [s.cache_read(t, "shared", [sums]) for t in (a, b)]
    x, y, z = (te.thread_axis(f"threadIdx.{letter}") for letter in "xyz")

    def deal_out(tensor: te.Tensor, *axes: te.IterVar) -> None:
        """Threads take elements that lie side by side."""
        _, own = s[tensor].split(s[tensor].fuse(*axes), factor=128)
        warp_row, own = s[tensor].split(own, factor=64)
        warp_column, lane = s[tensor].split(own, factor=32)
        for axis, thread in ((warp_row, z), (warp_column, y), (lane, x)):
            s[tensor].bind(axis, thread)

    block_row, row = s[c].split(s[c].op.axis[0], factor=64)
    block_column, column = s[c].split(s[c].op.axis[1], factor=64)
    s[c].reorder(block_row, block_column, row, column)
    s[c].bind(block_row, te.thread_axis("blockIdx.y"))
    s[c].bind(block_column, te.thread_axis("blockIdx.x"))
    deal_out(c, row, column)
    s[stored].compute_at(s[c], block_column)
    warp_row, row = s[stored].split(s[stored].op.axis[0], factor=32)
    warp_column, column = s[stored].split(s[stored].op.axis[1], factor=32)
    tile_row, row = s[stored].split(row, factor=16)
    tile_column, column = s[stored].split(column, factor=16)
    s[stored].reorder(warp_row, warp_column, tile_row, tile_column, row, column)
    s[stored].bind(warp_row, z)
    s[stored].bind(warp_column, y)
    s[stored].tensorize(row, "mma.store")

    s[sums].compute_at(s[stored], warp_column)
    step, term = s[sums].split(s[sums].op.reduce_axis[0], factor=32)
    part, term = s[sums].split(term, factor=16)
    tile_row, row = s[sums].split(s[sums].op.axis[0], factor=16)
    tile_column, column = s[sums].split(s[sums].op.axis[1], factor=16)
    s[sums].reorder(step, part, tile_row, tile_column, row, column, term)
    s[sums].tensorize(row, TENSOR_CORES[dtype])
    for axis in (part, tile_row, tile_column):
        s[sums].unroll(axis)
    for tile in tiles:
        s[tile].compute_at(s[sums], step)
        s[tile].storage_align(s[tile].op.axis[0], 16, 8)
        deal_out(tile, *s[tile].op.axis)
    return s, [a, b, c]
