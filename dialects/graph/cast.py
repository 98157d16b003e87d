"""Conversion between element types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, StringAttr, TensorType, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.graph.base import Array, Category, GraphOp, numpy_dtype
from tilework.dialects.graph.bits import rounding_of
from tilework.dialects.graph.narrow import is_narrow, narrowed
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Tensor


@irdl_op_definition
class CastOp(GraphOp):
    """The elements as numbers of type `to`. Towards an integer, fractions are cut off; what does not fit is some
    number.

    i1 is 0 or 1; every number but zero, NaN included, is 1 as an i1. Towards the types of `narrow`, `saturate` and
    `rounding` are those of `graph.encode`, and integers keep their lowest bits.

    %y = graph.cast %x {to = f16} : (tensor<8xf32>) -> tensor<8xf16>
    """

    name = "graph.cast"
    CATEGORY: ClassVar[Category] = Category.ELEMENTWISE
    input = operand_def(TensorType)
    to = prop_def(Attribute)
    saturate = opt_prop_def(UnitAttr)
    rounding = opt_prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        for type_ in (self.dtype(), self.to):
            if not isinstance(type_, AnyFloat | IntegerType):
                raise VerifyException(f"{self.name} converts floating-point and integer types, not {type_}")
        if (self.saturate or self.rounding) and not is_narrow(self.to):
            raise VerifyException(f"{self.name} saturates and rounds towards narrow types alone, not {self.to}")
        return [tensor_type(self.dims(0), self.to)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        return k.compute("cast", x.dims, lambda *i: k.cast(x[i], self.to))

    def evaluate(self, *inputs: Array) -> Array:
        with np.errstate(invalid="ignore"):
            if is_narrow(self.to):
                return narrowed(inputs[0], self.to, self.saturate is not None, rounding_of(self.rounding))
            return inputs[0].astype(numpy_dtype(self.to))
