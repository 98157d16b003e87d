"""Element-wise operators of one operand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import FloatAttr, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.error_function import erf
from tilework.dialects.graph.accumulation import widened, widened_array
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor


class UnaryOp(GraphOp, ABC):
    """The same scalar function at every element."""

    CATEGORY: ClassVar[Category] = Category.ELEMENTWISE
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_float()
        return [self.operand_type(0)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        return k.compute(self.label, x.dims, lambda *i: self.scalar(k, x[i]))

    @abstractmethod
    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        """The function of one element."""


@irdl_op_definition
class LeakyReluOp(UnaryOp):
    """x where x >= 0, else alpha * x.

    %y = graph.leaky_relu %x {alpha = 0.01 : f32} : (tensor<8xf32>) -> tensor<8xf32>
    """

    name = "graph.leaky_relu"
    alpha = prop_def(FloatAttr)

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        return k.select(x.compare("lt", 0.0), x * self.alpha.value.data, x)

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        return np.where(x < 0, x * x.dtype.type(self.alpha.value.data), x)


@irdl_op_definition
class EluOp(UnaryOp):
    """x where x >= 0, else alpha * (exp(x) - 1)."""

    name = "graph.elu"
    alpha = prop_def(FloatAttr)

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        wide = widened(k, x)
        below = (k.call("exp", wide) - 1.0) * self.alpha.value.data
        return k.cast(k.select(wide.compare("lt", 0.0), below, wide), x.dtype)

    def evaluate(self, *inputs: Array) -> Array:
        [x] = map(widened_array, inputs)
        result = np.where(x < 0, (np.exp(x) - 1) * x.dtype.type(self.alpha.value.data), x)
        return result.astype(inputs[0].dtype, copy=False)


@irdl_op_definition
class ClipOp(UnaryOp):
    """min(max(x, low), high), where a bound that is absent does not bind; NaN stays NaN.

    %y = graph.clip %x {low = 0.0 : f32, high = 6.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
    """

    name = "graph.clip"
    low = opt_prop_def(FloatAttr)
    high = opt_prop_def(FloatAttr)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        for bound in (self.low, self.high):
            if bound is not None and bound.type != self.dtype():
                raise VerifyException(f"bounds are of the elements' type, {self.dtype()}, not {bound.type}")
        return super().infer()

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        x = x if self.low is None else k.max(x, self.low.value.data)
        return x if self.high is None else k.min(x, self.high.value.data)

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        x = x if self.low is None else np.maximum(x, x.dtype.type(self.low.value.data))
        return x if self.high is None else np.minimum(x, x.dtype.type(self.high.value.data))


@irdl_op_definition
class SigmoidOp(UnaryOp):
    """1 / (1 + exp(-x))."""

    name = "graph.sigmoid"

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        return k.cast(1.0 / (k.call("exp", -widened(k, x)) + 1.0), x.dtype)

    def evaluate(self, *inputs: Array) -> Array:
        return (1 / (np.exp(-widened_array(inputs[0])) + 1)).astype(inputs[0].dtype, copy=False)


class NumberOp(UnaryOp, ABC):
    """A function of integers too."""

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_numbers()
        return [self.operand_type(0)]


@irdl_op_definition
class ReluOp(NumberOp):
    """max(x, 0); NaN stays NaN."""

    name = "graph.relu"

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        return k.max(x, 0)

    def evaluate(self, *inputs: Array) -> Array:
        return np.maximum(inputs[0], inputs[0].dtype.type(0))


@irdl_op_definition
class NegOp(NumberOp):
    """-x; integers wrap around."""

    name = "graph.neg"

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        return -x

    def evaluate(self, *inputs: Array) -> Array:
        return np.negative(inputs[0])


@irdl_op_definition
class AbsOp(NumberOp):
    """The magnitude; that of the least integer of a type is no number of the type, and stays as it is."""

    name = "graph.abs"

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        return x if x.unsigned else k.call("abs", x)

    def evaluate(self, *inputs: Array) -> Array:
        return np.abs(inputs[0])


@irdl_op_definition
class SignOp(NumberOp):
    """1 above zero, -1 below; zero and NaN stay as they are."""

    name = "graph.sign"

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        above = k.select(x.compare("gt", 0), k.constant(1, x.dtype), x)
        return above if x.unsigned else k.select(x.compare("lt", 0), k.constant(-1, x.dtype), above)

    def evaluate(self, *inputs: Array) -> Array:
        return np.sign(inputs[0])


@irdl_op_definition
class DropoutOp(UnaryOp):
    """Training sets a share `ratio` of the elements to zero; inference, which is what Tilework does, none.

    %y = graph.dropout %x {ratio = 0.5 : f32} : (tensor<8xf32>) -> tensor<8xf32>
    """

    name = "graph.dropout"
    ratio = prop_def(FloatAttr)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if not 0 <= self.ratio.value.data <= 1:
            raise VerifyException(f"the ratio lies between 0 and 1, it is not {self.ratio.value.data:g}")
        return super().infer()

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        return x

    def evaluate(self, *inputs: Array) -> Array:
        return inputs[0]


# ---- The functions that math and numpy know by the same name ---------------------------------------------------------


class MathOp(UnaryOp, ABC):
    """A function of the `math` dialect."""

    NUMPY: ClassVar[Callable[..., Any]]

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        return k.call(self.label, x)

    def evaluate(self, *inputs: Array) -> Array:
        return type(self).NUMPY(inputs[0])


@irdl_op_definition
class ExpOp(MathOp):
    """e to the power x."""

    name = "graph.exp"
    NUMPY: ClassVar = np.exp


@irdl_op_definition
class LogOp(MathOp):
    """The natural logarithm."""

    name = "graph.log"
    NUMPY: ClassVar = np.log


@irdl_op_definition
class SqrtOp(MathOp):
    """The square root; NaN below zero."""

    name = "graph.sqrt"
    NUMPY: ClassVar = np.sqrt


@irdl_op_definition
class TanhOp(MathOp):
    """The hyperbolic tangent."""

    name = "graph.tanh"
    NUMPY: ClassVar = np.tanh


@irdl_op_definition
class ErfOp(MathOp):
    """The error function."""

    name = "graph.erf"
    NUMPY: ClassVar = erf


@irdl_op_definition
class FloorOp(MathOp):
    """The next integer at or below x."""

    name = "graph.floor"
    NUMPY: ClassVar = np.floor


@irdl_op_definition
class CeilOp(MathOp):
    """The next integer at or above x."""

    name = "graph.ceil"
    NUMPY: ClassVar = np.ceil


@irdl_op_definition
class RoundOp(MathOp):
    """The nearest integer; of two that are as near, the even one."""

    name = "graph.round"
    NUMPY: ClassVar = np.round


@irdl_op_definition
class SinOp(MathOp):
    """The sine."""

    name = "graph.sin"
    NUMPY: ClassVar = np.sin


@irdl_op_definition
class CosOp(MathOp):
    """The cosine."""

    name = "graph.cos"
    NUMPY: ClassVar = np.cos


@irdl_op_definition
class TanOp(MathOp):
    """The tangent."""

    name = "graph.tan"
    NUMPY: ClassVar = np.tan


@irdl_op_definition
class AsinOp(MathOp):
    """The inverse of the sine; NaN outside -1 to 1."""

    name = "graph.asin"
    NUMPY: ClassVar = np.arcsin


@irdl_op_definition
class AcosOp(MathOp):
    """The inverse of the cosine; NaN outside -1 to 1."""

    name = "graph.acos"
    NUMPY: ClassVar = np.arccos


@irdl_op_definition
class AtanOp(MathOp):
    """The inverse of the tangent."""

    name = "graph.atan"
    NUMPY: ClassVar = np.arctan


@irdl_op_definition
class SinhOp(MathOp):
    """The hyperbolic sine."""

    name = "graph.sinh"
    NUMPY: ClassVar = np.sinh


@irdl_op_definition
class CoshOp(MathOp):
    """The hyperbolic cosine."""

    name = "graph.cosh"
    NUMPY: ClassVar = np.cosh


@irdl_op_definition
class AsinhOp(MathOp):
    """The inverse of the hyperbolic sine."""

    name = "graph.asinh"
    NUMPY: ClassVar = np.arcsinh


@irdl_op_definition
class AcoshOp(MathOp):
    """The inverse of the hyperbolic cosine; NaN below 1."""

    name = "graph.acosh"
    NUMPY: ClassVar = np.arccosh


@irdl_op_definition
class AtanhOp(MathOp):
    """The inverse of the hyperbolic tangent; NaN outside -1 to 1."""

    name = "graph.atanh"
    NUMPY: ClassVar = np.arctanh
