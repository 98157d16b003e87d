"""Products of matrices by Strassen's algorithm: seven products of their quarters instead of eight, on several levels.

`graph.strassen_dense %x, (graph.strassen_weight %w)` is `graph.dense %x, %w`, and `graph.strassen_conv` is so to a
convolution of single elements, but for rounding. The sums of a parameter's quarters are computed once, in @prepare.
On two levels, products of quarters are computed by the same algorithm: 49 products of sixteenths. A weight has one axis
of seven sums for each level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType, f32, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ceildiv, const, maximum
from tilework.algebra.predicate import less_than
from tilework.algebra.strassen import DATA, OUTPUT, PRODUCTS, WEIGHT
from tilework.algebra.winograd import Matrix
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.graph.combination import combined, require_f32
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.windows import spatial_axes, with_axes
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor

SUMS, PRODUCT, RESULT = ROLES = "strassen.data", "strassen.product", "strassen.result"
"""The stages of a product: sums of quarters, their products, and sums of these."""


@irdl_op_definition
class StrassenWeightOp(GraphOp):
    """u[o, p, c]: the p-th sum of quarters of w[o, c]; on two levels u[o, p, q, c], the q-th sum of those of a sum.

    The weight of graph.dense, or of a graph.conv whose windows are single elements.

    %u = graph.strassen_weight %w {levels = 1 : i64} : (tensor<64x32xf32>) -> tensor<32x7x16xf32>
    """

    name = "graph.strassen_weight"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    weight = operand_def(TensorType)
    levels = prop_def(IntegerAttr.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        require_f32(self)
        w, parts = self.dims(0), 2**self._levels
        if self._levels < 1:
            raise VerifyException(f"there are levels from 1 on, not {self._levels}")
        if len(w) < 2 or any(d != const(1) for d in w[2:]):
            raise VerifyException(f"the weight of a layer or of single elements is needed, not {self.weight.type}")
        if not _are_multiples(w[:2], parts):
            raise VerifyException(
                f"numbers of outputs and inputs that {parts} divides are needed, not {self.weight.type}"
            )
        return [tensor_type(self._sizes(w), self.dtype())]

    @property
    def _levels(self) -> int:
        return self.levels.value.data

    def _sizes(self, w: Sequence[Expr]) -> tuple[Expr, ...]:
        parts = 2**self._levels
        return (w[0] // parts, *[const(PRODUCTS)] * self._levels, w[1] // parts)

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [w] = inputs
        zeros = [const(0)] * len(w.dims[2:])
        filters, *_, channels = self._sizes(w.dims)
        depth = self._levels

        def quarters(o: Expr, *at: Expr):
            *numbers, c = at
            filter_, channel = _place([t % 2 for t in numbers]), _place([t // 2 for t in numbers])
            return w[(filter_ * filters + o, channel * channels + c, *zeros)]

        def stage(level: int, before: Callable[..., Scalar]) -> Tensor:
            row = with_axes(["o", *_numbers(depth), "c"], _rows(k, WEIGHT, 1 + level, before))
            name = _stage(role_of("strassen.weight", depth - 1 - level))
            return k.compute(name, (filters, *_counts(level + 1, depth), channels), row)

        made = stage(0, quarters)
        for level in range(1, depth):
            made = stage(level, partial(_element, made))
        return made

    def evaluate(self, *inputs: Array) -> Array:
        [w] = inputs
        filters, channels = w.shape[:2]
        u = w.reshape(filters, 1, channels)  # with an axis of all sums so far
        for level in range(self._levels):
            filters, channels = filters // 2, channels // 2
            halves = u.reshape(2, filters, PRODUCTS**level, 2, channels).transpose(3, 0, 1, 2, 4)
            sums = np.tensordot(np.array(WEIGHT, w.dtype), halves.reshape(4, filters, -1, channels), 1)
            u = sums.transpose(1, 2, 0, 3).reshape(filters, -1, channels)
        return np.ascontiguousarray(u.reshape(filters, *[PRODUCTS] * self._levels, channels))


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
        return [tensor_type((*x[:-1], u[0] * _parts_of_weight(self, x[-1])), self.dtype())]

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
        filters = u[0] * _parts_of_weight(self, x[1])
        return [tensor_type((x[0], filters, *self._sizes(x[2:])), self.dtype())]

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


def can_use_strassen(product: ConvOp | DenseOp, levels: int) -> bool:
    """Whether `graph.strassen_conv` or `graph.strassen_dense` can compute it, on so many levels."""
    if product.dtype(0) != f32 or product.dtype(1) != f32 or const(0) in (*product.dims(0), *product.dims(1)):
        return False
    if not _are_multiples(product.dims(1)[:2], 2**levels):
        return False
    if isinstance(product, DenseOp):
        return len(product.dims(0)) > 1
    plain = all(n == 0 for n in product.pads.get_values()) and product.groups.value.data == 1
    return plain and len(product.dims(1)) == 4 and product.dims(1)[2:] == (const(1), const(1))


def _are_multiples(dims: Sequence[Expr], of: int) -> bool:
    return all(d.constant is not None and d.constant % of == 0 for d in dims)


def _parts_of_weight(op: GraphOp, channels: Expr) -> int:
    """Into how many parts rows, inputs and outputs are cut."""
    u = op.dims(1)
    if len(u) < 3 or any(d != const(PRODUCTS) for d in u[1:-1]):
        raise VerifyException(f"a weight with {PRODUCTS} sums of quarters is needed, not {op.operand_types[1]}")
    parts = 2 ** (len(u) - 2)
    if u[-1] * parts != channels:
        raise VerifyException(f"the input has {channels} channels, the weight is for {u[-1] * parts}")
    return parts


def _product(k: KernelBuilder, batch: Sequence[Expr], rows: Expr, u: Tensor, element: Callable[..., Scalar]) -> Tensor:
    """[*batch, rows, outputs] of the matrices `element`(*batch, row, c), every second row being in the lower quarters.

    Of these, every second one is in theirs. So cores that share rows of the quarters share them of the matrix. Missing
    rows at the end are zeros. Sums of a row lie side by side, so that no core reads ahead into those of another.
    """
    filters, *levels, channels = u.dims
    depth, first = len(levels), len(batch)
    parts = 2**depth
    height = maximum(ceildiv(rows, parts), 1)  # no rows have quarters too
    padded = height * parts != rows
    *names, i, o = _axes(first + 2)

    def stage(
        part: str, left: int, dims: Sequence[Expr], axes: Sequence[str], body: Callable[..., Scalar | Reduction]
    ) -> Tensor:
        role = role_of(part, left)
        return k.compute(_stage(role), (*batch, *dims), with_axes([*names, *axes], body), role=role)

    def quarters(*at: Expr):
        b, row, numbers, c = at[:first], parts * at[first], at[first + 1 : -1], at[-1]
        row += _place([s // 2 for s in reversed(numbers)])

        def read():
            return element(*b, row, _place([s % 2 for s in numbers]) * channels + c)

        return k.if_then_else([less_than(row, rows)], read, lambda: 0.0, f32) if padded else read()

    data: Callable[..., Scalar] = quarters
    for level in range(depth):
        dims = (height, *_counts(level + 1, depth), channels)
        row = _rows(k, DATA, first + 1 + level, data)
        data = partial(_element, stage(SUMS, depth - 1 - level, dims, [i, *_numbers(depth), "c"], row))

    def product(*at: Expr):
        b, products, (i, o) = at[:first], at[first:-2], at[-2:]

        def term(c: Expr):
            return data(*b, i, *products, c) * u[(o, *products, c)]

        return k.sum((channels,), term)

    dims = (*levels, height, filters)
    results = partial(_element, stage(PRODUCT, 0, dims, [*_numbers(depth), i, o], product))
    for level in reversed(range(1, depth)):
        dims = (*_counts(level, depth), height, filters)
        row = _rows(k, OUTPUT, first + level, results)
        results = partial(_element, stage(RESULT, level, dims, [*_numbers(depth), i, o], row))

    def result(*at: Expr):
        *b, i, o = at
        lower = [i % parts // 2**level % 2 for level in range(depth)]
        right = [o // filters // 2**level % 2 for level in reversed(range(depth))]
        numbers = [2 * below + beside for below, beside in zip(lower, right, strict=True)]
        return _rows(k, OUTPUT, first, results)(*b, *numbers, i // parts, o % filters)

    return stage(RESULT, 0, (rows, filters * parts), [i, o], result)


def _element(tensor: Tensor, *at: Expr) -> Scalar:
    return tensor[at]


def _rows(k: KernelBuilder, matrix: Matrix, level: int, term: Callable[..., Scalar]) -> Callable[..., Scalar]:
    """Combine the terms that differ in one index as the row `at[level]` of the matrix says."""

    def row(*at: Expr):
        return combined(k, matrix, at[level], lambda t: term(*at[:level], t, *at[level + 1 :]))

    return row


def _counts(products: int, levels: int) -> list[Expr]:
    """How many sums there are on the first levels, and quarters on the others."""
    return [const(PRODUCTS if level < products else 4) for level in range(levels)]


def role_of(part: str, left: int = 0) -> str:
    """The role of a stage with so many levels to follow, given that of the one with none."""
    return f"{part}.{left}" if left else part


def _stage(role: str) -> str:
    """The name of the stage with this role."""
    return role.replace(".", "_")


def _place(halves: Sequence[Expr]) -> Expr:
    """The number of a part, given in which half it lies of what, level by level."""
    total = const(0)
    for half in halves:
        total = 2 * total + half
    return total


def _numbers(levels: int) -> list[str]:
    return ["p", *(f"p{level}" for level in range(1, levels))]


def _axes(rank: int) -> list[str]:
    return [*(f"b{axis}" for axis in range(rank - 2)), "i", "o"]


def _evaluated(x: Array, u: Array) -> Array:
    """Evaluate the algorithm for rows [..., i, c]."""
    if u.ndim == 2:
        return x @ u.T
    rows, half, channels = x.shape[-2], -(-x.shape[-2] // 2), x.shape[-1] // 2
    padded = np.zeros((*x.shape[:-2], 2 * half, 2 * channels), x.dtype)
    padded[..., :rows, :] = x
    quarters = padded.reshape(*x.shape[:-2], half, 2, 2, channels)
    lead = x.ndim - 2
    quarters = np.moveaxis(quarters, (lead + 1, lead + 2), (0, 1)).reshape(4, *x.shape[:-2], half, channels)
    data = np.tensordot(np.array(DATA, x.dtype), quarters, 1)
    product = np.stack([_evaluated(d, u[:, p]) for p, d in enumerate(data)])
    result = np.tensordot(np.array(OUTPUT, x.dtype), product, 1)
    joined = np.moveaxis(result.reshape(2, 2, *result.shape[1:]), (0, 1), (lead + 1, lead + 2))
    return np.ascontiguousarray(joined.reshape(*x.shape[:-2], 2 * half, 2 * product.shape[-1])[..., :rows, :])
