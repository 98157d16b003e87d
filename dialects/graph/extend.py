"""Images continued beyond their borders by what is inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, StringAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import at_least, less_than
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.graph.windows import spatial_axes, with_axes
from tilework.dialects.shapes import tensor_type
from tilework.dialects.te_builder import KernelBuilder, Scalar, Tensor

MODES = ("edge", "reflect")


@irdl_op_definition
class ExtendOp(GraphOp):
    """The input continued; `pads` lists how far in front of every axis, then how far behind every one.

    By the outermost element again and again (`edge`), or mirrored at it (`reflect`), as numpy's pad does.

    %y = graph.extend %x {pads = array<i64: 0, 1, 0, 2>, mode = "edge"} : (tensor<4x5xf32>) -> tensor<4x8xf32>
    """

    name = "graph.extend"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    pads = prop_def(DenseArrayBase.constr(i64))
    mode = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def ends(self) -> list[tuple[int, int]]:
        """How far it is continued in front of and behind every axis."""
        pads, rank = self.pads.get_values(), len(self.dims(0))
        return list(zip(pads[:rank], pads[rank:], strict=True))

    def least(self, axis: int) -> int:
        """How many elements there must be along an axis."""
        longest = max(self.ends()[axis])
        return longest + 1 if self.mode.data == "reflect" else min(longest, 1)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, pads = self.dims(0), self.pads.get_values()
        if self.mode.data not in MODES:
            raise VerifyException(f"the mode is {' or '.join(MODES)}, it is not {self.mode.data}")
        if len(pads) != 2 * len(x):
            raise VerifyException(f"{len(x)} axes need {2 * len(x)} pads, not {len(pads)}")
        if min(pads, default=0) < 0:
            raise VerifyException(f"pads are not negative, {min(pads)} is; graph.slice removes elements")
        for axis, d in enumerate(x):
            if d.constant is not None and any(self.ends()[axis]) and d.constant < self.least(axis):
                raise VerifyException(
                    f"axis {axis} of size {d} is too short: {self.mode.data} takes {self.least(axis)} elements"
                )
        return [tensor_type([d + (b + a) for d, (b, a) in zip(x, self.ends(), strict=True)], self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        if not any(self.pads.get_values()):
            return k.compute("extend", x.dims, lambda *i: x[i])
        for axis, (before, after) in enumerate(self.ends()):
            if before or after:
                x = self._extended(k, x, axis, before, after)
        return x

    def _extended(self, k: KernelBuilder, x: Tensor, axis: int, before: int, after: int) -> Tensor:
        """Along one axis: loops are cut where the choices change, so that each part is a plain copy."""
        extent, edge = x.dims[axis], self.mode.data == "edge"

        def element(*index: Expr) -> Scalar:
            at = index[axis] - before

            def read(e: Expr) -> Scalar:
                return x[(*index[:axis], e, *index[axis + 1 :])]

            def front() -> Scalar:
                return read(const(0) if edge else -at)

            def behind() -> Scalar:
                return read(extent - 1 if edge else (extent - 1) * 2 - at)

            def rest() -> Scalar:
                return k.if_then_else([less_than(at, extent)], lambda: read(at), behind, x.dtype)

            return k.if_then_else([at_least(at, 0)], rest, front, x.dtype)

        dims = (*x.dims[:axis], extent + (before + after), *x.dims[axis + 1 :])
        return k.compute("extend", dims, with_axes(spatial_axes(len(dims)), element))

    def evaluate(self, *inputs: Array) -> Array:
        if self.mode.data == "edge":
            return np.pad(inputs[0], self.ends(), mode="edge")
        return np.pad(inputs[0], self.ends(), mode="reflect")
