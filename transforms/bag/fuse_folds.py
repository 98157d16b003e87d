"""Folds of one table become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.bag import FoldOp, bag_of
from tilework.transforms.bag.row_function import RowFunction
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class FuseFolds(PatternPass):
    """Let one pass over the rows make what several made (the banana split).

        %s = bag.fold %t {reads = ["a"], kinds = ["add"]} { f }
        %h = bag.fold %t {reads = ["b"], kinds = ["max"]} { g }
    ->
        %s, %h = bag.fold %t {reads = ["a", "b"], kinds = ["add", "max"]} { f, g }

    Requires that maps and filters have been pushed into folds, else their tables differ. A fold that needs what another
    one has found, as a deviation needs a mean, is a pass of its own.
    """

    name = "bag-fuse-folds"
    inserted_too: ClassVar = True


class FuseWithFold(RewritePattern):
    """fold(t, f) and fold(t, g) are fold(t, (f, g)), where g needs nothing that is made behind f."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FoldOp, rewriter: PatternRewriter) -> None:
        before = _fold_before(op)
        if before is None:
            return
        row = RowFunction(bag_of(op.input))
        values = [*row.append(before), *row.append(op)]
        properties: dict[str, Attribute] = {"kinds": ArrayAttr([*before.kinds, *op.kinds])}
        if op.group is not None:
            properties["by"] = op.group
        region = row.region(values)
        fused = FoldOp.holding(op.input, row.reads, row.scalars, region, **properties)
        count = len(before.results)
        rewriter.replace(before, fused, fused.results[:count])
        rewriter.replace(op, [], fused.results[count:])


def _fold_before(op: FoldOp) -> FoldOp | None:
    """The first fold of the same table and groups in the block at whose place all is known that this one needs."""
    block = op.parent
    assert block is not None
    place = {inner: i for i, inner in enumerate(block.ops)}
    found: FoldOp | None = None
    for use in op.input.uses:
        other = use.operation
        if not isinstance(other, FoldOp) or other.parent is not block or other.group != op.group:
            continue
        if place[other] >= place[op] or not all(_is_before(s.owner, place, place[other]) for s in op.scalars):
            continue
        if found is None or place[other] < place[found]:
            found = other
    return found


def _is_before(owner: object, place: dict[Operation, int], where: int) -> bool:
    return not isinstance(owner, Operation) or place.get(owner, -1) < where
