"""Images continued beyond their borders by what is inside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, StringAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import base, irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const, maximum, minimum
from tilework.algebra.predicate import at_least, equal, less_than
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.graph.padding import ends_of, padded_dims, padding_told
from tilework.dialects.graph.windows import spatial_axes, with_axes
from tilework.dialects.support.index_attr import WidthsAttr
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor

MODES = ("edge", "reflect")


@irdl_op_definition
class ExtendOp(GraphOp):
    """The input continued; `pads` lists how far in front of every axis, then how far behind every one.

    By the outermost element again and again (`edge`), or mirrored at it (`reflect`), as numpy's pad does. Widths may be
    over symbols; further operands, whose elements are not read, tell those that the input does not.

    %y = graph.extend %x {pads = array<i64: 0, 1, 0, 2>, mode = "edge"} : (tensor<4x5xf32>) -> tensor<4x8xf32>
    """

    name = "graph.extend"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    sizes = var_operand_def(TensorType)
    pads = prop_def(DenseArrayBase.constr(i64) | base(WidthsAttr))
    mode = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def least(self, axis: int) -> Expr:
        """How many elements there must be along an axis."""
        longest = maximum(*ends_of(self.pads)[axis])
        return longest + 1 if self.mode.data == "reflect" else minimum(longest, 1)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if self.mode.data not in MODES:
            raise VerifyException(f"the mode is {' or '.join(MODES)}, it is not {self.mode.data}")
        dims = padded_dims(self, self.pads)
        for requirement in self.requirements():
            if all(condition.constant is False for condition in requirement.any_of):
                raise VerifyException(requirement.text)
        return [tensor_type(dims, self.dtype())]

    def requirements(self) -> Iterable[Requirement]:
        for axis, (dim, ends) in enumerate(zip(self.dims(0), ends_of(self.pads), strict=True)):
            if ends == (0, 0):
                continue
            for width in ends:
                text = f"{self.title} continues axis {axis} by {width} elements, which is less than none"
                yield Requirement.of(at_least(width, 0), text)
            least = self.least(axis)
            what = f"axis {axis} of the input of {self.title}, of size {dim}, is too short"
            enough = at_least(dim, least), equal(maximum(*ends), 0)
            yield Requirement(enough, f"{what}: {self.mode.data} takes {least} elements")

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, ends = inputs[0], ends_of(self.pads)
        if all(widths == (0, 0) for widths in ends):
            return k.compute("extend", x.dims, lambda *i: x[i])
        for axis, (before, after) in enumerate(ends):
            if (before, after) != (0, 0):
                x = self._extended(k, x, axis, before, after)
        return x

    def _extended(self, k: KernelBuilder, x: Tensor, axis: int, before: Expr, after: Expr) -> Tensor:
        """Extend a tensor along one axis: loops are cut where the choices change, so that each part is a plain copy."""
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
        widths = padding_told(self, self.pads, inputs)
        if self.mode.data == "edge":
            return np.pad(inputs[0], widths, mode="edge")
        return np.pad(inputs[0], widths, mode="reflect")
