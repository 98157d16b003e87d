"""Products of matrices by Strassen's algorithm: seven products of their quarters instead of eight.

`graph.strassen_dense %x, (graph.strassen_weight %w)` is `graph.dense %x, %w`, and `graph.strassen_conv` is so to a
convolution of single elements, but for rounding. The sums of a parameter's quarters are computed once, in @prepare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, TensorType, f32, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ceildiv, const, maximum
from tilework.algebra.predicate import less_than
from tilework.algebra.strassen import DATA, OUTPUT, PRODUCTS, WEIGHT
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.graph.combination import combined, require_f32
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.windows import spatial_axes, with_axes
from tilework.dialects.shapes import tensor_type
from tilework.dialects.te_builder import KernelBuilder, Scalar, Tensor


@irdl_op_definition
class StrassenWeightOp(GraphOp):
    """u[o, p, c]: the p-th sum of quarters of w[o, c]; the first axis of the product's weight matrix is c.

    The weight of graph.dense, or of a graph.conv whose windows are single elements.

    %u = graph.strassen_weight %w : (tensor<64x32xf32>) -> tensor<32x7x16xf32>
    """

    name = "graph.strassen_weight"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        require_f32(self)
        w = self.dims(0)
        if len(w) < 2 or any(d != const(1) for d in w[2:]):
            raise VerifyException(f"the weight of a layer or of single elements is needed, not {self.weight.type}")
        if not _is_even(w):
            raise VerifyException(f"a weight with even numbers of outputs and inputs is needed, not {self.weight.type}")
        filters, channels = w[:2]
        return [tensor_type((filters // 2, const(PRODUCTS), channels // 2), self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [w] = inputs
        filters, channels, *window = w.dims
        zeros = [const(0)] * len(window)

        def element(o: Expr, p: Expr, c: Expr):
            def quarter(t: Expr):
                return w[(t % 2 * (filters // 2) + o, t // 2 * (channels // 2) + c, *zeros)]

            return combined(k, WEIGHT, p, quarter)

        return k.compute("strassen_weight", (filters // 2, const(PRODUCTS), channels // 2), element)

    def evaluate(self, *inputs: Array) -> Array:
        [w] = inputs
        filters, channels = w.shape[:2]
        halves = w.reshape(2, filters // 2, 2, channels // 2).transpose(2, 0, 1, 3)
        quarters = halves.reshape(4, filters // 2, channels // 2)
        sums = np.tensordot(np.array(WEIGHT, w.dtype), quarters, 1)
        return np.ascontiguousarray(sums.transpose(1, 0, 2))


@irdl_op_definition
class StrassenDenseOp(GraphOp):
    """graph.dense of a weight whose quarters `graph.strassen_weight` has summed.

    %y = graph.strassen_dense %x, %u : (tensor<12x32xf32>, tensor<32x7x16xf32>) -> tensor<12x64xf32>
    """

    name = "graph.strassen_dense"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        require_f32(self)
        x, u = self.dims(0), self.dims(1)
        if len(x) < 2:
            raise VerifyException(f"rows are multiplied, not a tensor of rank {len(x)}")
        _require_weight(self, x[-1])
        return [tensor_type((*x[:-1], u[0] * 2), self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, u = inputs
        *batch, rows, _ = x.dims
        product = _product(k, batch, rows, u, lambda *at: x[at])
        return k.compute("dense", product.dims, with_axes(_axes(len(x.dims)), lambda *at: product[at]))

    def evaluate(self, *inputs: Array) -> Array:
        x, u = inputs
        return _evaluated(x, u)


@irdl_op_definition
class StrassenConvOp(GraphOp):
    """graph.conv of two axes without padding, dilation or groups, of single elements `strides` apart.

    Its weight is one whose quarters `graph.strassen_weight` has summed.

    %y = graph.strassen_conv %x, %u {strides = array<i64: 1, 1>}
        : (tensor<1x32x3x4xf32>, tensor<32x7x16xf32>) -> tensor<1x64x3x4xf32>
    """

    name = "graph.strassen_conv"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    strides = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        require_f32(self)
        x, u = self.dims(0), self.dims(1)
        if len(x) != 4:
            raise VerifyException(f"an image of two axes is needed, not {self.input.type}")
        if len(self.strides) != 2 or min(self.strides.get_values()) < 1:
            raise VerifyException(f"two axes need 2 strides, from 1 on, not {list(self.strides.get_values())}")
        _require_weight(self, x[1])
        return [tensor_type((x[0], u[0] * 2, *self._sizes(x[2:])), self.dtype())]

    def _sizes(self, extents: Sequence[Expr]) -> list[Expr]:
        return [ceildiv(e, s) for e, s in zip(extents, self.strides.get_values(), strict=True)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, u = inputs
        down, across = self.strides.get_values()
        height, width = self._sizes(x.dims[2:])

        def pixel(n: Expr, i: Expr, c: Expr):
            return x[n, c, i // width * down, i % width * across]

        product = _product(k, [x.dims[0]], height * width, u, pixel)

        def element(n: Expr, o: Expr, y: Expr, x_: Expr):
            return product[n, y * width + x_, o]

        dims = (x.dims[0], product.dims[-1], height, width)
        return k.compute("conv", dims, with_axes(spatial_axes(4, ("n", "o")), element))

    def evaluate(self, *inputs: Array) -> Array:
        x, u = inputs
        down, across = self.strides.get_values()
        image = x[:, :, ::down, ::across]
        rows = image.reshape(*image.shape[:2], prod(image.shape[2:])).transpose(0, 2, 1)
        y = _evaluated(rows, u).transpose(0, 2, 1)
        return np.ascontiguousarray(y).reshape(*y.shape[:2], *image.shape[2:])


def can_use_strassen(product: ConvOp | DenseOp) -> bool:
    """Whether `graph.strassen_conv` or `graph.strassen_dense` can compute it."""
    if product.dtype() != f32 or not _is_even(product.dims(1)) or const(0) in (*product.dims(0), *product.dims(1)):
        return False
    if isinstance(product, DenseOp):
        return len(product.dims(0)) > 1
    plain = all(n == 0 for n in product.pads.get_values()) and product.groups.value.data == 1
    return plain and len(product.dims(1)) == 4 and product.dims(1)[2:] == (const(1), const(1))


def _is_even(weight: Sequence[Expr]) -> bool:
    return all(d.constant is not None and d.constant % 2 == 0 for d in weight[:2])


def _require_weight(op: GraphOp, channels: Expr) -> None:
    u = op.dims(1)
    if len(u) != 3 or u[1] != const(PRODUCTS):
        raise VerifyException(f"a weight with {PRODUCTS} sums of quarters is needed, not {op.operand_types[1]}")
    if u[2] * 2 != channels:
        raise VerifyException(f"the input has {channels} channels, the weight is for {u[2] * 2}")


def _product(k: KernelBuilder, batch: Sequence[Expr], rows: Expr, u: Tensor, element: Callable[..., Scalar]) -> Tensor:
    """[*batch, rows, outputs] of the matrices `element`(*batch, row, c), every second row being in the lower quarters.

    So cores that share rows of the quarters share them of the matrix. An odd row at the end is paired with zeros.
    """
    filters, channels = u.dims[0], u.dims[2]
    half = maximum(ceildiv(rows, 2), 1)  # no rows have quarters too
    padded = half * 2 != rows

    def data(*at: Expr):
        *b, p, i, c = at

        def quarter(s: Expr):
            row = 2 * i + s // 2
            read = partial(element, *b, row, s % 2 * channels + c)
            return k.if_then_else([less_than(row, rows)], read, lambda: 0.0, f32) if padded else read()

        return combined(k, DATA, p, quarter)

    def product(*at: Expr):
        *b, p, i, o = at

        def term(c: Expr):
            return transformed[(*b, p, i, c)] * u[o, p, c]

        return k.sum((channels,), term)

    def result(*at: Expr):
        *b, i, o = at
        quarter = i % 2 * 2 + o // filters
        return combined(k, OUTPUT, quarter, lambda p: products[(*b, p, i // 2, o % filters)])

    *names, i, o = _axes(len(batch) + 2)
    dims = (*batch, const(PRODUCTS), half)
    transformed = k.compute("strassen_data", (*dims, channels), with_axes([*names, "p", i, "c"], data))
    products = k.compute("strassen_product", (*dims, filters), with_axes([*names, "p", i, o], product))
    return k.compute("strassen_result", (*batch, rows, filters * 2), with_axes([*names, i, o], result))


def _axes(rank: int) -> list[str]:
    return [*(f"b{axis}" for axis in range(rank - 2)), "i", "o"]


def _evaluated(x: Array, u: Array) -> Array:
    """Of rows [..., i, c]."""
    rows, half, channels = x.shape[-2], -(-x.shape[-2] // 2), u.shape[2]
    padded = np.zeros((*x.shape[:-2], 2 * half, 2 * channels), x.dtype)
    padded[..., :rows, :] = x
    quarters = padded.reshape(*x.shape[:-2], half, 2, 2, channels)
    lead = x.ndim - 2
    quarters = np.moveaxis(quarters, (lead + 1, lead + 2), (0, 1)).reshape(4, *x.shape[:-2], half, channels)
    data = np.tensordot(np.array(DATA, x.dtype), quarters, 1)
    product = np.stack([d @ u[:, p].T for p, d in enumerate(data)])
    result = np.tensordot(np.array(OUTPUT, x.dtype), product, 1)
    joined = np.moveaxis(result.reshape(2, 2, *result.shape[1:]), (0, 1), (lead + 1, lead + 2))
    return np.ascontiguousarray(joined.reshape(*x.shape[:-2], 2 * half, 2 * u.shape[0])[..., :rows, :])
