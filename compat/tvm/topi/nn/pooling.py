"""Pooling."""

from __future__ import annotations

from typing import Any

from tilework import te
from tilework.algebra.errors import UsageError
from tilework.compat.tvm.topi.nn.padding import pad
from tilework.compat.tvm.topi.utils import get_const_int, pair, window_padding


def pool2d(
    data: te.Tensor,
    kernel: Any,
    stride: Any,
    dilation: Any,
    padding: Any,
    pool_type: str,
    ceil_mode: bool = False,
    layout: str = "NCHW",
    count_include_pad: bool = True,
) -> te.Tensor:
    """The maximum or the mean ("max", "avg") over windows, in the layout NCHW or NHWC."""
    if pool_type not in ("max", "avg") or layout not in ("NCHW", "NHWC"):
        raise UsageError(f"pool: of 'max' and 'avg', in NCHW or NHWC, not '{pool_type}' in {layout}")
    places = (2, 3) if layout == "NCHW" else (1, 2)
    window, steps, spread = pair(kernel), pair(stride), pair(dilation)
    top, left, bottom, right = window_padding(padding, window)
    sizes = [get_const_int(data.shape[p]) for p in places]
    ends: list[int] = []
    counts: list[int] = []
    for size, k, s, d, before, behind in zip(sizes, window, steps, spread, (top, left), (bottom, right), strict=True):
        free = size + before + behind - (k - 1) * d - 1
        counts.append((free + s - 1 if ceil_mode else free) // s + 1)
        ends.append(behind + (s - 1 if ceil_mode else 0))
    before = [0] * 4
    after = [0] * 4
    for place, first, end in zip(places, (top, left), ends, strict=True):
        before[place], after[place] = first, end
    lowest = te.min_value(data.dtype)
    value: Any = lowest if pool_type == "max" else te.const(0, data.dtype)
    padded = pad(data, before, after, value, name="pad_temp") if any((*before, *after)) else data
    dh, dw = te.reduce_axis((0, window[0]), "rv0"), te.reduce_axis((0, window[1]), "rv1")
    shape = tuple(counts[places.index(p)] if p in places else size for p, size in enumerate(data.shape))

    def at(index: tuple[Any, ...]) -> list[Any]:
        inner = {places[0]: dh * spread[0], places[1]: dw * spread[1]}
        return [e * steps[places.index(p)] + inner[p] if p in inner else e for p, e in enumerate(index)]

    if pool_type == "max":
        return te.compute(shape, lambda *i: te.max(padded(*at(i)), axis=[dh, dw]), "pool_max", "pool_max")
    total = te.compute(shape, lambda *i: te.sum(padded(*at(i)), axis=[dh, dw]), "pool_sum", "pool_sum")

    def count(index: tuple[Any, ...]) -> Any:
        number: Any = 1
        for place, k, s, d, first, size in zip(places, window, steps, spread, (top, left), sizes, strict=True):
            if count_include_pad:
                number = number * k
            elif d != 1:
                raise UsageError("pool: count_include_pad=False with dilation is not there")
            else:
                begin = index[place] * s - first
                number = number * (te.min(begin + k, size) - te.max(begin, 0))
        return te.const(number, data.dtype) if isinstance(number, int) else number.astype(data.dtype)

    return te.compute(shape, lambda *i: te.div(total(*i), count(i)), "pool_avg", "elemwise")


def pool(
    data: te.Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    pool_type: str,
    ceil_mode: bool = False,
    layout: str = "NCHW",
    count_include_pad: bool = True,
) -> te.Tensor:
    """`pool2d` without dilation, as in TVM 0.7."""
    return pool2d(data, kernel, stride, (1, 1), padding, pool_type, ceil_mode, layout, count_include_pad)


def global_pool(data: te.Tensor, pool_type: str, layout: str = "NCHW") -> te.Tensor:
    """The maximum or the mean of each channel, whose height and width stay, of extent 1."""
    places = (2, 3) if layout == "NCHW" else (1, 2)
    window = tuple(get_const_int(data.shape[p]) for p in places)
    return pool2d(data, window, (1, 1), (1, 1), (0, 0, 0, 0), pool_type, layout=layout)


__all__ = ["global_pool", "pool", "pool2d"]
