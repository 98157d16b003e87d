"""Operators with sizes that no data tell: numbers that are counted, and a section of an axis.

Their last operands, `sizes`, are tensors in whose dimensions the symbols occur; the elements of these are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.algebra.predicate import at_least, equal, less_than
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import Array, Category, GraphOp, normalize_axis
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor


@irdl_op_definition
class RangeOp(GraphOp):
    """`count` numbers: first, first + step, ...

    %y = graph.range %x {first = #graph.dims<[0]>, count = #graph.dims<[N]>, step = 1 : i64}
        : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?xi64, #graph.dims<[N]>>
    """

    name = "graph.range"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    sizes = var_operand_def(TensorType)
    first = prop_def(DimsAttr)
    count = prop_def(DimsAttr)
    step = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        _require_single(self, "first", self.first)
        _require_single(self, "count", self.count)
        self.require_symbols_of_operands([*self.first, *self.count])
        return [tensor_type(self.count.data, i64)]

    def requirements(self) -> Iterable[Requirement]:
        [count] = self.count.data
        yield Requirement.of(at_least(count, 0), f"{self.title} would be of {count} numbers")

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [first], step = self.first.data, self.step.value.data

        def number(i: Expr) -> Scalar:
            return k.index(first + step * i, i64)

        return k.compute("range", self.count.data, number)

    def evaluate(self, *inputs: Array) -> Array:
        first, count = self.evaluate_dims([*self.first, *self.count], inputs)
        return first + self.step.value.data * np.arange(count, dtype=np.int64)


@irdl_op_definition
class SectionOp(GraphOp):
    """`size` elements along an axis, from `start` on, which have to lie in the input when the program runs.

    %y = graph.section %table, %x {axis = 0 : i64, start = #graph.dims<[0]>, size = #graph.dims<[N]>}
        : (tensor<512x8xf32>, tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x8xf32, #graph.dims<[N, 8]>>

    With a `step` other than 1 they are so far apart, or below zero, one in front of the other.
    """

    name = "graph.section"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    sizes = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    start = prop_def(DimsAttr)
    size = prop_def(DimsAttr)
    step = opt_prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def distance(self) -> int:
        """The distance from an element to the next one."""
        return 1 if self.step is None else self.step.value.data

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, axis = self.dims(0), self.axis.value.data
        if axis < 0 or normalize_axis(axis, len(x)) != axis:
            raise VerifyException(f"the axis is counted from the front, it is not {axis}")
        _require_single(self, "start", self.start)
        _require_single(self, "size", self.size)
        self.require_symbols_of_operands([*self.start, *self.size])
        for requirement in self.requirements():
            if all(condition.constant is False for condition in requirement.any_of):
                raise VerifyException(requirement.text)
        return [tensor_type((*x[:axis], self.size.data[0], *x[axis + 1 :]), self.dtype())]

    def requirements(self) -> Iterable[Requirement]:
        [start], [size], axis, step = self.start.data, self.size.data, self.axis.value.data, self.distance
        extent, last = self.dims(0)[axis], start + (size - 1) * step
        steps = "" if step == 1 else f" in steps of {step}"
        where = f"dimension {axis} of the input of {self.title}, which is {extent}"
        text = f"{size} elements from {start} on{steps} do not lie in {where}"
        yield Requirement.of(at_least(size, 0), text)
        front, behind = (start, last) if step > 0 else (last, start)
        for condition in (at_least(front, 0), less_than(behind, extent)):
            yield Requirement((condition, equal(size, 0)), text)

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, axis, [start], [size] = inputs[0], self.axis.value.data, self.start.data, self.size.data
        dims, step = (*x.dims[:axis], size, *x.dims[axis + 1 :]), self.distance
        return k.compute("section", dims, lambda *i: x[(*i[:axis], i[axis] * step + start, *i[axis + 1 :])])

    def evaluate(self, *inputs: Array) -> Array:
        start, size = self.evaluate_dims([*self.start, *self.size], inputs)
        return inputs[0].take(start + self.distance * np.arange(size), axis=self.axis.value.data)


def _require_single(op: GraphOp, name: str, dims: DimsAttr) -> None:
    if len(dims.data) != 1:
        raise VerifyException(f"{op.name} has one {name}, not {len(dims.data)}")
