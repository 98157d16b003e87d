"""Comparisons, logic, and the choice between two tensors: what masks are made of."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyFloat, TensorType, i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.graph.broadcast import BinaryOp
from tilework.dialects.graph.elementwise import UnaryOp
from tilework.dialects.graph.joint_shapes import broadcast_dims, broadcast_requirements, read_broadcast, sizes_beside
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor


class CompareOp(BinaryOp, ABC):
    """Whether a relation holds, an i1, at every element. With NaN none does.

    %y = graph.less %a, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xi1>
    """

    RELATION: ClassVar[str]
    """The relation, called as `Scalar.compare` calls it."""
    NUMPY: ClassVar[Callable[..., Any]]

    def infer(self) -> Sequence[TensorType[Attribute]]:
        [joined] = super().infer()
        return [tensor_type(dims_of(joined), i1)]

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return a.compare(self.RELATION, b)

    def evaluate(self, *inputs: Array) -> Array:
        return type(self).NUMPY(*inputs)


@irdl_op_definition
class EqualOp(CompareOp):
    """a == b."""

    name = "graph.equal"
    RELATION: ClassVar = "eq"
    NUMPY: ClassVar = np.equal


@irdl_op_definition
class LessOp(CompareOp):
    """a < b."""

    name = "graph.less"
    RELATION: ClassVar = "lt"
    NUMPY: ClassVar = np.less


@irdl_op_definition
class LessEqualOp(CompareOp):
    """a <= b."""

    name = "graph.less_equal"
    RELATION: ClassVar = "le"
    NUMPY: ClassVar = np.less_equal


class LogicOp(BinaryOp, ABC):
    """Combine two truth values, i1, at every element, or the bits of two integers."""

    SIGN: ClassVar[str]
    NUMPY: ClassVar[Callable[..., Any]]

    def infer(self) -> Sequence[TensorType[Attribute]]:
        _require_bits(self)
        return super().infer()

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return a.binary(self.SIGN, b)

    def evaluate(self, *inputs: Array) -> Array:
        return type(self).NUMPY(*inputs)


@irdl_op_definition
class AndOp(LogicOp):
    """Both of the two hold."""

    name = "graph.and"
    SIGN: ClassVar = "&"
    NUMPY: ClassVar = np.bitwise_and


@irdl_op_definition
class OrOp(LogicOp):
    """At least one of the two holds."""

    name = "graph.or"
    SIGN: ClassVar = "|"
    NUMPY: ClassVar = np.bitwise_or


@irdl_op_definition
class XorOp(LogicOp):
    """Exactly one of the two holds."""

    name = "graph.xor"
    SIGN: ClassVar = "^"
    NUMPY: ClassVar = np.bitwise_xor


@irdl_op_definition
class NotOp(UnaryOp):
    """The opposite of a truth value, an i1, or of each bit of an integer."""

    name = "graph.not"

    def infer(self) -> Sequence[TensorType[Attribute]]:
        _require_bits(self)
        return [self.operand_type(0)]

    def scalar(self, k: KernelBuilder, x: Scalar) -> Scalar:
        return x.compare("eq", 0) if x.dtype == i1 else ~x

    def evaluate(self, *inputs: Array) -> Array:
        return np.invert(inputs[0])


class ShiftOp(BinaryOp, ABC):
    """The bits of an integer moved by b places; with a b that is negative or no less than their number all are gone.

    %y = graph.shift_left %a, %b : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
    """

    SIGN: ClassVar[str]
    NUMPY: ClassVar[Callable[..., Any]]

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if isinstance(self.dtype(), AnyFloat) or self.dtype() == i1:
            raise VerifyException(f"{self.name} moves the bits of integers, not of {self.dtype()}")
        return super().infer()

    def scalar(self, k: KernelBuilder, a: Scalar, b: Scalar) -> Scalar:
        return a.binary(self.SIGN, b)

    def evaluate(self, *inputs: Array) -> Array:
        return type(self).NUMPY(*inputs)


@irdl_op_definition
class ShiftLeftOp(ShiftOp):
    """a * 2**b."""

    name = "graph.shift_left"
    SIGN: ClassVar = "<<"
    NUMPY: ClassVar = np.left_shift


@irdl_op_definition
class ShiftRightOp(ShiftOp):
    """a / 2**b, rounded down: copies of the sign come in."""

    name = "graph.shift_right"
    SIGN: ClassVar = ">>"
    NUMPY: ClassVar = np.right_shift


@irdl_op_definition
class WhereOp(GraphOp):
    """The element of `a` where the condition, an i1, holds, else that of `b`; all three broadcast.

    %y = graph.where %mask, %a, %b : (tensor<8x8xi1>, tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8x8xf32>
    """

    name = "graph.where"
    CATEGORY: ClassVar[Category] = Category.BROADCAST
    condition = operand_def(TensorType)
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        _require_truth(self, 0)
        if self.dtype(1) != self.dtype(2):
            raise VerifyException(f"{self.name} chooses between {self.dtype(1)} and {self.dtype(2)}, two types")
        dims = broadcast_dims(self.dims(0), broadcast_dims(self.dims(1), self.dims(2)))
        return [tensor_type(dims, self.dtype(1))]

    def joined_sizes(self) -> Iterable[tuple[Expr, Expr]]:
        return sizes_beside(dims_of(self.result.type), *map(self.dims, range(3)))

    def requirements(self) -> Iterable[Requirement]:
        return broadcast_requirements(self.title, *map(self.dims, range(3)))

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        dims = broadcast_dims(inputs[0].dims, broadcast_dims(inputs[1].dims, inputs[2].dims))
        return k.compute("where", dims, lambda *i: k.select(*(read_broadcast(x, dims, i) for x in inputs)))

    def evaluate(self, *inputs: Array) -> Array:
        return np.where(*inputs)


def _require_truth(op: GraphOp, i: int) -> None:
    if op.dtype(i) != i1:
        raise VerifyException(f"operand {i} of {op.name} is of truth values, i1, not of {op.dtype(i)}")


def _require_bits(op: GraphOp) -> None:
    if isinstance(op.dtype(), AnyFloat):
        raise VerifyException(f"{op.name} computes on truth values and integers, not on {op.dtype()}")
