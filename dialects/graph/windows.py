"""Windows that slide over the last axes of a tensor: what convolution and pooling have in common."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, ceildiv, const, maximum, minimum
from tilework.algebra.predicate import Predicate, at_least, less_than
from tilework.dialects.graph.base import Array
from tilework.dialects.te.builder import KernelBuilder, Tensor

Ints = DenseArrayBase[IntegerType]


@dataclass(frozen=True)
class Windows:
    """The geometry along each spatial axis. `before` and `after` count the padding at the two ends.

    With `ceil_mode` a last window that only begins inside the (front-padded) data counts too.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    ceil_mode: bool = False

    @classmethod
    def of(cls, kernel: Sequence[int], strides: Ints, dilations: Ints, pads: Ints, ceil_mode: bool = False) -> Windows:
        """Make windows of an operator's attributes; `pads` lists all fronts, then all ends. Raises VerifyException."""
        rank = len(kernel)
        for what, given, count in (
            ("strides", strides, rank),
            ("dilations", dilations, rank),
            ("pads", pads, 2 * rank),
        ):
            if len(given) != count:
                raise VerifyException(f"{rank} spatial axes need {count} {what}, not {len(given)}")
        ends = pads.get_values()
        result = cls(tuple(kernel), strides.get_values(), dilations.get_values(), ends[:rank], ends[rank:], ceil_mode)
        if min((*result.kernel, *result.strides, *result.dilations), default=1) < 1:
            raise VerifyException("window sizes, strides and dilations are positive")
        if min(ends, default=0) < 0:
            raise VerifyException(f"pads are not negative, {min(ends)} is")
        return result

    @property
    def spans(self) -> tuple[int, ...]:
        """The number of elements from the first to the last tap of a window, both included."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))

    def positions(self, extents: Sequence[Expr]) -> tuple[Expr, ...]:
        """How many windows there are along each axis. Raises VerifyException where not one fits."""
        return tuple(self._count(axis, extent) for axis, extent in enumerate(extents))

    def _count(self, axis: int, extent: Expr) -> Expr:
        span, stride = self.spans[axis], self.strides[axis]
        before, after = self.before[axis], self.after[axis]
        room = extent + (before + after - span)
        least = 1 - stride if self.ceil_mode else 0  # a first window may reach beyond the padding too
        if room.constant is not None and room.constant < least:
            raise VerifyException(f"a window of {span} does not fit into {extent} with padding {before} and {after}")
        if not self.ceil_mode:
            return room // stride + 1
        return minimum(ceildiv(room, stride) + 1, (extent + (before - 1)) // stride + 1)

    def padded(self, extents: Sequence[Expr]) -> tuple[Expr, ...]:
        """Extents with padding: what is asked for, or what the last window of `ceil_mode` reaches."""
        counts = self.positions(extents)
        return tuple(
            maximum(e + (b + a), (n - 1) * s + span) if self.ceil_mode else e + (b + a)
            for e, n, s, span, b, a in zip(
                extents, counts, self.strides, self.spans, self.before, self.after, strict=True
            )
        )

    def at(self, position: Sequence[Expr], tap: Sequence[Expr]) -> tuple[Expr, ...]:
        """Where, in the padded tensor, a tap of a window stands."""
        return tuple(p * s + t * d for p, s, t, d in zip(position, self.strides, tap, self.dilations, strict=True))

    def inside(self, index: Sequence[Expr], extents: Sequence[Expr]) -> list[Predicate]:
        """What tells whether an index that a window reaches is one of the data, without padding; nothing if all are."""
        conditions: list[Predicate] = []
        for i, before, extent, whole in zip(index, self.before, extents, self.padded(extents), strict=True):
            if before:
                conditions.append(at_least(i, 0))
            if whole != extent + before:
                conditions.append(less_than(i, extent))
        return conditions

    def pad(self, k: KernelBuilder, x: Tensor, fill: float) -> Tensor:
        """`x` with its padding around it, a stage of its own; `x` itself where there is none."""
        rank = len(self.kernel)
        extents = x.dims[-rank:] if rank else ()
        dims = (*x.dims[: len(x.dims) - rank], *self.padded(extents))
        before = (0,) * (len(x.dims) - rank) + self.before
        return pad_stage(k, x, before, dims, fill)

    def pick(self, k: KernelBuilder, padded: Tensor, extents: Sequence[Expr]) -> tuple[Tensor, Windows]:
        """For windows of one element that are apart: what they read, side by side, and its windows; else these."""
        rank = len(self.kernel)
        if max(self.kernel, default=1) > 1 or max(self.strides, default=1) == 1:
            return padded, self
        around = len(padded.dims) - rank

        def element(*i: Expr):
            return padded[(*i[:around], *self.at(i[around:], [const(0)] * rank))]

        dims = (*padded.dims[:around], *self.positions(extents))
        return k.compute("picked", dims, element), replace(self, strides=(1,) * rank)

    def views(self, x: Array, fill: Any) -> Array:
        """Every window of an array: its last axes become positions, and taps are appended behind them."""
        rank = len(self.kernel)
        extents = [const(n) for n in x.shape[x.ndim - rank :]]
        whole = [size.offset for size in self.padded(extents)]
        ends = [w - e.offset - b for w, e, b in zip(whole, extents, self.before, strict=True)]
        widths = [(0, 0)] * (x.ndim - rank) + list(zip(self.before, ends, strict=True))
        return self.slide(np.pad(x, widths, constant_values=fill), extents)

    def slide(self, padded: Array, extents: Sequence[Expr]) -> Array:
        """Every window of an array that has its padding; `extents` are the spatial ones without."""
        axes = tuple(range(padded.ndim - len(self.kernel), padded.ndim))
        windows = sliding_window_view(padded, self.spans, axis=axes)
        counts = [n.offset for n in self.positions(extents)]
        steps = [slice(0, (n - 1) * s + 1, s) for n, s in zip(counts, self.strides, strict=True)]
        taps = [slice(None, None, d) for d in self.dilations]
        return windows[(..., *steps, *taps)]


def pad_stage(k: KernelBuilder, x: Tensor, before: Sequence[ExprLike], dims: Sequence[Expr], fill: float) -> Tensor:
    """`x` inside a tensor of dimensions `dims` that is `fill` elsewhere; `x` itself where these are its own."""
    if tuple(dims) == x.dims:
        return x

    def element(*index: Expr):
        inside: list[Predicate] = []
        for i, b, extent, whole in zip(index, before, x.dims, dims, strict=True):
            if b != 0:
                inside.append(at_least(i, b))
            if whole != extent + b:
                inside.append(less_than(i, extent + b))
        source = tuple(i - b for i, b in zip(index, before, strict=True))
        return k.if_then_else(inside, lambda: x[source], lambda: fill, x.dtype)

    return k.compute("pad", dims, with_axes(spatial_axes(len(x.dims)), element))


def spatial_axes(rank: int, leading: Sequence[str] = ("n", "c")) -> list[str]:
    """Axis names of an image-like tensor: n, c, then z, y, x as far as they are needed; i0, i1, ... for others."""
    space = rank - len(leading)
    return [*leading, *"zyx"[3 - space :]] if 0 <= space <= 3 else [f"i{axis}" for axis in range(rank)]


def with_axes(names: Sequence[str], body: Callable[..., Any]) -> Callable[..., Any]:
    """`body`, which takes any number of indices, as a function whose parameters have these names: the axes' names."""

    def named(*indices: Expr) -> Any:
        return body(*indices)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])  # pyright: ignore[reportFunctionMemberAccess]
    return named
