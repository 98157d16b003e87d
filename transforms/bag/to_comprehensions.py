"""Combinators become comprehensions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Region
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.bag import ComprehensionOp, FilterOp, JoinOp, MapOp, YieldOp, bag_of, same_key
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.transforms.bag.types_behind import infer_behind
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class ToComprehensions(PatternPass):
    """Let maps, filters and joins be comprehensions, the monadic view of tables.

        %u = bag.filter %t {reads = ["a"], rows = "K"} { p }
    ->
        %u = bag.comprehension %t {reads = [["a"]], keeps = [["a", "b"]], guards = 1, writes = [], rows = "K"} { p }

    There one follows another by being put in its place, which `bag-unnest` does; `bag-combine` comes back. Requires
    nothing; a join that calls columns otherwise than the right table does stays. Columns that a map replaces stand
    behind the others afterwards.
    """

    name = "bag-to-comprehensions"


class MapToComprehension(RewritePattern):
    """map(t, f) is { f(x) | x in t }."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MapOp, rewriter: PatternRewriter) -> None:
        kept = [name for name in bag_of(op.input).columns if name not in op.written]
        made = ComprehensionOp.holding(
            [op.input],
            op.scalars,
            op.body.clone(),
            reads=[op.names],
            keeps=[kept],
            guards=0,
            writes=op.written,
            rows=None,
        )
        rewriter.replace(op, made)
        infer_behind(made.result)


class FilterToComprehension(RewritePattern):
    """filter(t, p) is { x | x in t, p(x) }."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FilterOp, rewriter: PatternRewriter) -> None:
        kept, rows = [*bag_of(op.input).columns], op.rows.data
        made = ComprehensionOp.holding(
            [op.input], op.scalars, op.body.clone(), reads=[op.names], keeps=[kept], guards=1, writes=[], rows=rows
        )
        rewriter.replace(op, made)


class JoinToComprehension(RewritePattern):
    """join(a, b) is { (x, y) | x in a, y in b, x.k == y.l }, if columns are called as in b."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: JoinOp, rewriter: PatternRewriter) -> None:
        if any(new != old for new, old in op.taken.items()):
            return
        block = Block(arg_types=[i32, i32])
        k = KernelBuilder("row")
        with k.inside(block):
            k.insert(YieldOp([same_key(k, *(Scalar(code, k) for code in block.args)).value]))
        made = ComprehensionOp.holding(
            [op.left, op.right],
            [],
            Region(block),
            reads=[[key] for key in op.keys],
            keeps=[[n for n in bag_of(op.left).columns if n not in op.taken], [*op.taken]],
            guards=1,
            writes=[],
            rows=op.rows.data,
        )
        rewriter.replace(op, made)
