"""Converters: Fourier transforms, as products with a matrix of the roots of one."""

from __future__ import annotations

import numpy as np

from tilework.algebra.index_expr import const
from tilework.dialects.graph import AddOp, GatherOp, MulOp
from tilework.dialects.graph.accumulation import accumulator
from tilework.dialects.graph.base import numpy_dtype
from tilework.frontends.onnx.axes import from_front, sliced
from tilework.frontends.onnx.convert_dense import matrix_product
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.values import Array, Value, known

LARGEST = 1 << 26
"""How many numbers a matrix may have."""


@converter("DFT", since=17)
def fourier_transform(node: Node) -> Value:
    """Along an axis, of a signal that is cut or padded with zeros to a length; or back from its frequencies.

    One-sided are the frequencies of a real signal, up to half of its length: those behind mirror them."""
    dims, axis = node.dims(0), node.attribute("axis", 1)
    if node.opset >= 20:
        axis = int(node.number(2, "axis")) if node.has(2) else -2
    [axis] = from_front(node, [axis], len(dims))
    inverse, onesided = bool(node.attribute("inverse", 0)), bool(node.attribute("onesided", 0))
    extent, length = dims[axis].constant, None
    if axis == len(dims) - 1:
        raise node.error("the last axis is that of real and imaginary parts")
    if extent is None:
        raise node.error(f"the signal is of constant length, not of {dims[axis]}")
    if node.has(1):
        length = node.count(1, "length").constant
    elif inverse and onesided:
        length = 2 * (extent - 1)
    else:
        length = extent
    if length is None or length < 1:
        raise node.error("the length of its transform is a positive constant")
    to_back = [*(i for i in range(len(dims) - 1) if i != axis), axis, len(dims) - 1]
    result = _transformed(node, node.transposed(node.value(0), to_back), length, inverse, onesided)
    return node.transposed(result, [to_back.index(i) for i in range(len(dims))])


@converter("STFT", since=17)
def short_time_fourier_transform(node: Node) -> Value:
    """Transform frames that begin so many samples after each other, as many as fit in the signal."""
    dims, step = node.dims(0), node.count(1, "frame step").constant
    if len(dims) != 3 or node.has(2) and len(node.dims(2)) != 1:
        raise node.error("it takes signals [batch, length, 1 or 2], and one window")
    length = node.count(3, "frame length") if node.has(3) else node.dims(2)[0] if node.has(2) else dims[1]
    if step is None or step < 1 or length.constant is None or length.constant < 1:
        raise node.error(f"frames are of a constant length and step, not of {length} every {step}")
    if node.has(2):
        node.require_equal(node.dims(2)[0], length, f"its window is as long as a frame, {length}")
    room = dims[1] - length
    if room.constant is not None and room.constant < 0:
        raise node.error(f"no frame of {length} fits in a signal of {dims[1]}")
    frames = room // step + 1
    begins = node.reshape(node.emitter.range(const(0), frames, step, node.title), [frames, const(1)])
    samples = node.emitter.range(const(0), length, 1, node.title)
    signal = node.emit(GatherOp, node.value(0), node.emit(AddOp, begins, samples), axis=int_attr(1))
    if node.has(2):
        signal = node.emit(MulOp, signal, node.reshape(node.value(2), [length, const(1)]))
    return _transformed(node, signal, length.constant, inverse=False, onesided=bool(node.attribute("onesided", 1)))


def _transformed(node: Node, signal: Value, length: int, inverse: bool, onesided: bool) -> Value:
    """Transform the last axis but one; the last is of a real part, perhaps with an imaginary one behind it."""
    *outer, extent, last = value_dims(signal)
    parts, half, all_rows = last.constant, length // 2 + 1, extent.constant
    if parts not in (1, 2):
        raise node.error(f"the last axis is of a real part, perhaps with an imaginary one, not of {last}")
    if onesided and parts != (2 if inverse else 1):
        kind = "frequencies are complex" if inverse else "signals are real"
        raise node.error(f"one-sided (onesided), {kind}")
    assert all_rows is not None
    rows, columns, results = min(all_rows, length), length, 2
    if onesided and inverse:
        rows, results = min(rows, half), 1
    elif onesided:
        columns = half
    count = rows * parts * columns * results
    if count > LARGEST:
        raise node.error(f"its matrix of {count} numbers is more than is computed beforehand")
    matrix = _roots(rows, columns, length, 1 if inverse else -1) / (length if inverse else 1)
    if onesided and inverse:
        has_mirror = [0 < i < length - i for i in range(rows)]
        matrix[has_mirror] *= 2
    matrix = matrix[:, :parts, :, :results].reshape(rows * parts, columns * results)
    signal = node.widened(sliced(node, signal, {len(outer): range(rows)}) if rows < all_rows else signal)
    dtype = numpy_dtype(accumulator(node.dtype(0)))
    flat = node.reshape(signal, [*outer, const(rows * parts)])
    product = matrix_product(node, flat, known(matrix.astype(dtype), node.title))
    return node.narrowed(node.reshape(product, [*outer, const(columns), const(results)]))


def _roots(rows: int, columns: int, length: int, sign: int) -> Array:
    """What the real and imaginary part of each row are multiplied with for those of each column."""
    turns = np.outer(np.arange(rows), np.arange(columns)) % length
    angles = sign * 2 * np.pi / length * turns
    real, imaginary = np.cos(angles), np.sin(angles)
    return np.stack([np.stack([real, imaginary], -1), np.stack([-imaginary, real], -1)], 1)
