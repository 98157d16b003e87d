"""What comes before a fold becomes part of what it makes of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import FloatAttr, f64
from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects import arith
from tilework.dialects.bag import KINDS, FilterOp, FoldOp, MapOp, bag_of
from tilework.transforms.bag.row_function import RowFunction
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class PushIntoFolds(PatternPass):
    """Let a fold compute the columns that a map made for it, and leave out the rows that a filter did.

        %u = bag.filter %t {reads = ["age"], rows = "K"} { p }
        %s = bag.fold %u {reads = ["pay"], kinds = ["add"]} { v }
    ->
        %s = bag.fold %t {reads = ["age", "pay"], kinds = ["add"]} { v where p, else 0 }

    No column is written and no row is moved. Requires nothing; leaves folds of tables as they were before maps and
    filters.
    """

    name = "bag-push-into-folds"
    inserted_too: ClassVar = True


class FoldOfMapped(RewritePattern):
    """fold(map(t, f), g) is fold(t, g of what f makes)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FoldOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, MapOp):
            return
        row = RowFunction(bag_of(before.input))
        made = dict(zip(before.written, row.append(before), strict=True))
        rewriter.replace(op, _fold(op, before.input, row, row.append(op, made)))


class FoldOfFiltered(RewritePattern):
    """fold(filter(t, p), g) is fold(t, g where p, else what changes nothing)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FoldOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, FilterOp):
            return
        row = RowFunction(bag_of(before.input))
        [kept] = row.append(before)
        values: list[SSAValue] = []
        for kind, value in zip(op.kinds, row.append(op), strict=True):
            nothing = arith.ConstantOp(FloatAttr(KINDS[kind.data][1], f64))
            chosen = arith.SelectOp(kept, value, nothing.result)
            row.block.add_ops([nothing, chosen])
            values.append(chosen.result)
        rewriter.replace(op, _fold(op, before.input, row, values))


def _fold(op: FoldOp, table: SSAValue, row: RowFunction, values: list[SSAValue]) -> FoldOp:
    """A fold as another one, of another table by another function."""
    properties: dict[str, Attribute] = {"kinds": op.kinds}
    if op.group is not None:
        properties["by"] = op.group
    region = row.region(values)
    return FoldOp.holding(table, row.reads, row.scalars, region, **properties)
