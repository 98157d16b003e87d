"""Schedules with knobs of common kernels, for the tests of what is told of all their configurations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilework import te
from tilework.dialects.schedule import KnobAttr, SequenceOp
from tilework.dialects.te import KernelOp

Scheduled = tuple[te.Schedule, list[te.Tensor]]

GEMM_ORDERS = {
    "rows inside": ("io", "jo", "ko", "ki", "ii", "ji"),
    "rows outside": ("io", "jo", "ko", "ii", "ki", "ji"),
    "columns first": ("jo", "io", "ko", "ki", "ii", "ji"),
    "terms first": ("ko", "io", "jo", "ki", "ii", "ji"),
}

CONV_ORDERS = {
    "columns": ("oo", "ho", "wo", "co", "ci", "ry", "rx", "oi", "hi", "wi"),
    "windows outside": ("oo", "ho", "wo", "ry", "rx", "co", "ci", "oi", "hi", "wi"),
    "channels inside": ("ho", "oo", "wo", "co", "ry", "rx", "ci", "oi", "hi", "wi"),
    "filters": ("ho", "wo", "oo", "co", "ci", "ry", "rx", "hi", "wi", "oi"),
}


def sizes(extent: int, most: int, *, uneven: bool) -> list[int]:
    """Sizes of tiles: those that divide an extent, or others too."""
    return [n for n in range(1, min(extent, most) + 1) if (extent % n == 0 or (uneven and n % 4 in (0, 2)))]


def _knob(name: str, choices: Sequence[int]) -> KnobAttr:
    return te.knob(name, choices, choices[len(choices) // 2])


def gemm(
    m: int = 512,
    n: int = 512,
    k: int = 512,
    order: str = "rows inside",
    cached: bool = False,
    packed: bool = False,
    vectorize: bool = True,
    unroll: Sequence[str] = (),
    uneven: bool = False,
    tail: str = "guard",
) -> Scheduled:
    """A product of matrices in tiles; sums in a buffer of their own, the second factor copied into tiles, if asked."""
    A, B = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), name="k")
    P = te.compute((k, n), lambda x, y: B[x, y], name="P") if packed else B
    C = te.compute((m, n), lambda i, j: te.sum(A[i, r] * P[r, j], axis=r), name="C")
    s = te.create_schedule(C.op)
    ti, tj, tk = (
        _knob(name, [t for t in sizes(extent, most, uneven=uneven) if t >= least])
        for name, extent, most, least in (("ti", m, 64, 1), ("tj", n, 256, 4), ("tk", k, 128, 1))
    )
    if packed:
        x, y = s[P].op.axis
        yo, yi = s[P].split(y, factor=tj)
        s[P].reorder(yo, x, yi)
        panels = s.cache_write(P, "global")
        s[P].compute_inline()
        s[panels].vectorize(s[panels].op.axis[-1])
    i, j = s[C].op.axis
    summed = s.cache_write(C, "local") if cached else C
    io, ii = s[C].split(i, factor=ti, tail=tail)
    jo, ji = s[C].split(j, factor=tj, tail=tail)
    named = {"io": io, "ii": ii, "jo": jo, "ji": ji}
    if cached:
        outer = [named[a] for a in GEMM_ORDERS[order] if a in ("io", "jo")]
        s[C].reorder(*outer, ii, ji)
        if vectorize:
            s[C].vectorize(ji)
        s[summed].compute_at(s[C], outer[-1])
        named = dict(zip(("ii", "ji"), s[summed].op.axis, strict=True))
    named["ko"], named["ki"] = s[summed].split(s[summed].op.reduce_axis[0], factor=tk)
    s[summed].reorder(*(named[a] for a in GEMM_ORDERS[order] if a in named))
    if vectorize:
        s[summed].vectorize(named["ji"])
    for name in unroll:
        s[summed].unroll(named[name])
    return s, [A, B, C]


def conv(
    channels: int = 128,
    filters: int = 128,
    height: int = 28,
    width: int = 28,
    order: str = "columns",
    pad: str = "inline",
    cached: bool = False,
    packed: bool = False,
    vectorize: bool = True,
    unroll: Sequence[str] = (),
    uneven: bool = False,
) -> Scheduled:
    """A convolution with windows of 3 x 3.

    pad: where the image with its border of zeros is computed: "inline", "root", "at" the channels of a sum, or "tile".
    """
    X = te.placeholder((channels, height, width), name="X")
    W = te.placeholder((filters, channels, 3, 3), name="W")

    def bordered(c: Any, y: Any, x: Any) -> Any:
        inside = te.all(y >= 1, y < height + 1, x >= 1, x < width + 1)
        return te.if_then_else(inside, X[c, y - 1, x - 1], 0.0)

    P = te.compute((channels, height + 2, width + 2), bordered, name="P")
    F = te.compute((filters, channels, 3, 3), lambda *at: W[at], name="F") if packed else W
    c, ry, rx = (te.reduce_axis((0, e), name=n) for n, e in (("c", channels), ("ry", 3), ("rx", 3)))
    Y = te.compute(
        (filters, height, width),
        lambda o, y, x: te.sum(P[c, y + ry, x + rx] * F[o, c, ry, rx], axis=[c, ry, rx]),
        name="Y",
    )
    s = te.create_schedule(Y.op)
    to, th, tw, tc = (
        _knob(name, [t for t in sizes(extent, most, uneven=uneven) if t >= least])
        for name, extent, most, least in (
            *(("to", filters, 64, 1), ("th", height, 8, 1)),
            *(("tw", width, 64, 2), ("tc", channels, 64, 1)),
        )
    )
    if packed:
        a, *others = s[F].op.axis
        ao, ai = s[F].split(a, factor=to)
        s[F].reorder(ao, *others, ai)
        s.cache_write(F, "global")
        s[F].compute_inline()
    o, y, x = s[Y].op.axis
    summed = s.cache_write(Y, "local") if cached else Y
    named: dict[str, te.IterVar] = {}
    named["oo"], named["oi"] = s[Y].split(o, factor=to)
    named["ho"], named["hi"] = s[Y].split(y, factor=th)
    named["wo"], named["wi"] = s[Y].split(x, factor=tw)
    outer = [named[a] for a in CONV_ORDERS[order] if a in ("oo", "ho", "wo")]
    if cached:
        s[Y].reorder(*outer, named["oi"], named["hi"], named["wi"])
        if vectorize:
            s[Y].vectorize(named["wi"])
        s[summed].compute_at(s[Y], outer[-1])
        named = dict(zip(("oi", "hi", "wi"), s[summed].op.axis, strict=True))
    channel, named["ry"], named["rx"] = s[summed].op.reduce_axis
    named["co"], named["ci"] = s[summed].split(channel, factor=tc)
    ordered = [a for a in CONV_ORDERS[order] if a in named]
    s[summed].reorder(*(named[a] for a in ordered))
    if vectorize:
        s[summed].vectorize(named[ordered[-1]])
    for name in unroll:
        if name != ordered[-1] or not vectorize:
            s[summed].unroll(named[name])
    if pad == "inline":
        s[P].compute_inline()
    elif pad == "at":
        s[P].compute_at(s[summed], named["co"])
    elif pad == "tile":
        s[P].compute_at(s[Y], outer[-1])
    return s, [X, W, Y]


def softmax(rows: int = 256, columns: int = 384) -> Scheduled:
    """A softmax of each row, its stages computed in blocks of rows."""
    X = te.placeholder((rows, columns), name="X")
    k, n = (te.reduce_axis((0, columns), name=name) for name in ("k", "n"))
    M = te.compute((rows,), lambda i: te.max(X[i, k], axis=k), name="M")
    E = te.compute((rows, columns), lambda i, j: te.exp(X[i, j] - M[i]), name="E")
    S = te.compute((rows,), lambda i: te.sum(E[i, n], axis=n), name="S")
    Y = te.compute((rows, columns), lambda i, j: E[i, j] / S[i], name="Y")
    s = te.create_schedule(Y.op)
    io, _ = s[Y].split(Y.op.axis[0], factor=te.knob("ti", [1, 2, 4, 5, 8, 16], 4))
    _, ji = s[Y].split(Y.op.axis[1], factor=te.knob("tj", [4, 8, 16, 24, 32, 64], 16))
    s[Y].vectorize(ji)
    s[Y].parallel(io)
    for stage in (S, E, M):
        s[stage].compute_at(s[Y], io)
    _, mi = s[M].split(M.op.reduce_axis[0], factor=te.knob("tm", [4, 8, 16, 32], 8))
    s[M].unroll(mi)
    return s, [X, Y]


def squares(rows: int = 64, columns: int = 1000) -> Scheduled:
    """Sums of squares of rows, in as many partial sums as there are lanes."""
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), name="k")
    Y = te.compute((rows,), lambda i: te.sum(X[i, k] * X[i, k], axis=k), name="Y")
    s = te.create_schedule(Y.op)
    _, ki = s[Y].split(Y.op.reduce_axis[0], factor=te.knob("tk", [4, 8, 10, 16, 32], 8))
    R = s.rfactor(Y, ki, factor_axis=1)
    io, _ = s[Y].split(Y.op.axis[0], factor=te.knob("ti", [1, 2, 4, 6, 8], 4))
    s[R].compute_at(s[Y], io)
    s[R].reorder(R.op.axis[0], R.op.reduce_axis[0], R.op.axis[1])
    s[R].vectorize(R.op.axis[1])
    return s, [X, Y]


def transpose(rows: int = 500, columns: int = 384) -> Scheduled:
    """A transpose of tiles that are copied first, the loops over tiles fused."""
    X = te.placeholder((rows, columns), name="X")
    Y = te.compute((columns, rows), lambda i, j: X[j, i], name="Y")
    s = te.create_schedule(Y.op)
    T = s.cache_read(X, "local", [Y])
    io, ii = s[Y].split(Y.op.axis[0], factor=te.knob("ti", [1, 4, 8, 10, 16, 32], 8))
    jo, ji = s[Y].split(Y.op.axis[1], factor=te.knob("tj", [1, 4, 8, 16, 20, 64], 16))
    s[Y].reorder(io, jo, ii, ji)
    tiles = s[Y].fuse(io, jo)
    s[Y].parallel(tiles)
    s[T].compute_at(s[Y], tiles)
    s[Y].vectorize(ji)
    s[T].vectorize(T.op.axis[1])
    return s, [X, Y]


def kernel_and_schedule(scheduled: Scheduled) -> tuple[KernelOp, SequenceOp]:
    """The kernel and the schedule of a module."""
    s, arguments = scheduled
    module = s.module("main", arguments)
    [kernel] = [op for op in module.ops if isinstance(op, KernelOp)]
    [sequence] = [op for op in module.ops if isinstance(op, SequenceOp)]
    return kernel, sequence
