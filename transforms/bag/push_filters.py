"""Filters stand in front of maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.bag import FilterOp, JoinOp, MapOp
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class PushFilters(PatternPass):
    """Keep rows before columns are made for them, or before they are joined, where the filter reads nothing of that.

        %u = bag.map %t {reads = ["a"], writes = ["b"]} { f }
        %v = bag.filter %u {reads = ["a"], rows = "K"} { p }
    ->
        %w = bag.filter %t {reads = ["a"], rows = "K"} { p }
        %v = bag.map %w {reads = ["a"], writes = ["b"]} { f }

    So does a filter of a join that reads columns of one of both tables alone. Requires nothing; a filter of what was
    made stays where it is.
    """

    name = "bag-push-filters"
    inserted_too: ClassVar = True


class FilterBeforeMap(RewritePattern):
    """filter(map(t, f), p) is map(filter(t, p), f), if p reads nothing that f writes and nothing else reads the map."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FilterOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, MapOp) or len(list(before.result.uses)) != 1 or {*op.names} & {*before.written}:
            return
        first = FilterOp.holding(before.input, op.names, op.scalars, op.body.clone(), rows=op.rows)
        rewriter.insert(first)
        mapped = MapOp.holding(first.result, before.names, before.scalars, before.body.clone(), writes=before.writes)
        rewriter.replace(op, mapped)
        rewriter.erase(before)


class FilterBeforeJoin(RewritePattern):
    """filter(join(l, r), p) is join(filter(l, p), r), or join(l, filter(r, p)), if p reads one of both alone."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FilterOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, JoinOp) or len(list(before.result.uses)) != 1:
            return
        tables, of_right = [before.left, before.right], {*op.names} & {*before.taken}
        if of_right and len(of_right) < len(op.names):
            return
        side = 1 if of_right else 0
        names = [before.taken[name] for name in op.names] if of_right else op.names
        kept = FilterOp.holding(tables[side], names, op.scalars, op.body.clone(), rows=before.rows)
        tables[side] = kept.result
        rewriter.replace(op, [kept, before.on(*tables, rows=op.rows)])
        rewriter.erase(before)
