"""An activation of networks that make sound: it repeats itself."""

import numpy as np
from xdsl.dialects.builtin import FloatAttr
from xdsl.irdl import irdl_op_definition, prop_def

from tilework.dialects.graph.base import Array
from tilework.dialects.graph.elementwise import UnaryOp
from tilework.dialects.te.builder import KernelBuilder, Scalar


@irdl_op_definition
class SnakeOp(UnaryOp):
    """x + sin(alpha * x)^2 / alpha."""

    name = "graph.snake"
    alpha = prop_def(FloatAttr)

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        wave = k.call("sin", x * self.alpha.value.data)
        return x + wave * wave / self.alpha.value.data

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        alpha = x.dtype.type(self.alpha.value.data)
        return x + np.sin(x * alpha) ** 2 / alpha
