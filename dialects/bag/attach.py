"""What is known of each value of a dictionary, beside the rows that have it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, StringAttr, TensorType, f64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.bag.conversion import Table, bag_of, column_of
from tilework.dialects.bag.types import BagType, DictType
from tilework.dialects.matrix.base import MatrixOp, Value, require_shape


@irdl_op_definition
class AttachOp(MatrixOp):
    """The table with a column for each of the vectors: of a row, the element at its code in column `by`, or else 0.

    %u = bag.attach %t, %s {by = "town", writes = ["total"]} : (!bag.bag<N x [town: !bag.dict<3>]>, tensor<3xf64>)
        -> !bag.bag<N x [town: !bag.dict<3>, total: f64?]>
    """

    name = "bag.attach"
    input = operand_def(BagType)
    vectors = var_operand_def(TensorType)
    group = prop_def(StringAttr, prop_name="by")
    writes = prop_def(ArrayAttr[StringAttr])
    result = result_def(BagType)
    traits = traits_def(Pure())

    @property
    def written(self) -> list[str]:
        """The columns that are new."""
        return [name.data for name in self.writes]

    def infer(self) -> Sequence[Attribute]:
        bag, by = bag_of(self.input), self.group.data
        codes = column_of(bag, by)
        if not isinstance(codes, DictType):
            raise VerifyException(f"column {by} holds numbers, not codes of a dictionary")
        if len(self.writes) != len(self.vectors):
            raise VerifyException(f"there are {len(self.writes)} names for {len(self.vectors)} vectors")
        for i, vector in enumerate(self.vectors):
            require_shape(vector, (codes.size.data,), f64, f"vector {i}")
        if twice := bag.columns.keys() & {*self.written}:
            raise VerifyException(f"the table has a column {min(twice)} already")
        columns = {**bag.columns, **dict.fromkeys(self.written, f64)}
        return [bag.with_columns(columns, bag.may_be_missing | {*self.written})]

    def evaluate(self, *inputs: Value) -> Table:
        table, *vectors = inputs
        codes = table[self.group.data]
        made = [np.append(vector, 0.0)[codes] for vector in vectors]  # a code of -1 is the last
        return {**table, **dict(zip(self.written, made, strict=True))}
