"""Padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilework import te
from tilework.compat.tvm.topi import tag


def pad(
    data: te.Tensor,
    pad_before: Sequence[Any],
    pad_after: Sequence[Any] | None = None,
    pad_value: Any = 0.0,
    name: str = "PadInput",
) -> te.Tensor:
    """The tensor with so many elements of one value before and behind each axis."""
    behind = pad_before if pad_after is None else pad_after
    before = [0 if te.is_zero(p) else p for p in pad_before]
    shape = tuple(b + size + a for b, size, a in zip(pad_before, data.shape, behind, strict=True))
    value = te.const(pad_value, data.dtype) if isinstance(pad_value, int | float) else pad_value

    def element(*at: Any) -> Any:
        inside: list[Any] = []
        for index, b, size, a in zip(at, before, data.shape, behind, strict=True):
            if not te.is_zero(b):
                inside.append(index >= b)
            if not te.is_zero(a):
                inside.append(index < b + size)
        own = data(*(index - b for index, b in zip(at, before, strict=True)))
        return te.if_then_else(te.all(*inside), own, value) if inside else own

    return te.compute(shape, element, name, f"{tag.INJECTIVE},pad")


def dilate(
    data: te.Tensor, strides: Sequence[int], dilation_value: float = 0.0, name: str = "DilatedInput"
) -> te.Tensor:
    """The tensor with `stride - 1` elements of one value between the elements of each axis."""
    shape = tuple((size - 1) * stride + 1 for size, stride in zip(data.shape, strides, strict=True))
    value = te.const(dilation_value, data.dtype)

    def element(*at: Any) -> Any:
        inside = [te.floormod(i, s) == 0 for i, s in zip(at, strides, strict=True) if s != 1]
        own = data(*(te.floordiv(i, s) for i, s in zip(at, strides, strict=True)))
        return te.if_then_else(te.all(*inside), own, value) if inside else own

    return te.compute(shape, element, name, f"{tag.INJECTIVE},dilate")
