"""The matrix dialect: linear algebra on the rows of tables, and statistics of them."""

from xdsl.ir import Dialect

from tilework.dialects.matrix.map import MapOp, YieldOp
from tilework.dialects.matrix.product import AddOp, GramOp, MatmulOp
from tilework.dialects.matrix.statistics import MomentsOp, ScaleOp
from tilework.dialects.matrix.structure import ColumnsOp, ConcatOp, FromTensorOp, ToTensorOp
from tilework.dialects.matrix.types import MatrixType

__all__ = [
    "AddOp",
    "ColumnsOp",
    "ConcatOp",
    "FromTensorOp",
    "GramOp",
    "MapOp",
    "MatmulOp",
    "Matrix",
    "MatrixType",
    "MomentsOp",
    "ScaleOp",
    "ToTensorOp",
    "YieldOp",
]

Matrix = Dialect(
    "matrix",
    [MapOp, YieldOp, ConcatOp, ColumnsOp, ToTensorOp, FromTensorOp, MatmulOp, AddOp, GramOp, MomentsOp, ScaleOp],
    [MatrixType],
)
