"""What is done with a matrix is done with the table that it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, StringAttr, f64
from xdsl.ir import Block, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects import bag, matrix
from tilework.dialects.bag import FilterOp, MapOp, ToMatrixOp
from tilework.dialects.matrix import ColumnsOp, ConcatOp
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class PushThroughConversion(PatternPass):
    """Do before `bag.to_matrix` what is done to its result: to the columns alone that it is about, of few rows.

        %x = bag.to_matrix %t {columns = ["age", "pay", "town"]}
        %z = matrix.filter %x {reads = array<i64: 2>, rows = "K"} { p }
        %w = matrix.columns %z {which = array<i64: 0, 1>}
    ->
        %u = bag.filter %t {reads = ["town"], rows = "K"} { p }
        %w = bag.to_matrix %u {columns = ["age", "pay"]}

    A matrix knows of each column where it comes from, so that the functions of its elements become functions of rows.
    Requires nothing; a map by vectors, or of other numbers than f64, stays behind the conversion.
    """

    name = "bag-push-through-conversion"
    inserted_too: ClassVar = True


class FilterBeforeMatrix(RewritePattern):
    """filter(to_matrix(t), p) is to_matrix(filter(t, p))."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.FilterOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, ToMatrixOp):
            return
        read = [before.names[i] for i in op.reads.get_values()]
        names = list(dict.fromkeys(read))
        body = _row_function(op.body, [names.index(name) for name in read], len(names), 1)
        kept = FilterOp.holding(before.input, names, [], body, rows=op.rows)
        rewriter.replace(op, [kept, ToMatrixOp.of(kept.result, columns=before.columns)])


class MapBeforeMatrix(RewritePattern):
    """map(to_matrix(t), f) is to_matrix(map(t, f of each column))."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.MapOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, ToMatrixOp) or op.vectors or matrix.float_of(op.input) != f64:
            return
        names = list(dict.fromkeys(before.names))
        body = _row_function(op.body, [0], len(names), len(names))
        writes = ArrayAttr([StringAttr(name) for name in names])
        mapped = MapOp.holding(before.input, names, [], body, writes=writes)
        rewriter.replace(op, [mapped, ToMatrixOp.of(mapped.result, columns=before.columns)])


class ColumnsBeforeMatrix(RewritePattern):
    """columns(to_matrix(t, names), which) is to_matrix(t, names of these)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ColumnsOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if isinstance(before, ToMatrixOp) and op.which.get_values():
            names = ArrayAttr([StringAttr(before.names[i]) for i in op.which.get_values()])
            rewriter.replace(op, ToMatrixOp.of(before.input, columns=names))


class ConcatBeforeMatrix(RewritePattern):
    """concat(to_matrix(t), to_matrix(map(t, f))) is to_matrix(map(t, f)), if f leaves the columns of the first."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter) -> None:
        parts = [x.owner for x in op.inputs]
        made = [part for part in parts if isinstance(part, ToMatrixOp)]
        if len(made) < len(parts):
            return
        for table in dict.fromkeys(part.input for part in made):
            if all(_has_columns_of(table, part) for part in made):
                names = ArrayAttr([name for part in made for name in part.columns])
                rewriter.replace(op, ToMatrixOp.of(table, columns=names))
                return


def _has_columns_of(table: SSAValue, part: ToMatrixOp) -> bool:
    """Whether a table is the one that a matrix comes from, or is mapped from it without its columns being changed."""
    while table is not part.input:
        owner = table.owner
        if not isinstance(owner, MapOp) or {*owner.written} & {*part.names}:
            return False
        table = owner.input
    return True


def _row_function(body: Region, arguments: list[int], columns: int, times: int) -> Region:
    """A function of elements as one of a row of so many columns of f64: of these, or `times` of each in turn."""
    element = body.block.args[0].type if body.block.args else f64
    block = Block(arg_types=[element] * columns)
    made: list[SSAValue] = []
    for i in range(times):
        values = {old: block.args[i + at] for old, at in zip(body.block.args, arguments, strict=True)}
        known: dict[SSAValue, SSAValue] = {**values}
        for inner in body.block.ops:
            if isinstance(inner, matrix.YieldOp):
                made.append(known[inner.value])
            else:
                block.add_op(inner.clone(known))
    block.add_op(bag.YieldOp(made))
    return Region(block)
