"""Element-wise operators of two operands, which broadcast as numpy's do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import Array, Category, GraphOp, is_float, numpy_dtype
from tilework.dialects.graph.joint_shapes import broadcast_dims, broadcast_requirements, read_broadcast, sizes_beside
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor


class BinaryOp(GraphOp, ABC):
    """The same function of two scalars at every element.

    %y = graph.add %a, %b : (tensor<1x8x4xf32>, tensor<8x1xf32>) -> tensor<1x8x4xf32>
    """

    CATEGORY: ClassVar[Category] = Category.BROADCAST
    left = operand_def(TensorType)
    right = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_same_dtype()
        return [tensor_type(broadcast_dims(self.dims(0), self.dims(1)), self.dtype())]

    def joined_sizes(self) -> Iterable[tuple[Expr, Expr]]:
        return sizes_beside(dims_of(self.result.type), self.dims(0), self.dims(1))

    def requirements(self) -> Iterable[Requirement]:
        return broadcast_requirements(self.title, self.dims(0), self.dims(1))

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        a, b = inputs
        dims = broadcast_dims(a.dims, b.dims)
        return k.compute(
            self.label, dims, lambda *i: self.scalar(k, read_broadcast(a, dims, i), read_broadcast(b, dims, i))
        )

    @abstractmethod
    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        """The function of one element of each."""


@irdl_op_definition
class AddOp(BinaryOp):
    """a + b."""

    name = "graph.add"

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return a + b

    def evaluate(self, *inputs: Array) -> Array:
        return np.add(*inputs)


@irdl_op_definition
class SubOp(BinaryOp):
    """a - b."""

    name = "graph.sub"

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return a - b

    def evaluate(self, *inputs: Array) -> Array:
        return np.subtract(*inputs)


@irdl_op_definition
class MulOp(BinaryOp):
    """a * b."""

    name = "graph.mul"

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return a * b

    def evaluate(self, *inputs: Array) -> Array:
        return np.multiply(*inputs)


@irdl_op_definition
class DivOp(BinaryOp):
    """a / b; of integers the quotient is cut off towards zero, wraps around, and is 0 for a b of 0."""

    name = "graph.div"

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_numbers()
        return super().infer()

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return a / b

    def evaluate(self, *inputs: Array) -> Array:
        a, b = inputs
        return np.divide(a, b) if is_float(a.dtype) else truncated_quotient(a, b)


def truncated_quotient(a: Array, b: Array) -> Array:
    """The quotient of integers, cut off towards zero; 0 for a b of 0."""
    with np.errstate(divide="ignore", over="ignore"):  # numpy's quotient for 0 is 0, its remainder too
        return a // b + ((np.fmod(a, b) != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


class _RemainderOp(BinaryOp, ABC):
    """Compute the remainder of a division of numbers; that of an integer by 0 is 0."""

    NUMPY: ClassVar[Callable[..., Any]]

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_numbers()
        return super().infer()

    def evaluate(self, *inputs: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return type(self).NUMPY(*inputs)


@irdl_op_definition
class FmodOp(_RemainderOp):
    """What is left of a by b, with the sign of a, as C's % and fmod."""

    name = "graph.fmod"
    NUMPY: ClassVar = np.fmod

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return a % b


@irdl_op_definition
class ModOp(_RemainderOp):
    """What is left of a by b, with the sign of b, as Python's %."""

    name = "graph.mod"
    NUMPY: ClassVar = np.remainder

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        rest = a % b
        if a.unsigned:
            return rest
        other_sign = rest.compare("lt", 0) ^ b.compare("lt", 0)
        return k.select(other_sign & rest.compare("ne", 0), rest + b, rest)


@irdl_op_definition
class MaxOp(BinaryOp):
    """The larger one; NaN wins."""

    name = "graph.max"

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return k.max(a, b)

    def evaluate(self, *inputs: Array) -> Array:
        return np.maximum(*inputs)


@irdl_op_definition
class MinOp(BinaryOp):
    """The smaller one; NaN wins."""

    name = "graph.min"

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return k.min(a, b)

    def evaluate(self, *inputs: Array) -> Array:
        return np.minimum(*inputs)


@irdl_op_definition
class PowOp(BinaryOp):
    """a to the power b, of floating-point numbers; NaN for a negative a and a b that is not whole."""

    name = "graph.pow"

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_float()
        return super().infer()

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return k.power(a, b)

    def evaluate(self, *inputs: Array) -> Array:
        return np.power(*inputs)


@irdl_op_definition
class IntegerPowOp(BinaryOp):
    """a to the power b, of integers of any two types; it has the type of a, and wraps around.

    To a negative power it is the quotient 1 / a**-b, cut off towards zero: 1 for 1, 1 or -1 for -1, else 0, and for 0
    as well.
    """

    name = "graph.integer_pow"

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_numbers()
        for i in (0, 1):
            if not isa(self.dtype(i), IntegerType):
                raise VerifyException(f"{self.name} computes on integers, not on {self.dtype(i)}")
        return [tensor_type(broadcast_dims(self.dims(0), self.dims(1)), self.dtype())]

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        """The product of those squares of squares that the bits of b name."""
        one = power = k.constant(1, a.dtype)
        square, bits = a, 8 * numpy_dtype(b.dtype).itemsize - (not b.unsigned)
        for bit in range(bits):
            power = k.select(_has_bit(b, bit), power * square, power)
            square = square if bit == bits - 1 else square * square
        if b.unsigned:
            return power
        is_one = a.compare("eq", 1) if a.unsigned else a.compare("eq", 1) | a.compare("eq", -1)
        reciprocal = k.select(is_one, k.select(_has_bit(b, 0), a, one), 0)
        return k.select(b.compare("lt", 0), reciprocal, power)

    def evaluate(self, *inputs: Array) -> Array:
        return integer_power(*inputs)


def _has_bit(a: Scalar, bit: int) -> Scalar:
    return (a & (1 << bit)).compare("ne", 0)


def integer_power(a: Array, b: Array) -> Array:
    """Compute the power of integers as IntegerPowOp defines it."""
    power = np.power(a.astype(np.uint64), np.where(b < 0, 0, b).astype(np.uint64)).astype(a.dtype)
    is_one = (a == 1) | ((a == -1) if a.dtype.kind == "i" else False)
    reciprocal = np.where(is_one, np.where(b & 1, a, 1), 0)
    return np.where(b < 0, reciprocal, power).astype(a.dtype)


@irdl_op_definition
class PReluOp(BinaryOp):
    """a where a >= 0, else a * b: a slope b for each element, or for each channel."""

    name = "graph.prelu"

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return k.select(a.compare("lt", 0), a * b, a)

    def evaluate(self, *inputs: Array) -> Array:
        a, b = inputs
        return np.where(a < 0, a * b, a)
