"""Reductions over axes of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilework import te
from tilework.compat.tvm.topi import tag
from tilework.compat.tvm.topi.utils import axes_of


def _reduced(
    data: te.Tensor, axis: Any, keepdims: bool, name: str, value: Callable[[list[Any], tuple[Any, ...]], Any], kind: str
) -> Any:
    """The tensor of `value(reduce axes, indices of an element)`."""
    axes = axes_of(axis, data.ndim)
    over = [te.reduce_axis((0, data.shape[a]), f"k{a}") for a in axes]
    kept = [a for a in range(data.ndim) if a not in axes]
    shape = tuple(1 if a in axes else data.shape[a] for a in range(data.ndim) if keepdims or a in kept)

    def element(*at: Any) -> Any:
        outer = iter(at if not keepdims else [index for a, index in enumerate(at) if a in kept])
        inner = iter(over)
        return value(over, tuple(next(inner) if a in axes else next(outer) for a in range(data.ndim)))

    return te.compute(shape, element, name, kind)


def _operator(name: str, reducer: Callable[..., Any]) -> Callable[..., Any]:
    def operator(data: te.Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        return _reduced(
            data, axis, keepdims, f"{data.op.name}_red", lambda over, at: reducer(data(*at), axis=over), tag.COMM_REDUCE
        )

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = f"{name} over axes, all by default; with keepdims they stay, of extent 1."
    return operator


sum = _operator("sum", te.sum)  # noqa: A001  TVM's names
prod = _operator("prod", te.prod)
max = _operator("max", te.max)  # noqa: A001
min = _operator("min", te.min)  # noqa: A001
all = _operator("all", te.all)  # noqa: A001
any = _operator("any", te.any)  # noqa: A001


def _index_of(data: te.Tensor, axis: Any, keepdims: bool, largest: bool) -> Any:
    """The position along the axes, counted over all of them, of the first extreme element."""
    sizes = [data.shape[a] for a in axes_of(axis, data.ndim)]

    def combined(x: Any, y: Any) -> Any:
        better = x[1] > y[1] if largest else x[1] < y[1]
        keeps = te.any(better, te.all(x[1] == y[1], te.any(y[0] < 0, te.all(x[0] >= 0, x[0] < y[0]))))
        return te.Select(keeps, x[0], y[0]), te.Select(keeps, x[1], y[1])

    def identity(index: str, value: str) -> Any:
        return te.const(-1, index), te.min_value(value) if largest else te.max_value(value)

    reducer = te.comm_reducer(combined, identity, "argmax" if largest else "argmin")

    def value(over: list[Any], at: tuple[Any, ...]) -> Any:
        position: Any = over[0]
        for size, index in zip(sizes[1:], over[1:], strict=True):
            position = position * size + index
        return reducer((position, data(*at)), axis=over)

    found, _ = _reduced(data, axis, keepdims, f"{data.op.name}_red_temp", value, tag.COMM_REDUCE_IDX)
    return te.compute(found.shape, lambda *i: found(*i), f"{data.op.name}_red", tag.COMM_REDUCE_IDX)


def argmax(data: te.Tensor, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the place of the first largest element along the axes, counted over all of them, as int32."""
    return _index_of(data, axis, keepdims, largest=True)


def argmin(data: te.Tensor, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the place of the first least element along the axes, counted over all of them, as int32."""
    return _index_of(data, axis, keepdims, largest=False)


__all__ = ["all", "any", "argmax", "argmin", "max", "min", "prod", "sum"]
