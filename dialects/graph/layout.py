"""Operators that change the order of elements in memory and nothing else: pack, unpack.

`graph.unpack(graph.pack(x)) = x`. A pack of a parameter is done once, in @prepare; an unpack costs nothing inside the
kernel that reads its result, where it is arithmetic on indices that a loop over the blocks makes disappear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import const
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.shapes import dims_of, tensor_type
from tilework.dialects.te_builder import KernelBuilder, Tensor


@irdl_op_definition
class PackOp(GraphOp):
    """Cut `axis` into blocks, and put the place inside a block last: as linalg.pack with one inner tile.

    Element [o, i] of the input becomes [o floordiv 16, i, o mod 16]. The block divides the size.

    %p = graph.pack %w {axis = 0 : i64, block = 16 : i64} : (tensor<32x64xf32>) -> tensor<2x64x16xf32>
    """

    name = "graph.pack"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    block = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        dims, block = self.dims(0), self.block.value.data
        axis = _checked(self.axis.value.data, len(dims))
        size = dims[axis].constant
        if block < 1 or size is None or size % block:
            raise VerifyException(f"blocks of {block} do not divide axis {axis} of size {dims[axis]}")
        return [tensor_type([*dims[:axis], const(size // block), *dims[axis + 1 :], const(block)], self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        axis, block = self.axis.value.data, self.block.value.data
        [type_] = self.infer()
        return k.compute("pack", dims_of(type_), lambda *i: x[(*i[:axis], i[axis] * block + i[-1], *i[axis + 1 : -1])])

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        axis, block = self.axis.value.data, self.block.value.data
        blocks = x.reshape(*x.shape[:axis], x.shape[axis] // block, block, *x.shape[axis + 1 :])
        return np.ascontiguousarray(np.moveaxis(blocks, axis + 1, -1))


@irdl_op_definition
class UnpackOp(GraphOp):
    """Undo `graph.pack`: the last axis goes back into `axis`.

    %w = graph.unpack %p {axis = 0 : i64} : (tensor<2x64x16xf32>) -> tensor<32x64xf32>
    """

    name = "graph.unpack"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        dims = self.dims(0)
        if not dims or dims[-1].constant is None:
            raise VerifyException(f"the last axis is one of blocks, of constant size; this is {self.operands[0].type}")
        axis = _checked(self.axis.value.data, len(dims) - 1)
        return [tensor_type([*dims[:axis], dims[axis] * dims[-1], *dims[axis + 1 : -1]], self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [p] = inputs
        axis, block = self.axis.value.data, p.dims[-1]
        [type_] = self.infer()
        return k.compute(
            "unpack", dims_of(type_), lambda *i: p[(*i[:axis], i[axis] // block, *i[axis + 1 :], i[axis] % block)]
        )

    def evaluate(self, *inputs: Array) -> Array:
        [p] = inputs
        axis = self.axis.value.data
        blocks = np.moveaxis(p, -1, axis + 1)
        size = p.shape[axis] * p.shape[-1]
        return np.ascontiguousarray(blocks.reshape(*p.shape[:axis], size, *p.shape[axis + 1 : -1]))


def _checked(axis: int, rank: int) -> int:
    if not 0 <= axis < rank:
        raise VerifyException(f"the unpacked tensor has axes 0 to {rank - 1}, not {axis}")
    return axis
