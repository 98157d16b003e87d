"""Conversion between element types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tilework.dialects import arith
from tilework.dialects.graph.base import Array, Category, GraphOp, numpy_dtype
from tilework.dialects.shapes import tensor_type
from tilework.dialects.te_builder import KernelBuilder, Scalar, Tensor


@irdl_op_definition
class CastOp(GraphOp):
    """The elements as numbers of type `to`. Towards an integer, fractions are cut off; what does not fit is undefined.

    i1 is 0 or 1; every number but zero, NaN included, is 1 as an i1.

    %y = graph.cast %x {to = f16} : (tensor<8xf32>) -> tensor<8xf16>
    """

    name = "graph.cast"
    CATEGORY: ClassVar[Category] = Category.ELEMENTWISE
    input = operand_def(TensorType)
    to = prop_def(Attribute)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        for type_ in (self.dtype(), self.to):
            signless = isa(type_, IntegerType) and type_ == IntegerType(type_.width.data)
            if not signless and not isinstance(type_, AnyFloat):
                raise VerifyException(f"{self.name} converts floating-point and signless integer types, not {type_}")
        return [tensor_type(self.dims(0), self.to)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        if x.dtype == self.to:
            return k.compute("cast", x.dims, lambda *i: x[i])
        return k.compute("cast", x.dims, lambda *i: self._convert(k, x[i]))

    def _convert(self, k: KernelBuilder, x: Scalar) -> Scalar:
        source = x.value.type
        if self.to == i1:
            zero = k.constant(0, source).value
            is_float = isinstance(source, AnyFloat)
            return k.insert(arith.CmpfOp(x.value, zero, "une") if is_float else arith.CmpiOp(x.value, zero, "ne"))
        return k.insert(_conversion(x.value, source, self.to))

    def evaluate(self, *inputs: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return inputs[0].astype(numpy_dtype(self.to))


def _conversion(value: SSAValue, source: Attribute, to: Attribute) -> Operation:
    """The `arith` operation between two different types, the second of which is not i1."""
    if isinstance(source, AnyFloat) and isinstance(to, AnyFloat):
        return arith.ExtFOp(value, to) if to.bitwidth > source.bitwidth else arith.TruncFOp(value, to)
    if isinstance(source, AnyFloat):
        assert isa(to, IntegerType)
        return arith.FPToSIOp(value, to)
    assert isa(source, IntegerType)
    if isinstance(to, AnyFloat):
        return arith.UIToFPOp(value, to) if source == i1 else arith.SIToFPOp(value, to)
    assert isa(to, IntegerType)
    if to.bitwidth < source.bitwidth:
        return arith.TruncIOp(value, to)
    return arith.ExtUIOp(value, to) if source == i1 else arith.ExtSIOp(value, to)
