"""Convolution by Winograd's minimal filtering: fewer multiplications, of transformed inputs and weights.

`graph.winograd_conv %x, (graph.winograd_weight %w)` is `graph.conv %x, %w`, but for rounding. The transform of a
parameter is done once, in @prepare.

Windows that move by more than one are sums of filters, one for each phase of the image. Either every phase is
transformed and multiplied by itself; or, with `phases_as_channels`, a block of stride x stride pixels of C channels is
one pixel of stride * stride * C channels, (y mod stride * C + c) * stride + x mod stride, and windows move by one.

Of three axes, tiles are along the last two: slices are images, whose taps are channels (see slices.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType, UnitAttr, f32, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, ceildiv, const, product
from tilework.algebra.predicate import at_least, less_than
from tilework.algebra.winograd import MOST_PRODUCTS, Winograd, winograd
from tilework.dialects.graph.base import Array, Category, GraphOp, ints
from tilework.dialects.graph.combination import combined, require_f32
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.slices import stack_image, stack_weight, stacked_image, stacked_weight, unstack
from tilework.dialects.graph.windows import Windows, spatial_axes, with_axes
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Tensor

IMAGE_RANK = 4
"""The rank of tensors that hold images of two axes."""

IMAGE, ROWS, DATA, PRODUCT, COLUMNS, RESULT = ROLES = (
    *("winograd.image", "winograd.rows", "winograd.data"),
    *("winograd.product", "winograd.columns", "winograd.result"),
)
"""The stages of a convolution: the image with zeros around it, its tiles transformed along one axis, and along both,
their products, and these transformed back along one axis, and along both."""

_FILTERS_AT_ONCE = 32
"""So that transforming the weights of a large network takes little memory besides."""


@irdl_op_definition
class WinogradWeightOp(GraphOp):
    """u[o, i, j, c] = sum over s, t of G[i, s] G[j, t] w[o, c, s, t], for square windows that move by `stride`.

    Tiles are of `tile` outputs along each axis. Of windows along three axes, the last two are square, and the taps
    along the first are channels. With `phases_as_channels`, w[o, ...] is rearranged as a pixel is, taps that are
    missing being zeros, and the filters are those of windows that move by one.

    %u = graph.winograd_weight %w {tile = 4 : i64, stride = 1 : i64} : (tensor<64x32x3x3xf32>) -> tensor<64x6x6x32xf32>
    """

    name = "graph.winograd_weight"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    weight = operand_def(TensorType)
    tile = prop_def(IntegerAttr)
    stride = prop_def(IntegerAttr)
    phases_as_channels = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def depth(self) -> int:
        """Pixels along each axis that become one."""
        return self.stride.value.data if self.phases_as_channels is not None else 1

    @property
    def matrices(self) -> Winograd:
        """The constants. Raises VerifyException where there are none for this window and tile."""
        window = [d.constant for d in self.dims(0)[2:]]
        if len(window) not in (2, 3) or None in window or window[-1] != window[-2]:
            raise VerifyException(f"a weight of windows that are square in an image is needed, not {self.weight.type}")
        return _matrices(self.tile.value.data, window[-1] or 0, self.stride.value.data, self.depth)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        require_f32(self)
        count = len(self.matrices.weight)
        filters, channels, *slices, _, _ = self.dims(0)
        taps = slices[0] if slices else const(1)
        return [tensor_type((filters, const(count), const(count), self.depth**2 * taps * channels), self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [w] = inputs
        w = stacked_weight(k, w) if len(w.dims) > IMAGE_RANK else w
        matrix, depth = self.matrices.weight, self.depth
        count, taps = len(matrix), len(matrix[0])
        filters, channels = w.dims[0], depth**2 * w.dims[1]

        def tap(o: Expr, c: Expr, s: Expr, t: Expr):
            c, *phases = _phases(c, w.dims[1], depth)
            at = [depth * i + phase for i, phase in zip((s, t), phases, strict=True)]
            inside = [less_than(i, e) for i, e in zip(at, w.dims[2:], strict=True)]
            return k.if_then_else(inside, lambda: w[o, c, *at], lambda: 0.0, f32) if depth > 1 else w[o, c, s, t]

        def rows(o: Expr, i: Expr, t: Expr, c: Expr):
            return combined(k, matrix, i, lambda s: tap(o, c, s, t))

        def element(o: Expr, i: Expr, j: Expr, c: Expr):
            return combined(k, matrix, j, lambda t: of_rows[o, i, t, c])

        of_rows = k.compute("weight_rows", (filters, count, taps, channels), rows)
        return k.compute("winograd_weight", (filters, count, count, channels), element)

    def evaluate(self, *inputs: Array) -> Array:
        [w] = inputs
        w = stack_weight(w) if w.ndim > IMAGE_RANK else w
        g = np.array(self.matrices.weight, np.float64)
        missing = self.depth * g.shape[1] - w.shape[2]
        w = _phases_as_channels(np.pad(w, [(0, 0), (0, 0), (0, missing), (0, missing)]), self.depth)
        filters, channels = w.shape[:2]
        both = np.kron(g, g)
        u = np.empty((filters, len(both), channels), w.dtype)
        for first in range(0, filters, _FILTERS_AT_ONCE):
            some = w[first : first + _FILTERS_AT_ONCE].astype(np.float64)
            u[first : first + _FILTERS_AT_ONCE] = both @ some.reshape(len(some), channels, -1).transpose(0, 2, 1)
        return u.reshape(filters, len(g), len(g), channels)


@irdl_op_definition
class WinogradConvOp(GraphOp):
    """graph.conv with dilation and group count 1, of a weight transformed by `graph.winograd_weight`.

    The input is cut into tiles that overlap, each of which makes `tile` x `tile` results: y = A^T [u * (B^T d B)] A,
    summed over channels. Windows move by `stride` along both axes. `pads` lists the padding with zeros in front of both
    axes, then behind them. With `phases_as_channels`, windows are as many times `stride` long as there are taps. With
    `counted`, a kernel counts the tiles of an image through, row after row, instead of rows and columns of them.
    `slices` is there where a third axis is, in front of the two: by how much windows move along it, their dilation, and
    the padding in front and behind.

    %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>}
        : (tensor<1x32x56x56xf32>, tensor<64x6x6x32xf32>) -> tensor<1x64x56x56xf32>
    """

    name = "graph.winograd_conv"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    tile = prop_def(IntegerAttr)
    stride = prop_def(IntegerAttr)
    pads = prop_def(DenseArrayBase.constr(i64))
    phases_as_channels = opt_prop_def(UnitAttr)
    counted = opt_prop_def(UnitAttr)
    slices = opt_prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def depth(self) -> int:
        """Pixels along each axis that become one."""
        return self.stride.value.data if self.phases_as_channels is not None else 1

    @property
    def slice_windows(self) -> Windows | None:
        """Along the third axis, if there is one. Raises VerifyException where `slices` does not fit the operands."""
        x, channels = self.dims(0), self.dims(1)[3]
        if self.slices is None:
            return None
        if len(self.slices) != 4:
            raise VerifyException(f"slices have a stride, a dilation and 2 pads, not {list(self.slices.get_values())}")
        stride, dilation, *pads = self.slices.get_values()
        taps = (channels.constant or 0) // (self.depth**2 * (x[1].constant or 1))
        return Windows.of([taps], ints([stride]), ints([dilation]), ints(pads))

    @property
    def move(self) -> int:
        """How many of the pixels that remain windows move by."""
        return self.stride.value.data // self.depth

    @property
    def window(self) -> int:
        """The number of taps along each axis."""
        return ((self.dims(1)[1].constant or 0) - (self.tile.value.data - 1) * self.move) * self.depth

    @property
    def step(self) -> int:
        """Elements of the image from tile to tile."""
        return self.tile.value.data * self.move

    @property
    def matrices(self) -> Winograd:
        """The constants. Raises VerifyException where there are none for this window and tile."""
        return _matrices(self.tile.value.data, self.window, self.stride.value.data, self.depth)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        require_f32(self)
        x, u = self.dims(0), self.dims(1)
        rank = IMAGE_RANK if self.slices is None else IMAGE_RANK + 1
        if len(x) != rank or len(u) != 4 or u[1] != u[2] or u[1].constant is None:
            types = " and ".join(map(str, self.operand_types))
            raise VerifyException(f"an image and a transformed weight are needed, not {types}")
        windows = self.slice_windows
        taps = windows.kernel[0] if windows else 1
        if self.depth**2 * taps * x[1] != u[3]:
            where = f" of {self.depth**2} phases" if self.depth > 1 else ""
            where += " in each slice" if windows else ""
            raise VerifyException(f"the input has {x[1]} channels{where}, the weight is for {u[3]}")
        if len(self.pads) != 4 or min(self.pads.get_values()) < 0:
            raise VerifyException(f"two axes need 4 pads, from 0 on, not {list(self.pads.get_values())}")
        _ = self.matrices
        sizes = self._sizes(x[-2:])
        if any(e.constant is not None and e.constant < 1 for e in sizes):
            raise VerifyException(f"a window of {self.window} does not fit into {x[-2]} x {x[-1]} with its padding")
        positions = windows.positions(x[2:3]) if windows else ()
        return [tensor_type((x[0], u[0], *positions, *sizes), self.dtype())]

    def _sizes(self, extents: Sequence[Expr]) -> list[Expr]:
        pads, stride = self.pads.get_values(), self.stride.value.data
        reached = (e + (a + b - self.window) for e, a, b in zip(extents, pads[:2], pads[2:], strict=True))
        return [e // stride + 1 for e in reached]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, u = inputs
        windows, images = self.slice_windows, x.dims[0]
        slices = windows.positions(x.dims[2:3]) if windows else ()
        x = stacked_image(k, x, windows) if windows else x
        m, step, matrices = self.tile.value.data, self.step, self.matrices
        count, batch, channels, filters = len(matrices.input), x.dims[0], u.dims[3], u.dims[0]
        sizes = self._sizes(x.dims[2:])
        grid = [ceildiv(e, m) for e in sizes]
        image = self._image(k, x, [t * step + (count - step) for t in grid])
        is_grid = self.counted is None
        tiles = batch, *(grid if is_grid else [product(grid)])
        axes = ("n", "p", "q") if is_grid else ("n", "t")

        def rows(n: Expr, *at: Expr):
            *tile, i, j, c = at
            p, q = tile if is_grid else (tile[0] // grid[1], tile[0] % grid[1])
            return combined(k, matrices.input, i, lambda s: image[n, p * step + s, q * step + j, c])

        def data(*at: Expr):
            *tile, i, j, c = at
            return combined(k, matrices.input, j, lambda t: of_rows[*tile, i, t, c])

        def multiplied(*at: Expr):
            *tile, i, j, o = at

            def term(c: Expr):
                return transformed[*tile, i, j, c] * u[o, i, j, c]

            return k.sum((channels,), term)

        def columns(*at: Expr):
            *tile, a, j, o = at
            return combined(k, matrices.output, a, lambda s: products[*tile, s, j, o])

        def result(n: Expr, y: Expr, x_: Expr, o: Expr):
            return combined(k, matrices.output, x_ % m, lambda t: of_columns[n, y // m, x_ // m, y % m, t, o])

        def result_of_tile(n: Expr, t: Expr, a: Expr, b: Expr, o: Expr):
            return combined(k, matrices.output, b, lambda s: of_columns[n, t, a, s, o])

        def stage(role: str, shape: Sequence[ExprLike], names: str, body: Callable[..., Any]):
            return k.compute(_stage(role), (*tiles, *shape), with_axes((*axes, *names), body), role=role)

        of_rows = stage(ROWS, (count, count, channels), "ijc", rows)
        transformed = stage(DATA, (count, count, channels), "ijc", data)
        products = stage(PRODUCT, (count, count, filters), "ijo", multiplied)
        of_columns = stage(COLUMNS, (m, count, filters), "ajo", columns)
        if is_grid:
            results = k.compute(_stage(RESULT), (batch, *(t * m for t in grid), filters), result, role=RESULT)
        else:
            results = stage(RESULT, (m, m, filters), "abo", result_of_tile)

        def element(n: Expr, o: Expr, *position: Expr):
            *z, y, x_ = position
            image = n * slices[0] + z[0] if slices else n
            place = (y, x_) if is_grid else (y // m * grid[1] + x_ // m, y % m, x_ % m)
            return results[image, *place, o]

        dims = (images, filters, *slices, *sizes)
        return k.compute("conv", dims, with_axes(spatial_axes(len(dims), ("n", "o")), element))

    def _image(self, k: KernelBuilder, x: Tensor, reach: Sequence[Expr]) -> Tensor:
        """The input with channels last, zeros around it as far as tiles reach."""
        batch, channels, *extents = x.dims
        pads, depth = self.pads.get_values()[:2], self.depth

        def element(n: Expr, y: Expr, x_: Expr, c: Expr):
            c, *phases = _phases(c, channels, depth)
            at = [depth * i + phase - pad for i, phase, pad in zip((y, x_), phases, pads, strict=True)]
            inside = [p for i, e in zip(at, extents, strict=True) for p in (at_least(i, 0), less_than(i, e))]
            return k.if_then_else(inside, lambda: x[n, c, *at], lambda: 0.0, x.dtype)

        return k.compute(_stage(IMAGE), (batch, *reach, depth**2 * channels), element, role=IMAGE)

    def evaluate(self, *inputs: Array) -> Array:
        x, u = inputs
        if (windows := self.slice_windows) is None:
            return self._of_images(x, u)
        return unstack(self._of_images(stack_image(x, windows), u), windows, x.shape[2])

    def _of_images(self, x: Array, u: Array) -> Array:
        m, step, matrices = self.tile.value.data, self.step, self.matrices
        at, bt = (np.array(matrix, x.dtype) for matrix in (matrices.output, matrices.input))
        sizes = [e.offset for e in self._sizes([const(e) for e in x.shape[2:]])]
        tiles = [-(-e // m) for e in sizes]
        pads = self.pads.get_values()[:2]
        reach = [t * step + len(bt) - step for t in tiles]
        whole = [r * self.depth for r in reach]
        widths = [(pad, max(r - pad - e, 0)) for pad, r, e in zip(pads, whole, x.shape[2:], strict=True)]
        image = np.pad(x, [(0, 0), (0, 0), *widths])[:, :, : whole[0], : whole[1]]
        image = _phases_as_channels(image, self.depth)
        windows = sliding_window_view(image, bt.shape, axis=(2, 3))[:, :, ::step, ::step]
        data = bt @ windows @ bt.T  # n, c, p, q, i, j
        product = np.einsum("ncpqij,oijc->nopqij", data, u, optimize=True)
        y = (at @ product @ at.T).transpose(0, 1, 2, 4, 3, 5)
        whole = y.reshape(*y.shape[:2], tiles[0] * m, tiles[1] * m)
        return np.ascontiguousarray(whole[..., : sizes[0], : sizes[1]])


def _stage(role: str) -> str:
    """The name of the stage with this role."""
    return role.replace(".", "_")


def _phases(c: Expr, channels: Expr, depth: int) -> tuple[Expr, Expr, Expr]:
    """The channel of the image, and the phases along both axes, that channel `c` of larger pixels is."""
    if depth == 1:
        return c, const(0), const(0)
    return c // depth % channels, c // depth // channels, c % depth


def _phases_as_channels(x: Array, depth: int) -> Array:
    """Blocks of depth x depth pixels as one; x: n, c, y, x, whose sizes are multiples of `depth`."""
    n, c, height, width = x.shape
    blocks = x.reshape(n, c, height // depth, depth, width // depth, depth)
    return blocks.transpose(0, 3, 1, 5, 2, 4).reshape(n, depth**2 * c, height // depth, width // depth)


def winograd_tiles(conv: ConvOp, products: int) -> list[int]:
    """The sizes of tiles with which `graph.winograd_conv` can do it, in at most so many products of each phase."""
    ones = all(n == 1 for n in (*conv.dilations.get_values()[-2:], conv.groups.value.data))
    x, w, strides = conv.dims(0), conv.dims(1), {*conv.strides.get_values()[-2:]}
    is_image = len(x) in (IMAGE_RANK, IMAGE_RANK + 1)
    if not ones or len(strides) > 1 or conv.dtype() != f32 or not is_image or w[1] == 0:
        return []
    [stride], window = strides, w[-1].constant or 0
    if w[-2] != w[-1] or window <= stride:  # no phase has more than one tap
        return []
    return [tile for tile in (2, 3, 4, 5, 6) if tile + -(-window // stride) - 1 <= products]


def _matrices(tile: int, window: int, stride: int, depth: int) -> Winograd:
    """The constants of F(tile, window), `depth` pixels being one. Raises VerifyException where there are none."""
    if not 1 <= stride <= window:
        raise VerifyException(f"windows of {window} that move by {stride}: by at least 1, and by no more than they are")
    if tile < 2 or window < 2 or tile + -(-window // stride) - 1 > MOST_PRODUCTS:
        apart = f" that move by {stride}" if stride > 1 else ""
        raise VerifyException(
            f"tiles of {tile} with windows of {window}{apart}: both are at least 2, "
            f"and tiles and taps of a phase together at most {MOST_PRODUCTS + 1}"
        )
    return winograd(tile, -(-window // depth), stride // depth)
