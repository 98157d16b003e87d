"""A convolution along three axes as one along two: each slice of the result is an image of its own, and the channels of
all slices that its windows reach are channels of that image.

Channel `c` of the slice that tap `t` of a window reaches is channel t * C + c of C channels.
"""

from __future__ import annotations

import numpy as np

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import at_least, less_than
from tilework.dialects.graph.base import Array
from tilework.dialects.graph.windows import Windows
from tilework.dialects.te.builder import KernelBuilder, Tensor


def stacked_image(k: KernelBuilder, x: Tensor, windows: Windows) -> Tensor:
    """x[batch, channels, slices, y, x], zeros around it, as [batch * positions, taps * channels, y, x]."""
    batch, channels, slices, *extents = x.dims
    [positions], [taps] = windows.positions([slices]), windows.kernel

    def element(n: Expr, c: Expr, y: Expr, x_: Expr):
        [at] = windows.at([n % positions], [c // channels])
        z = at - windows.before[0]
        inside = [at_least(z, 0), less_than(z, slices)]
        return k.if_then_else(inside, lambda: x[n // positions, c % channels, z, y, x_], lambda: 0.0, x.dtype)

    return k.compute("stacked_image", (batch * positions, taps * channels, *extents), element)


def stacked_weight(k: KernelBuilder, w: Tensor) -> Tensor:
    """w[filters, channels, taps, y, x] as [filters, taps * channels, y, x]."""
    filters, channels, taps, *window = w.dims

    def element(o: Expr, c: Expr, y: Expr, x_: Expr):
        return w[o, c % channels, c // channels, y, x_]

    return k.compute("stacked_weight", (filters, taps * channels, *window), element)


def stack_image(x: Array, windows: Windows) -> Array:
    """What `stacked_image` is of an array."""
    views = windows.views(np.moveaxis(x, 2, -1), 0)  # batch, channels, y, x, positions, taps
    batch, channels, height, width, positions, taps = views.shape
    return views.transpose(0, 4, 5, 1, 2, 3).reshape(batch * positions, taps * channels, height, width)


def stack_weight(w: Array) -> Array:
    """What `stacked_weight` is of an array."""
    filters, channels, taps, *window = w.shape
    return np.moveaxis(w, 2, 1).reshape(filters, taps * channels, *window)


def unstack(y: Array, windows: Windows, slices: int) -> Array:
    """Results of the stacked image of so many slices, as [batch, filters, positions, y, x]."""
    positions = windows.positions([const(slices)])[0].offset
    return np.moveaxis(y.reshape(len(y) // positions, positions, *y.shape[1:]), 1, 2)
