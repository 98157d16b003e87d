"""Quantized weights, whose rows are blocks of integers that have a scale each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType, f32, i8, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ceildiv
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Tensor

BITS = (2, 4, 8)
"""How many bits a quantized number has."""


class QuantizedBlocksOp(GraphOp):
    """Base of the operators on a matrix q of integers of i8, whose rows are blocks: q[j, k] stands for (q[j, k] -
    zero[j, b]) * scale[j, b], where b = k // block.

    Integers are those of so many `bits`, from -2^(bits - 1) on. Without a zero point, that is 0.
    """

    numbers = operand_def(TensorType)
    scale = operand_def(TensorType)
    zero = opt_operand_def(TensorType)
    bits = prop_def(IntegerAttr.constr(i64))
    block = prop_def(IntegerAttr.constr(i64))

    def require_blocks(self) -> tuple[Expr, Expr]:
        """How many rows and columns the matrix has. Raises VerifyException where it is none of such blocks."""
        bits, block, dims = self.bits.value.data, self.block.value.data, self.dims(0)
        if bits not in BITS or block < 1:
            raise VerifyException(f"numbers have 2, 4 or 8 bits, and blocks have some, not {bits} bits by {block}")
        if self.dtype(0) != i8 or len(dims) != 2:
            raise VerifyException(f"the numbers of a quantized weight are a matrix of i8, not {self.operands[0].type}")
        expected = tensor_type((dims[0], ceildiv(dims[1], block)), f32)
        for operand in self.operands[1:]:
            if operand.type != expected:
                raise VerifyException(f"blocks of {block} have numbers of {expected}, not of {operand.type}")
        return dims[0], dims[1]


@irdl_op_definition
class DequantizeOp(QuantizedBlocksOp):
    """w[j, k] = (q[j, k] - zero[j, k // block]) * scale[j, k // block]: what quantized numbers in blocks stand for.

    %w = graph.dequantize %q, %scale, %zero {bits = 4 : i64, block = 32 : i64}
        : (tensor<8x64xi8>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x64xf32>
    """

    name = "graph.dequantize"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        return [tensor_type(self.require_blocks(), f32)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        q, scale, *zero = inputs
        block = self.block.value.data

        def element(j: Expr, c: Expr):
            number = k.cast(q[j, c], f32)
            for z in zero:
                number = number - z[j, c // block]
            return number * scale[j, c // block]

        return k.compute("dequantize", q.dims, element)

    def evaluate(self, *inputs: Array) -> Array:
        q, *by_block = inputs
        scale, *zero = (np.repeat(a, self.block.value.data, axis=1)[:, : q.shape[1]] for a in by_block)
        number = q.astype(np.float32)
        for z in zero:
            number -= z
        return number * scale
