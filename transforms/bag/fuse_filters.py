"""Filters that follow each other become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects import arith
from tilework.dialects.bag import FilterOp, bag_of
from tilework.transforms.bag.row_function import RowFunction
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class FuseFilters(PatternPass):
    """Let one filter keep the rows that two filters kept, one after the other.

        %u = bag.filter %t {reads = ["a"], rows = "K"} { p }
        %v = bag.filter %u {reads = ["b"], rows = "L"} { q }
    ->
        %v = bag.filter %t {reads = ["a", "b"], rows = "L"} { p and q }

    Rows are moved once. Requires nothing; a table that somebody else reads, too, is made nevertheless.
    """

    name = "bag-fuse-filters"
    inserted_too: ClassVar = True


class FuseWithFilter(RewritePattern):
    """filter(filter(t, p), q) is filter(t, p and q), if nothing else reads the inner one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FilterOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, FilterOp) or len(list(before.result.uses)) != 1:
            return
        row = RowFunction(bag_of(before.input))
        [first], [second] = row.append(before), row.append(op)
        both = arith.SelectOp(first, second, first)
        row.block.add_op(both)
        fused = FilterOp.holding(before.input, row.reads, row.scalars, row.region([both.result]), rows=op.rows)
        rewriter.replace(op, fused)
        rewriter.erase(before)
