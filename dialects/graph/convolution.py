"""Convolution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import multiple_of
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.accumulation import factors, multiplied, product_type, rounded
from tilework.dialects.graph.base import Array, Category, GraphOp, SizesDiffer, numpy_dtype
from tilework.dialects.graph.windows import Windows, spatial_axes, with_axes
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Tensor


@irdl_op_definition
class ConvOp(GraphOp):
    """y[n, o, p...] = sum over c, t... of x[n, g(o) + c, p * stride + t * dilation - pad] * w[o, c, t...].

    x is [batch, channels, spatial...], w is [filters, channels / groups, window...]; filters of group j read the j-th
    share of the channels. `pads` lists the padding with zeros in front of every spatial axis, then behind every one.
    Products of bytes, ui8 or i8 and i8, are summed in i32. `words`: both operands are words of bytes, as `graph.words`
    makes.

    %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>,
        groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
    """

    name = "graph.conv"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    strides = prop_def(DenseArrayBase.constr(i64))
    pads = prop_def(DenseArrayBase.constr(i64))
    dilations = prop_def(DenseArrayBase.constr(i64))
    groups = prop_def(IntegerAttr)
    words = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def windows(self) -> Windows:
        """The sliding windows. Raises VerifyException where the attributes do not fit the weight."""
        kernel = [d.constant for d in self.dims(1)[2:]]
        if None in kernel:
            raise VerifyException(f"the window of a convolution is of constant size, the weight is {self.weight.type}")
        return Windows.of([n for n in kernel if n is not None], self.strides, self.dilations, self.pads)

    @property
    def is_pointwise(self) -> bool:
        """Whether windows are single elements, all of the input's, without padding: a convolution of one by one."""
        windows = self.windows
        return {*windows.kernel, *windows.strides} == {1} and not any((*windows.before, *windows.after))

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_numbers()
        dtype = product_type(self, self.words is not None)
        x, w = self.dims(0), self.dims(1)
        groups = self.groups.value.data
        if len(x) != len(w) or len(x) < 2:
            raise VerifyException(f"input and weight are of one rank, at least 2, not {len(x)} and {len(w)}")
        if groups < 1 or x[1] != w[1] * groups:
            what = f"{groups} group(s) of a weight for {w[1]} channels need {w[1] * groups}"
            raise SizesDiffer(x[1], w[1] * groups, f"the input has {x[1]} channels; {what}", (0, 1, w[1] * groups))
        if (w[0] % groups).constant not in (0, None):
            raise VerifyException(f"{w[0]} filters do not divide into {groups} groups")
        return [tensor_type((x[0], w[0], *self.windows.positions(x[2:])), dtype)]

    def requirements(self) -> Iterable[Requirement]:
        filters, groups = self.dims(1)[0], self.groups.value.data
        text = f"the {filters} filters of {self.title} do not divide into {groups} groups"
        yield Requirement.of(multiple_of(filters, groups), text)
        yield from self.windows_fit()

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, w = inputs
        windows, groups, rank = self.windows, self.groups.value.data, len(x.dims)
        filters, channels = w.dims[0] // groups, w.dims[1]
        image, apart = windows.pick(k, windows.pad(k, x, 0.0), x.dims[2:])
        depthwise = groups > 1 and channels == 1  # one channel a group: nothing to sum over
        reduced = w.dims[2:] if depthwise else w.dims[1:]
        taps = [f"r{axis}" for axis in spatial_axes(rank)[1:]]

        def element(n: Expr, o: Expr, *position: Expr):
            def term(*r: Expr):
                c, tap = (const(0), r) if depthwise else (r[0], r[1:])
                group = o // filters if groups > 1 else const(0)
                element = image[(n, group * channels + c, *apart.at(position, tap))]
                return multiplied(k, element, w[(o, c, *tap)], self.words is not None)

            return k.sum(reduced, with_axes(taps[1:] if depthwise else taps, term))

        dims = (x.dims[0], w.dims[0], *windows.positions(x.dims[2:]))
        total = k.compute("conv", dims, with_axes(spatial_axes(rank, ("n", "o")), element))
        return rounded(k, total, product_type(self, self.words is not None))

    def evaluate(self, *inputs: Array) -> Array:
        x, w = factors(*inputs, axis=1, words=self.words is not None)
        dtype = numpy_dtype(product_type(self, self.words is not None))
        groups, rank = self.groups.value.data, x.ndim - 2
        views = self.windows.views(x, 0)  # n, c, positions..., taps...
        positions = views.shape[2 : 2 + rank]
        order = (0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank))
        terms = int(np.prod(w.shape[1:]))
        columns = views.transpose(order).reshape(x.shape[0], groups, terms, int(np.prod(positions)))
        rows = w.reshape(groups, w.shape[0] // groups, terms)
        return np.matmul(rows, columns).reshape(x.shape[0], w.shape[0], *positions).astype(dtype, copy=False)
