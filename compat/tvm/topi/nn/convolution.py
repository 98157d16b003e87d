"""Convolutions. Weights are OIHW for NCHW, HWIO for NHWC and HWCN."""

from __future__ import annotations

from typing import Any

from tilework import te
from tilework.algebra.errors import UsageError
from tilework.compat.tvm.topi.nn.padding import pad
from tilework.compat.tvm.topi.utils import get_const_int, pair, window_padding

_LAYOUTS = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 3, 1, 2), "HWCN": (3, 2, 0, 1)}
"""For each layout, the axes that are batch, channel, height and width."""


def _conv2d(
    data: te.Tensor, weight: te.Tensor, strides: Any, padding: Any, dilation: Any, out_dtype: str | None, layout: str
) -> te.Tensor:
    places = _LAYOUTS[layout]
    kernel_places = (0, 1, 2, 3) if layout == "NCHW" else (3, 2, 0, 1)  # out, in, height, width
    batch, _, height, width = (data.shape[p] for p in places)
    filters, channels, kernel_h, kernel_w = (weight.shape[p] for p in kernel_places)
    window = get_const_int(kernel_h), get_const_int(kernel_w)
    stride_h, stride_w = pair(strides)
    dilation_h, dilation_w = pair(dilation)
    top, left, bottom, right = window_padding(padding, window, (dilation_h, dilation_w))
    around = {places[2]: (top, bottom), places[3]: (left, right)}
    before, behind = ([around.get(p, (0, 0))[end] for p in range(4)] for end in (0, 1))
    padded = pad(data, before, behind, name="pad_temp") if any((*before, *behind)) else data
    rows = (height + top + bottom - (window[0] - 1) * dilation_h - 1) // stride_h + 1
    columns = (width + left + right - (window[1] - 1) * dilation_w - 1) // stride_w + 1
    rc, ry, rx = (te.reduce_axis((0, n), k) for n, k in ((channels, "rc"), (window[0], "ry"), (window[1], "rx")))
    dtype = out_dtype or data.dtype
    shape: list[Any] = [0, 0, 0, 0]
    for place, size in zip(places, (batch, filters, rows, columns), strict=True):
        shape[place] = size

    def element(*at: Any) -> Any:
        n, f, y, x = (at[p] for p in places)
        read: dict[int, Any] = dict(
            zip(places, (n, rc, y * stride_h + ry * dilation_h, x * stride_w + rx * dilation_w), strict=True)
        )
        of: dict[int, Any] = dict(zip(kernel_places, (f, rc, ry, rx), strict=True))
        product = padded(*(read[p] for p in range(4))).astype(dtype) * weight(*(of[p] for p in range(4))).astype(dtype)
        return te.sum(product, axis=[rc, ry, rx])

    return te.compute(tuple(shape), element, f"conv2d_{layout.lower()}", f"conv2d_{layout.lower()}")


def conv2d_nchw(
    Input: te.Tensor, Filter: te.Tensor, stride: Any, padding: Any, dilation: Any = 1, out_dtype: str | None = None
) -> te.Tensor:
    """The convolution of NCHW with OIHW."""
    return _conv2d(Input, Filter, stride, padding, dilation, out_dtype, "NCHW")


def conv2d_nhwc(
    Input: te.Tensor, Filter: te.Tensor, stride: Any, padding: Any, dilation: Any = 1, out_dtype: str | None = None
) -> te.Tensor:
    """The convolution of NHWC with HWIO."""
    return _conv2d(Input, Filter, stride, padding, dilation, out_dtype, "NHWC")


def conv2d_hwcn(
    Input: te.Tensor, Filter: te.Tensor, stride: Any, padding: Any, dilation: Any = 1, out_dtype: str | None = None
) -> te.Tensor:
    """The convolution of HWCN with HWIO."""
    return _conv2d(Input, Filter, stride, padding, dilation, out_dtype, "HWCN")


def conv2d(
    input: te.Tensor,  # noqa: A002  TVM's name
    filter: te.Tensor,  # noqa: A002
    strides: Any,
    padding: Any,
    dilation: Any,
    layout: str = "NCHW",
    out_dtype: str | None = None,
) -> te.Tensor:
    """The convolution in a layout, NCHW, NHWC or HWCN."""
    if layout not in _LAYOUTS:
        raise UsageError(f"conv2d: the layouts are {', '.join(_LAYOUTS)}, not {layout}")
    return _conv2d(input, filter, strides, padding, dilation, out_dtype, layout)


def depthwise_conv2d_nchw(
    Input: te.Tensor, Filter: te.Tensor, stride: Any, padding: Any, dilation: Any = 1, out_dtype: str | None = None
) -> te.Tensor:
    """A convolution of each channel by itself; the filter is channels x multiplier x height x width."""
    batch, channels, height, width = Input.shape
    _, times, kernel_h, kernel_w = Filter.shape
    window = get_const_int(kernel_h), get_const_int(kernel_w)
    (stride_h, stride_w), (dilation_h, dilation_w) = pair(stride), pair(dilation)
    top, left, bottom, right = window_padding(padding, window, (dilation_h, dilation_w))
    padded = pad(Input, [0, 0, top, left], [0, 0, bottom, right], name="PaddedInput")
    rows = (height + top + bottom - (window[0] - 1) * dilation_h - 1) // stride_h + 1
    columns = (width + left + right - (window[1] - 1) * dilation_w - 1) // stride_w + 1
    di, dj = te.reduce_axis((0, window[0]), "di"), te.reduce_axis((0, window[1]), "dj")
    dtype = out_dtype or Input.dtype

    def element(b: Any, c: Any, i: Any, j: Any) -> Any:
        read: Any = padded[b, c // times, i * stride_h + di * dilation_h, j * stride_w + dj * dilation_w]
        weight: Any = Filter[c // times, c % times, di, dj]
        return te.sum(read.astype(dtype) * weight.astype(dtype), axis=[di, dj])

    shape = (batch, channels * times, rows, columns)
    return te.compute(shape, element, "DepthwiseConv2d", "depthwise_conv2d_nchw")


__all__ = ["conv2d", "conv2d_hwcn", "conv2d_nchw", "conv2d_nhwc", "depthwise_conv2d_nchw"]
