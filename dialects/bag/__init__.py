"""The bag dialect: tables of rows by named columns, and how they become matrices."""

from xdsl.ir import Dialect

from tilework.dialects.bag.conversion import (
    CodesOp,
    ColumnOp,
    LookupOp,
    OneHotOp,
    PackOp,
    Part,
    Table,
    ToMatrixOp,
    bag_of,
    layout_of,
    table_of,
    tensors_of,
)
from tilework.dialects.bag.rows import KINDS, FilterOp, FoldOp, MapOp, RowsOp, YieldOp
from tilework.dialects.bag.types import BagType, DictType

__all__ = [
    "Bag",
    "BagType",
    "CodesOp",
    "ColumnOp",
    "DictType",
    "FilterOp",
    "FoldOp",
    "KINDS",
    "LookupOp",
    "MapOp",
    "OneHotOp",
    "PackOp",
    "Part",
    "RowsOp",
    "Table",
    "ToMatrixOp",
    "YieldOp",
    "bag_of",
    "layout_of",
    "table_of",
    "tensors_of",
]

CONVERSIONS = [PackOp, ToMatrixOp, ColumnOp, OneHotOp, LookupOp]
ROWS = [MapOp, FilterOp, FoldOp, YieldOp]

Bag = Dialect("bag", [*CONVERSIONS, *ROWS], [BagType, DictType])
