"""Types that follow when a table gets other columns."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from tilework.dialects.bag import ComprehensionOp, FilterOp, JoinOp, MapOp


def infer_behind(table: SSAValue) -> None:
    """Let what rows of a table become have the types that follow from the type of the table."""
    for op in [use.operation for use in table.uses]:
        if isinstance(op, FilterOp | MapOp | JoinOp | ComprehensionOp):
            [type_] = op.infer()
            if type_ != op.result.type:
                infer_behind(Rewriter.replace_value_with_new_type(op.result, type_))
