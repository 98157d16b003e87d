"""Products of matrices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.accumulation import factors, matrix_product_type, multiplied, rounded
from tilework.dialects.graph.base import Array, Category, GraphOp, SizesDiffer, numpy_dtype
from tilework.dialects.graph.joint_shapes import broadcast_dims, broadcast_requirements, read_broadcast, sizes_beside
from tilework.dialects.graph.windows import with_axes
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor


@irdl_op_definition
class DenseOp(GraphOp):
    """y[..., j] = sum over k of x[..., k] * w[j, k]: a fully connected layer, its weight one row per output.

    Products of bytes, ui8 or i8 and i8, are summed in i32, those of f32 and f16 or bf16 in f32. `words`: both operands
    are words of bytes, as `graph.words` makes.

    %y = graph.dense %x, %w : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32>
    """

    name = "graph.dense"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    words = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        dtype = matrix_product_type(self, self.words is not None)
        x, w = self.dims(0), self.dims(1)
        if len(x) < 1 or len(w) != 2:
            raise VerifyException(f"a row or more and a matrix are multiplied, not ranks {len(x)} and {len(w)}")
        if x[-1] != w[1]:
            message = f"the input's rows have {x[-1]} elements, the weight's {w[1]}"
            raise SizesDiffer(x[-1], w[1], message, (0, len(x) - 1, w[1]), (1, 1, x[-1]))
        return [tensor_type((*x[:-1], w[0]), dtype)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, w = inputs
        rows = ["i"] if len(x.dims) == 2 else [f"i{axis}" for axis in range(len(x.dims) - 1)]

        def element(*index: Expr):
            *i, j = index

            def term(k_: Expr) -> Scalar:
                return multiplied(k, x[(*i, k_)], w[j, k_], self.words is not None)

            return k.sum((w.dims[1],), term)

        total = k.compute("dense", (*x.dims[:-1], w.dims[0]), with_axes([*rows, "j"], element))
        return rounded(k, total, matrix_product_type(self, self.words is not None))

    def evaluate(self, *inputs: Array) -> Array:
        x, w = inputs
        left, right = factors(x, w, -1, self.words is not None)
        return np.matmul(left, right.T).astype(
            numpy_dtype(matrix_product_type(self, self.words is not None)), copy=False
        )


@irdl_op_definition
class MatmulOp(GraphOp):
    """y[..., i, j] = sum over k of a[..., i, k] * b[..., k, j]; the leading axes broadcast.

    Products of f32 and f16 or bf16 are f32.

    %y = graph.matmul %a, %b : (tensor<8x4x5xf32>, tensor<5x3xf32>) -> tensor<8x4x3xf32>
    """

    name = "graph.matmul"
    CATEGORY: ClassVar[Category] = Category.COMPLEX
    left = operand_def(TensorType)
    right = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        dtype = matrix_product_type(self)
        a, b = self.dims(0), self.dims(1)
        if len(a) < 2 or len(b) < 2:
            raise VerifyException(f"matrices are multiplied, not operands of rank {len(a)} and {len(b)}")
        if a[-1] != b[-2]:
            message = f"the left operand has {a[-1]} columns, the right one {b[-2]} rows"
            raise SizesDiffer(a[-1], b[-2], message, (1, len(b) - 2, a[-1]), (0, len(a) - 1, b[-2]))
        return [tensor_type((*broadcast_dims(a[:-2], b[:-2]), a[-2], b[-1]), dtype)]

    def joined_sizes(self) -> Iterable[tuple[Expr, Expr]]:
        return sizes_beside(dims_of(self.result.type)[:-2], self.dims(0)[:-2], self.dims(1)[:-2])

    def requirements(self) -> Iterable[Requirement]:
        return broadcast_requirements(self.title, self.dims(0)[:-2], self.dims(1)[:-2])

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        a, b = inputs
        batch = broadcast_dims(a.dims[:-2], b.dims[:-2])
        rows, columns, depth = a.dims[-2], b.dims[-1], a.dims[-1]

        def element(*index: Expr):
            *n, i, j = index

            def term(k_: Expr) -> Scalar:
                left = read_broadcast(a, (*batch, rows, depth), (*n, i, k_))
                right = read_broadcast(b, (*batch, depth, columns), (*n, k_, j))
                return multiplied(k, left, right)

            return k.sum((depth,), term)

        names = [*(f"b{axis}" for axis in range(len(batch))), "i", "j"]
        return rounded(k, k.compute("matmul", (*batch, rows, columns), with_axes(names, element)), a.dtype)

    def evaluate(self, *inputs: Array) -> Array:
        a, b = inputs
        left, right = factors(a, b, -1)
        return np.matmul(left, right).astype(numpy_dtype(matrix_product_type(self)), copy=False)
