"""Element-wise operators of one operand."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.te_builder import KernelBuilder, Scalar, Tensor


class UnaryOp(GraphOp, ABC):
    """The same scalar function at every element."""

    CATEGORY: ClassVar = Category.ELEMENTWISE
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        assert isinstance(self.input.type, TensorType)
        return [self.input.type]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        return k.compute(self.name.removeprefix("graph."), x.dims, lambda *i: self.scalar(k, x[i]))

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        """The function of one element."""
        raise NotImplementedError


@irdl_op_definition
class ReluOp(UnaryOp):
    """max(x, 0); NaN stays NaN."""

    name = "graph.relu"

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        return k.max(x, 0.0)

    def evaluate(self, *inputs: Array) -> Array:
        return np.maximum(inputs[0], inputs[0].dtype.type(0))
