"""Programs in te without a schedule, to see what a search makes of them: products, windows, rows, copies."""

# pyright: basic
# The parameters of lambdas have no types.

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tilework import te

Program = Callable[[], list[te.Tensor]]
"""The arguments of a te program, results last."""


def _padded(x: te.Tensor, shape: tuple[int, ...], axes: tuple[int, int], by: int) -> te.Tensor:
    """Zeros around the two axes of an image."""
    sizes = tuple(size + 2 * by * (at in axes) for at, size in enumerate(shape))

    def element(*i: Any) -> Any:
        inside = [c for at in axes for c in (i[at] >= by, i[at] < shape[at] + by)]
        place = [index - by if at in axes else index for at, index in enumerate(i)]
        return te.if_then_else(te.all(*inside), x[tuple(place)], 0.0)

    return te.compute(sizes, element, name="P")


def gemm(n: int, m: int, k: int) -> list[te.Tensor]:
    """A product of matrices."""
    a, b = te.placeholder((n, k), name="A"), te.placeholder((k, m), name="B")
    r = te.reduce_axis((0, k), name="k")
    return [a, b, te.compute((n, m), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")]


def gemm_transposed(n: int, m: int, k: int) -> list[te.Tensor]:
    """A product by the transpose of a matrix."""
    a, b = te.placeholder((n, k), name="A"), te.placeholder((m, k), name="B")
    r = te.reduce_axis((0, k), name="k")
    return [a, b, te.compute((n, m), lambda i, j: te.sum(a[i, r] * b[j, r], axis=r), name="C")]


def dense_relu(n: int, m: int, k: int) -> list[te.Tensor]:
    """A product of matrices, a bias, a relu."""
    a, b, bias = te.placeholder((n, k), name="A"), te.placeholder((k, m), name="B"), te.placeholder((m,), name="b")
    r = te.reduce_axis((0, k), name="k")
    c = te.compute((n, m), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    return [a, b, bias, te.compute((n, m), lambda i, j: te.max(c[i, j] + bias[j], 0.0), name="R")]


def batched(count: int, n: int, m: int, k: int) -> list[te.Tensor]:
    """Products of several pairs of matrices."""
    a, b = te.placeholder((count, n, k), name="A"), te.placeholder((count, k, m), name="B")
    r = te.reduce_axis((0, k), name="k")
    return [a, b, te.compute((count, n, m), lambda z, i, j: te.sum(a[z, i, r] * b[z, r, j], axis=r), name="C")]


def matvec(n: int, k: int) -> list[te.Tensor]:
    """A matrix times a vector."""
    a, x = te.placeholder((n, k), name="A"), te.placeholder((k,), name="x")
    r = te.reduce_axis((0, k), name="k")
    return [a, x, te.compute((n,), lambda i: te.sum(a[i, r] * x[r], axis=r), name="y")]


def conv(channels: int, filters: int, size: int, window: int) -> list[te.Tensor]:
    """A padded convolution, channels first."""
    x = te.placeholder((channels, size, size), name="X")
    w = te.placeholder((filters, channels, window, window), name="W")
    p = _padded(x, (channels, size, size), (1, 2), window // 2)
    c, u, v = (te.reduce_axis((0, n), name=a) for n, a in ((channels, "c"), (window, "u"), (window, "v")))

    def element(f: Any, i: Any, j: Any) -> Any:
        return te.sum(p[c, i + u, j + v] * w[f, c, u, v], axis=[c, u, v])

    return [x, w, te.compute((filters, size, size), element, name="Y")]


def conv_last(channels: int, filters: int, size: int, window: int) -> list[te.Tensor]:
    """A padded convolution, channels last."""
    x = te.placeholder((size, size, channels), name="X")
    w = te.placeholder((window, window, channels, filters), name="W")
    p = _padded(x, (size, size, channels), (0, 1), window // 2)
    c, u, v = (te.reduce_axis((0, n), name=a) for n, a in ((channels, "c"), (window, "u"), (window, "v")))

    def element(i: Any, j: Any, f: Any) -> Any:
        return te.sum(p[i + u, j + v, c] * w[u, v, c, f], axis=[u, v, c])

    return [x, w, te.compute((size, size, filters), element, name="Y")]


def pointwise(channels: int, filters: int, size: int) -> list[te.Tensor]:
    """A convolution of single pixels."""
    x, w = te.placeholder((channels, size, size), name="X"), te.placeholder((filters, channels), name="W")
    c = te.reduce_axis((0, channels), name="c")
    return [x, w, te.compute((filters, size, size), lambda f, i, j: te.sum(x[c, i, j] * w[f, c], axis=c), name="Y")]


def depthwise(channels: int, size: int, window: int) -> list[te.Tensor]:
    """A padded convolution of every channel by itself."""
    x, w = te.placeholder((channels, size, size), name="X"), te.placeholder((channels, window, window), name="W")
    p = _padded(x, (channels, size, size), (1, 2), window // 2)
    u, v = te.reduce_axis((0, window), name="u"), te.reduce_axis((0, window), name="v")

    def element(f: Any, i: Any, j: Any) -> Any:
        return te.sum(p[f, i + u, j + v] * w[f, u, v], axis=[u, v])

    return [x, w, te.compute((channels, size, size), element, name="Y")]


def max_pool(channels: int, size: int) -> list[te.Tensor]:
    """The largest of every four pixels."""
    x = te.placeholder((channels, size, size), name="X")
    u, v = te.reduce_axis((0, 2), name="u"), te.reduce_axis((0, 2), name="v")
    shape = (channels, size // 2, size // 2)
    return [x, te.compute(shape, lambda f, i, j: te.max(x[f, 2 * i + u, 2 * j + v], axis=[u, v]), name="Y")]


def mean_pool(channels: int, size: int) -> list[te.Tensor]:
    """The mean of every channel."""
    x = te.placeholder((channels, size, size), name="X")
    u, v = te.reduce_axis((0, size), name="u"), te.reduce_axis((0, size), name="v")
    total = te.compute((channels,), lambda f: te.sum(x[f, u, v], axis=[u, v]), name="S")
    return [x, te.compute((channels,), lambda f: total[f] * (1.0 / size**2), name="Y")]


def softmax(n: int, m: int) -> list[te.Tensor]:
    """A softmax of every row."""
    x = te.placeholder((n, m), name="X")
    k, r = te.reduce_axis((0, m), name="k"), te.reduce_axis((0, m), name="r")
    most = te.compute((n,), lambda i: te.max(x[i, k], axis=k), name="M")
    powers = te.compute((n, m), lambda i, j: te.exp(x[i, j] - most[i]), name="E")
    total = te.compute((n,), lambda i: te.sum(powers[i, r], axis=r), name="S")
    return [x, te.compute((n, m), lambda i, j: powers[i, j] / total[i], name="Y")]


def layer_norm(n: int, m: int) -> list[te.Tensor]:
    """Rows with mean 0 and variance 1, scaled and moved."""
    x, g, b = te.placeholder((n, m), name="X"), te.placeholder((m,), name="g"), te.placeholder((m,), name="b")
    k, r = te.reduce_axis((0, m), name="k"), te.reduce_axis((0, m), name="r")
    total = te.compute((n,), lambda i: te.sum(x[i, k], axis=k), name="S")
    off = te.compute((n, m), lambda i, j: x[i, j] - total[i] * (1.0 / m), name="D")
    squares = te.compute((n,), lambda i: te.sum(off[i, r] * off[i, r], axis=r), name="V")

    def element(i: Any, j: Any) -> Any:
        return off[i, j] * te.rsqrt(squares[i] * (1.0 / m) + 1e-5) * g[j] + b[j]

    return [x, g, b, te.compute((n, m), element, name="Y")]


def row_sums(n: int, m: int) -> list[te.Tensor]:
    """The sum of every row."""
    x, k = te.placeholder((n, m), name="X"), te.reduce_axis((0, m), name="k")
    return [x, te.compute((n,), lambda i: te.sum(x[i, k], axis=k), name="S")]


def column_maxima(n: int, m: int) -> list[te.Tensor]:
    """The largest number of every column."""
    x, k = te.placeholder((n, m), name="X"), te.reduce_axis((0, n), name="k")
    return [x, te.compute((m,), lambda j: te.max(x[k, j], axis=k), name="S")]


def transpose(n: int, m: int) -> list[te.Tensor]:
    """The transpose of a matrix."""
    x = te.placeholder((n, m), name="X")
    return [x, te.compute((m, n), lambda i, j: x[j, i], name="T")]


def stencil(n: int, m: int) -> list[te.Tensor]:
    """A step of Jacobi's method."""
    x = te.placeholder((n, m), name="X")

    def element(i: Any, j: Any) -> Any:
        return (x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2]) * 0.25 + x[i + 1, j + 1] * 0.5

    return [x, te.compute((n - 2, m - 2), element, name="Y")]


def swish(n: int, m: int) -> list[te.Tensor]:
    """x times its sigmoid."""
    x = te.placeholder((n, m), name="X")
    return [x, te.compute((n, m), lambda i, j: x[i, j] * te.sigmoid(x[i, j]), name="Y")]


def gram(n: int, m: int) -> list[te.Tensor]:
    """The products of all pairs of columns."""
    x, k = te.placeholder((n, m), name="X"), te.reduce_axis((0, n), name="k")
    return [x, te.compute((m, m), lambda i, j: te.sum(x[k, i] * x[k, j], axis=k), name="G")]


PROGRAMS: Mapping[str, Program] = {
    "gemm": lambda: gemm(512, 512, 512),
    "gemm, transposed": lambda: gemm_transposed(384, 500, 300),
    "dense, relu": lambda: dense_relu(256, 509, 317),
    "batched products": lambda: batched(12, 128, 128, 64),
    "matrix by vector": lambda: matvec(2048, 2048),
    "conv 3x3": lambda: conv(64, 64, 28, 3),
    "conv 3x3, last": lambda: conv_last(64, 64, 28, 3),
    "conv 1x1": lambda: pointwise(128, 96, 14),
    "depthwise": lambda: depthwise(96, 56, 3),
    "max pool": lambda: max_pool(64, 56),
    "mean pool": lambda: mean_pool(512, 14),
    "softmax": lambda: softmax(256, 1000),
    "layer norm": lambda: layer_norm(128, 768),
    "row sums": lambda: row_sums(1000, 1009),
    "column maxima": lambda: column_maxima(1000, 1009),
    "transpose": lambda: transpose(1000, 768),
    "stencil": lambda: stencil(1024, 1024),
    "swish": lambda: swish(512, 768),
    "gram": lambda: gram(1000, 64),
    "conv 5x5, prime": lambda: conv(31, 37, 23, 5),
}
