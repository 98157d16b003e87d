"""Decision trees: which leaf of each tree a row comes to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType, UnitAttr, f64, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.matrix.base import Array, MatrixOp, matrix_of, require_shape, vector_length
from tilework.dialects.matrix.types import MatrixType
from tilework.dialects.support.shapes import dims_of


@irdl_op_definition
class TreesOp(MatrixOp):
    """For each row the sum, over all trees, of the values of the leaf that it comes to.

    A tree begins at its root and goes `depth` steps: from a node to the left where the row's number of the node's
    column, rounded to single precision unless it is `wide`, is at most the threshold, else to the right; where the
    number is missing, to the left if the node says so. A leaf goes to itself.

    %y = matrix.trees %x, %roots, %columns, %thresholds, %left, %right, %missing, %values {depth = 3 : i64}
        : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<4xi64>, tensor<9xi64>, tensor<9xf64>, tensor<9xi64>,
           tensor<9xi64>, tensor<9xi1>, tensor<9x1xf64>) -> !matrix.matrix<N x 1 x f64, [tree]>
    """

    name = "matrix.trees"
    input = operand_def(MatrixType)
    roots = operand_def(TensorType)
    columns = operand_def(TensorType)
    thresholds = operand_def(TensorType)
    left = operand_def(TensorType)
    right = operand_def(TensorType)
    missing_left = operand_def(TensorType)
    values = operand_def(TensorType)
    depth = prop_def(IntegerAttr)
    wide = opt_prop_def(UnitAttr)
    result = result_def(MatrixType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        x, nodes = matrix_of(self.input), vector_length(self.columns)
        require_shape(self.roots, (vector_length(self.roots),), i64, "the roots")
        for name, element in (("columns", i64), ("thresholds", f64), ("left", i64), ("right", i64)):
            require_shape(getattr(self, name), (nodes,), element, f"'{name}' of {nodes} nodes")
        require_shape(self.missing_left, (nodes,), i1, f"'missing' of {nodes} nodes")
        dims = dims_of(self.values.type)
        if len(dims) != 2 or dims[0] != nodes or dims[1].constant is None:
            raise VerifyException(f"the values of {nodes} nodes are a row for each, not {self.values.type}")
        return [MatrixType.of(x.rows, f64, ["tree"] * dims[1].constant)]

    def evaluate(self, *inputs: Array) -> Array:
        x, roots, columns, thresholds, left, right, missing_left, values = inputs
        rows = np.arange(len(x))[:, None]
        at = np.broadcast_to(roots, (len(x), len(roots)))
        for _ in range(self.depth.value.data):
            number = x[rows, columns[at]].astype(np.float32 if self.wide is None else np.float64).astype(np.float64)
            goes_left = np.where(np.isnan(number), missing_left[at], number <= thresholds[at])
            at = np.where(goes_left, left[at], right[at])
        return values[at].sum(axis=1)
