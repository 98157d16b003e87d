"""The activation of audio networks that repeats itself."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import FloatAttr
from xdsl.irdl import irdl_op_definition, prop_def

from tilework.dialects.graph.base import Array
from tilework.dialects.graph.elementwise import UnaryOp
from tilework.dialects.te.builder import KernelBuilder, Scalar


@irdl_op_definition
class SnakeOp(UnaryOp):
    """x + sin(alpha * x)^2 / alpha.

    %y = graph.snake %x {alpha = 2.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
    """

    name = "graph.snake"
    alpha = prop_def(FloatAttr)

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        alpha = self.alpha.value.data
        wave = k.call("sin", x * alpha)
        return x + wave * wave * (1 / alpha)

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        alpha = x.dtype.type(self.alpha.value.data)
        return x + np.sin(alpha * x) ** 2 / alpha
