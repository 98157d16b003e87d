"""Reshape: the same elements, in row-major order, under other dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.graph.base import Array, Category, GraphOp, runtime_shape
from tilework.dialects.index_attr import DimsAttr
from tilework.dialects.shapes import tensor_type
from tilework.dialects.te_builder import KernelBuilder, Tensor


@irdl_op_definition
class ReshapeOp(GraphOp):
    """The input's elements under the dimensions `shape`; flatten, squeeze and unsqueeze are this too.

    %y = graph.reshape %x {shape = #graph.dims<[N, 12]>}
        : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x12xf32, #graph.dims<[N, 12]>>
    """

    name = "graph.reshape"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    shape = prop_def(DimsAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        before, after = product(self.dims(0)), product(self.shape.data)
        if before != after:
            shapes = " into ".join(f"[{', '.join(map(str, dims))}]" for dims in (self.dims(0), self.shape.data))
            raise VerifyException(f"cannot reshape {shapes}: {before} elements are not {after}")
        return [tensor_type(self.shape.data, self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        dims = self.shape.data
        if const(0) in dims:  # no element is read, wherever that would be
            nowhere = dims.index(const(0))
            return k.compute("reshape", dims, lambda *i: x[(i[nowhere],) * len(x.dims)])
        return k.compute("reshape", dims, lambda *i: x[reshaped_index(x.dims, dims, i)])

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        return x.reshape(runtime_shape(self.shape.data, self.dims(0), x.shape))


def reshaped_index(source: Sequence[Expr], target: Sequence[Expr], index: Sequence[Expr]) -> tuple[Expr, ...]:
    """Where in a tensor of dimensions `source` the element stands that has `index` under dimensions `target`.

    Axes are matched in groups that hold equally many elements on both sides; only inside a group, indices are
    linearized and taken apart again. So an axis that is kept, symbolic or not, keeps its plain index.
    """
    domain = Domain({i.as_var: (0, d - 1) for i, d in zip(index, target, strict=True)})
    result = [const(0)] * len(source)
    old = [(axis, d) for axis, d in enumerate(source) if d != 1]
    new = [(i, d) for i, d in zip(index, target, strict=True) if d != 1]
    while old:
        taken, made = _first_group(old, new)
        linear = const(0)
        for i, d in new[:made]:
            linear = linear * d + i
        stride = const(1)
        for nth in reversed(range(taken)):
            axis, d = old[nth]
            quotient = linear // stride
            result[axis] = domain.simplify(quotient if nth == 0 else quotient % d)
            stride = stride * d
        old, new = old[taken:], new[made:]
    return tuple(result)


def _first_group(old: Sequence[tuple[int, Expr]], new: Sequence[tuple[Expr, Expr]]) -> tuple[int, int]:
    """How many leading axes on each side hold equally many elements: the fewest for which this can be seen."""
    reached = {product(d for _, d in new[:made]): made for made in range(1, len(new) + 1)}
    elements = const(1)
    for taken, (_, d) in enumerate(old, start=1):
        elements = elements * d
        if elements in reached:
            return taken, reached[elements]
    return len(old), len(new)
