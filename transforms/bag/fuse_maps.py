"""Maps that follow each other become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.bag import MapOp, bag_of
from tilework.transforms.bag.row_function import RowFunction
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class FuseMaps(PatternPass):
    """Let one function of a row make what two made, one after the other, over whatever columns.

        %u = bag.map %t {reads = ["a"], writes = ["b"]} { f }
        %v = bag.map %u {reads = ["b", "c"], writes = ["d"]} { g }
    ->
        %v = bag.map %t {reads = ["a", "c"], writes = ["b", "d"]} { f, then g of what f made }

    So a loop over columns, each with a map of its own, is one pass. Requires nothing; a table that somebody else reads,
    too, is made nevertheless.
    """

    name = "bag-fuse-maps"
    inserted_too: ClassVar = True


class FuseWithMap(RewritePattern):
    """map(map(t, f), g) is map(t, f and then g), if nothing else reads the inner one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MapOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, MapOp) or len(list(before.result.uses)) != 1:
            return
        row = RowFunction(bag_of(before.input))
        first = dict(zip(before.written, row.append(before), strict=True))
        both = {**first, **dict(zip(op.written, row.append(op, first), strict=True))}
        writes = ArrayAttr([StringAttr(name) for name in both])
        region = row.region([*both.values()])
        fused = MapOp.holding(before.input, row.reads, row.scalars, region, writes=writes)
        rewriter.replace(op, fused)
        rewriter.erase(before)
