"""The bag dialect: tables of rows by named columns, and how they become matrices."""

from xdsl.ir import Dialect

from tilework.dialects.bag.conversion import (
    CodesOp,
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

Bag = Dialect("bag", [PackOp, ToMatrixOp, OneHotOp, LookupOp, MapOp, FilterOp, FoldOp, YieldOp], [BagType, DictType])
