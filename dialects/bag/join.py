"""Rows of two tables that have the same key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import var
from tilework.dialects.bag.conversion import Table, bag_of, column_of
from tilework.dialects.bag.types import BagType, DictType
from tilework.dialects.matrix.base import MatrixOp


@irdl_op_definition
class JoinOp(MatrixOp):
    """The pairs of a row of each table that have the same key; how many these are is called `rows`.

    They are in the order of the left rows, and for each of them in that of the right ones. Both keys, `on`, are codes
    of one dictionary; a row with another value, -1, is in no pair. A pair has the columns of the right row that it
    `reads`, under the names that it `writes`, and those columns of the left row that are called otherwise.

    %j = bag.join %people, %towns {on = ["town", "name"], reads = ["size"], writes = ["size"], rows = "J"}
        : (!bag.bag<N x [town: !bag.dict<3>]>, !bag.bag<M x [name: !bag.dict<3>, size: f64]>)
        -> !bag.bag<J x [town: !bag.dict<3>, size: f64]>
    """

    name = "bag.join"
    left = operand_def(BagType)
    right = operand_def(BagType)
    both = prop_def(ArrayAttr[StringAttr], prop_name="on")
    reads = prop_def(ArrayAttr[StringAttr])
    writes = prop_def(ArrayAttr[StringAttr])
    rows = prop_def(StringAttr)
    result = result_def(BagType)
    traits = traits_def(Pure())

    @property
    def keys(self) -> tuple[str, str]:
        """The columns of the left and of the right table that are compared."""
        left, right = self.both
        return left.data, right.data

    @property
    def taken(self) -> dict[str, str]:
        """The column of the right table that each of the new columns is."""
        return {new.data: old.data for new, old in zip(self.writes, self.reads, strict=True)}

    def infer(self) -> Sequence[Attribute]:
        left, right = bag_of(self.left), bag_of(self.right)
        if len(self.both) != 2 or len(self.reads) != len(self.writes):
            raise VerifyException("a join has two keys, and a name for each column that it reads")
        a, b = (column_of(bag, key) for bag, key in zip((left, right), self.keys, strict=True))
        if not isinstance(a, DictType) or a != b:
            raise VerifyException(f"keys are codes of one dictionary, not {a} and {b}")
        if len(self.taken) < len(self.writes):
            raise VerifyException("a join writes two columns of one name")
        columns = left.columns | {new: column_of(right, old) for new, old in self.taken.items()}
        optional = {new for new, old in self.taken.items() if old in right.may_be_missing}
        optional |= left.may_be_missing - self.taken.keys()
        return [BagType.of(var(self.rows.data), columns, optional, columnar=left.is_columnar)]

    def evaluate(self, *inputs: Table) -> Table:
        left, right = inputs
        a, b = (table[key] for table, key in zip(inputs, self.keys, strict=True))
        order = np.argsort(b, kind="stable")
        first, last = (np.searchsorted(b[order], a, side) for side in ("left", "right"))
        counts = np.where(a >= 0, last - first, 0)
        at = np.repeat(np.arange(len(a)), counts)
        behind = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
        other = order[np.repeat(first, counts) + behind]
        return {name: x[at] for name, x in left.items()} | {new: right[old][other] for new, old in self.taken.items()}
