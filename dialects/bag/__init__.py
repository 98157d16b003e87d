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
from tilework.dialects.bag.types import BagType, DictType

__all__ = [
    "Bag",
    "BagType",
    "CodesOp",
    "DictType",
    "LookupOp",
    "OneHotOp",
    "PackOp",
    "Part",
    "Table",
    "ToMatrixOp",
    "bag_of",
    "layout_of",
    "table_of",
    "tensors_of",
]

Bag = Dialect("bag", [PackOp, ToMatrixOp, OneHotOp, LookupOp], [BagType, DictType])
