"""Layers that are no windows."""

from __future__ import annotations

import functools
from typing import Any

from tilework import te
from tilework.compat.tvm.topi import tag
from tilework.compat.tvm.topi.transform import reshape


def relu(x: te.Tensor) -> te.Tensor:
    """Each element, or 0 if it is less."""
    return te.compute(x.shape, lambda *i: te.max(x(*i), te.const(0, x.dtype)), "T_relu", tag.ELEMWISE)


def leaky_relu(x: te.Tensor, alpha: float) -> te.Tensor:
    """Each element, below 0 times alpha."""
    slope = te.const(alpha, x.dtype)
    return te.compute(x.shape, lambda *i: te.Select(x(*i) > 0, x(*i), x(*i) * slope), "T_leaky_relu", tag.ELEMWISE)


def prelu(x: te.Tensor, slope: te.Tensor, axis: int = 1) -> te.Tensor:
    """Each element, below 0 times the slope of its channel."""
    return te.compute(x.shape, lambda *i: te.Select(x(*i) > 0, x(*i), x(*i) * slope(i[axis])), "T_prelu", tag.BROADCAST)


def flatten(data: te.Tensor) -> te.Tensor:
    """All axes behind the first as one."""
    columns = functools.reduce(lambda a, b: a * b, data.shape[1:], 1)
    return reshape(data, (data.shape[0], columns))


def dense(data: te.Tensor, weight: te.Tensor, bias: te.Tensor | None = None, out_dtype: str | None = None) -> te.Tensor:
    """Rows times the rows of a weight, out x in, and a bias."""
    dtype = out_dtype or data.dtype
    k = te.reduce_axis((0, data.shape[1]), "k")

    def element(i: Any, j: Any) -> Any:
        return te.sum(data[i, k].astype(dtype) * weight[j, k].astype(dtype), axis=k)

    product = te.compute((data.shape[0], weight.shape[0]), element, "T_dense", "dense")
    return product if bias is None else bias_add(product, bias)


def batch_matmul(x: te.Tensor, y: te.Tensor, transpose_a: bool = False, transpose_b: bool = True) -> te.Tensor:
    """Products of matrices, batch by batch; the second ones are transposed by default."""
    rows, depth = (x.shape[2], x.shape[1]) if transpose_a else (x.shape[1], x.shape[2])
    columns = y.shape[1] if transpose_b else y.shape[2]
    k = te.reduce_axis((0, depth), "k")

    def element(b: Any, i: Any, j: Any) -> Any:
        left = x[b, k, i] if transpose_a else x[b, i, k]
        right = y[b, j, k] if transpose_b else y[b, k, j]
        return te.sum(left * right, axis=k)

    return te.compute((x.shape[0], rows, columns), element, "T_batch_matmul", "batch_matmul")


def bias_add(data: te.Tensor, bias: te.Tensor, axis: int = -1) -> te.Tensor:
    """A number for each index of an axis is added."""
    return te.compute(data.shape, lambda *i: data(*i) + bias(i[axis % data.ndim]), "T_bias_add", tag.BROADCAST)


def scale_shift_nchw(Input: te.Tensor, Scale: te.Tensor, Shift: te.Tensor) -> te.Tensor:
    """Each channel times a number, plus another one."""
    return te.compute(Input.shape, lambda *i: Input(*i) * Scale(i[1]) + Shift(i[1]), "ScaleShift", tag.BROADCAST)


def _exponentials(x: te.Tensor, axis: int) -> tuple[te.Tensor, te.Tensor, te.Tensor, int]:
    place = axis % x.ndim
    others = tuple(size for p, size in enumerate(x.shape) if p != place)

    def at(index: tuple[Any, ...], k: Any) -> list[Any]:
        return [*index[:place], k, *index[place:]]

    k1, k2 = te.reduce_axis((0, x.shape[place]), "k"), te.reduce_axis((0, x.shape[place]), "k")
    most = te.compute(others, lambda *i: te.max(x(*at(i, k1)), axis=k1), "T_softmax_maxelem")
    shifted = te.compute(
        x.shape, lambda *i: te.exp(x(*i) - most(*i[:place], *i[place + 1 :])), "T_softmax_exp", tag.ELEMWISE
    )
    total = te.compute(others, lambda *i: te.sum(shifted(*at(i, k2)), axis=k2), "T_softmax_expsum")
    return most, shifted, total, place


def softmax(x: te.Tensor, axis: int = -1) -> te.Tensor:
    """Exponentials over their sum along an axis."""
    _, shifted, total, place = _exponentials(x, axis)
    return te.compute(
        x.shape, lambda *i: shifted(*i) / total(*i[:place], *i[place + 1 :]), "T_softmax_norm", "softmax_output"
    )


def log_softmax(x: te.Tensor, axis: int = -1) -> te.Tensor:
    """The logarithm of `softmax`."""
    most, _, total, place = _exponentials(x, axis)

    def element(*i: Any) -> Any:
        rest = (*i[:place], *i[place + 1 :])
        return x(*i) - most(*rest) - te.log(total(*rest))

    return te.compute(x.shape, element, "T_log_softmax", "log_softmax_output")


__all__ = [
    "batch_matmul",
    "bias_add",
    "dense",
    "flatten",
    "leaky_relu",
    "log_softmax",
    "prelu",
    "relu",
    "scale_shift_nchw",
    "softmax",
]
