"""The matrix dialect: linear algebra on the rows of tables, and statistics of them."""

from xdsl.ir import Dialect

from tilework.dialects.matrix.base import float_of
from tilework.dialects.matrix.descent import ElasticNetOp
from tilework.dialects.matrix.filter import FilterOp
from tilework.dialects.matrix.folds import CountOp, DivisorOp, ExtremesOp, SummaryOp
from tilework.dialects.matrix.map import MapOp, YieldOp
from tilework.dialects.matrix.product import AddOp, GramOp, MatmulOp, PairsOp
from tilework.dialects.matrix.solving import FoldGramsOp, R2Op, SolveOp
from tilework.dialects.matrix.statistics import CovarianceOp, MomentsOp, PrincipalOp, RidgeOp, ScaleOp, UnitsOp
from tilework.dialects.matrix.structure import ColumnsOp, ConcatOp, FromTensorOp, ToTensorOp
from tilework.dialects.matrix.trees import TreesOp
from tilework.dialects.matrix.types import MatrixType

__all__ = [
    "AddOp",
    "ColumnsOp",
    "ConcatOp",
    "CountOp",
    "CovarianceOp",
    "DivisorOp",
    "ElasticNetOp",
    "ExtremesOp",
    "FilterOp",
    "FoldGramsOp",
    "R2Op",
    "FromTensorOp",
    "GramOp",
    "MapOp",
    "MatmulOp",
    "Matrix",
    "MatrixType",
    "MomentsOp",
    "PairsOp",
    "PrincipalOp",
    "RidgeOp",
    "ScaleOp",
    "SolveOp",
    "SummaryOp",
    "ToTensorOp",
    "TreesOp",
    "UnitsOp",
    "YieldOp",
    "float_of",
]

ROWS = [MapOp, FilterOp, YieldOp, MatmulOp, AddOp, PairsOp, TreesOp]
STRUCTURE = [ConcatOp, ColumnsOp, ToTensorOp, FromTensorOp]
STATISTICS = [GramOp, MomentsOp, CovarianceOp, ScaleOp, RidgeOp, ElasticNetOp, PrincipalOp, UnitsOp]
FOLDS = [CountOp, ExtremesOp, SummaryOp, DivisorOp, FoldGramsOp, R2Op, SolveOp]

Matrix = Dialect("matrix", [*ROWS, *STRUCTURE, *STATISTICS, *FOLDS], [MatrixType])
