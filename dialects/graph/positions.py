"""The operator that finds the indices at which truth values hold, and counts them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.dialects.te.builder_statements import Buffer, allocate, index_of, number_of


@irdl_op_definition
class PositionsOp(GraphOp):
    """The indices of the elements that hold, in order, at the front of the result, zeros behind; how many there are.

    %positions, %count = graph.positions %mask : (tensor<8xi1>) -> (tensor<8xi64>, tensor<i64>)

    `graph.size` makes a size of the second result, with which a section takes what is at the front of the first one.
    """

    name = "graph.positions"
    CATEGORY: ClassVar[Category] = Category.OPAQUE
    mask = operand_def(TensorType)
    positions = result_def(TensorType)
    count = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if len(self.dims(0)) != 1 or self.dtype() != i1:
            raise VerifyException(f"it takes a vector of truth values, not {self.operand_type(0)}")
        return [tensor_type(self.dims(0), i64), tensor_type([], i64)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Sequence[Tensor]:
        """Every index is written where the next one that holds belongs, and stays there if it is that one."""
        [mask] = inputs

        def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
            types = (i1, i64, i64)
            source, positions, count = (Buffer(k, b, dtype) for b, dtype in zip(buffers, types, strict=True))
            found, size = allocate(k, i64), here(mask.dims[0])
            found.store(0, 0)

            def enter(i: Expr) -> None:
                end = index_of(k, found[0])
                positions.store(end, number_of(k, i))
                found.store(0, found[0] + k.cast(source[i], i64))

            k.for_each([size], enter)
            end = index_of(k, found[0])

            def clear(i: Expr) -> None:
                positions.store(end + i, 0)

            k.for_each([size - end], clear)
            count.store([], found[0])

        return k.extern("positions", inputs, self.infer(), write)

    def evaluate(self, *inputs: Array) -> Sequence[Array]:
        [mask] = inputs
        found = np.flatnonzero(mask)
        return [np.pad(found, (0, len(mask) - len(found))).astype(np.int64), np.array(len(found), np.int64)]
