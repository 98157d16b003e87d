"""The paper's product of matrices, scheduled for blocks of threads by hand."""

# The functions of te take indices, whose types lambdas do not name.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

from tilework import te
from tilework.api import build
from tilework.runtime.cache import KernelCache
from tilework.runtime.function import Function


def matrix_product(n: int, *, shared: bool, target: str, cache: KernelCache) -> Function:
    """The paper's product of n x n matrices: 8 x 8 threads take 4 x 4 sums each, of tiles that they fetch together."""
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s: Any = te.create_schedule(c.op)
    local = s.cache_write(c, "local")
    tiles = [s.cache_read(t, "shared", [local]) for t in (a, b)] if shared else []
    block_y, block_x = te.thread_axis("blockIdx.y"), te.thread_axis("blockIdx.x")
    thread_y, thread_x = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")
    by, yi = s[c].split(s[c].op.axis[0], factor=32)
    bx, xi = s[c].split(s[c].op.axis[1], factor=32)
    ty, yi = s[c].split(yi, factor=4)
    tx, xi = s[c].split(xi, factor=4)
    s[c].reorder(by, bx, ty, tx, yi, xi)
    for axis, thread in ((by, block_y), (bx, block_x), (ty, thread_y), (tx, thread_x)):
        s[c].bind(axis, thread)
    s[local].compute_at(s[c], tx)
    ko, ki = s[local].split(local.op.reduce_axis[0], factor=8)
    s[local].reorder(ko, ki, *local.op.axis)
    for tile in tiles:
        s[tile].compute_at(s[local], ko)
        _, inner = s[tile].split(s[tile].fuse(*tile.op.axis), factor=64)
        y, x = s[tile].split(inner, factor=8)
        s[tile].bind(y, thread_y)
        s[tile].bind(x, thread_x)
    function = build(s, [a, b, c], target=target, cache=cache)
    assert isinstance(function, Function)
    return function
