"""The bag dialect: tables of rows by named columns, and how they become matrices."""

from xdsl.ir import Dialect

from tilework.dialects.bag.comprehension import ComprehensionOp
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
from tilework.dialects.bag.join import JoinOp
from tilework.dialects.bag.keys import keys_compared, same_key
from tilework.dialects.bag.rows import KINDS, FilterOp, FoldOp, MapOp, RowsOp, YieldOp
from tilework.dialects.bag.types import BagType, DictType

__all__ = [
    "Bag",
    "BagType",
    "CodesOp",
    "ColumnOp",
    "ComprehensionOp",
    "DictType",
    "FilterOp",
    "FoldOp",
    "JoinOp",
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
    "keys_compared",
    "layout_of",
    "same_key",
    "table_of",
    "tensors_of",
]

CONVERSIONS = [PackOp, ToMatrixOp, ColumnOp, OneHotOp, LookupOp]
ROWS = [MapOp, FilterOp, FoldOp, JoinOp, ComprehensionOp, YieldOp]

Bag = Dialect("bag", [*CONVERSIONS, *ROWS], [BagType, DictType])
