"""Folds of mapped columns follow from folds of the raw ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.affine_maps import affine_of
from tilework.dialects import graph, matrix
from tilework.dialects.matrix import CountOp, ExtremesOp, MomentsOp
from tilework.transforms.matrix.writer import TensorWriter
from tilework.transforms.patterns import PatternPass

Fold = MomentsOp | ExtremesOp | CountOp


@dataclass(frozen=True)
class DeriveFolds(PatternPass):
    """Compute moments, extremes and counts of columns that an affine map made from those of what it read.

        %z = matrix.map %x (%mean, %scale) { (v - mean) / scale }
        %low, %high = matrix.extremes %z
    ->
        %l, %h = matrix.extremes %x
        %low, %high = the less and the greater of (%l - mean) / scale and (%h - mean) / scale

    So a pipeline of steps, each of which learns from what the one before made, reads rows in one pass. Requires
    nothing; what other maps make is folded as it was.
    """

    name = "matrix-derive-folds"
    numerics: ClassVar[Literal["exact", "reassociates"]] = "reassociates"
    inserted_too: ClassVar = True


class MomentsOfMapped(RewritePattern):
    """x * a + b has the mean m a + b and the variance v a^2; what is filled in counts as often as it stands there."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MomentsOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, matrix.MapOp) or (affine := affine_of(before)) is None:
            return
        write, vectors = TensorWriter(rewriter.insert), list(before.vectors)
        raw = MomentsOp.of(before.input)
        rewriter.insert(raw)
        factor = write.number(affine.factor, vectors)
        variance = write.binary("*", raw.variance, write.binary("*", factor, factor))
        if affine.fill is None:
            rewriter.replace(op, [], [write.mapped(before, raw.mean), variance, raw.known])
            return
        mean = write.binary("+", write.binary("*", raw.mean, factor), write.number(affine.offset, vectors))
        fill, rows = write.number(affine.fill, vectors), write.of(CountOp.of(before.input))
        absent = write.binary("-", rows, raw.known)
        moved = write.binary("*", write.binary("/", absent, rows), write.binary("-", fill, mean))
        of_all = write.binary("+", mean, moved)  # to the last bit the mean where nothing is missing
        spread = write.binary("+", variance, _square(write, write.binary("-", mean, of_all)))
        squares = write.binary(
            "+",
            write.binary("*", raw.known, spread),
            write.binary("*", absent, _square(write, write.binary("-", fill, of_all))),
        )
        rewriter.replace(op, [], [of_all, write.binary("/", squares, rows), rows])


class ExtremesOfMapped(RewritePattern):
    """x * a + b is greatest where x is greatest or least, as rounding keeps the order; what is filled in counts."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExtremesOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, matrix.MapOp) or (affine := affine_of(before)) is None:
            return
        write, vectors = TensorWriter(rewriter.insert), list(before.vectors)
        raw = ExtremesOp.of(before.input)
        rewriter.insert(raw)
        if affine.fill is None:
            ends = [write.mapped(before, end) for end in raw.results]
        else:
            factor, offset = write.number(affine.factor, vectors), write.number(affine.offset, vectors)
            ends = [write.binary("+", write.binary("*", end, factor), offset) for end in raw.results]
        low, high = write.of(graph.MinOp.of(*ends)), write.of(graph.MaxOp.of(*ends))
        if affine.fill is not None:
            fill, moments = write.number(affine.fill, vectors), MomentsOp.of(before.input)
            rewriter.insert(moments)
            is_absent = write.of(graph.LessOp.of(moments.known, write.of(CountOp.of(before.input))))
            low = write.of(graph.WhereOp.of(is_absent, write.of(graph.MinOp.of(low, fill)), low))
            high = write.of(graph.WhereOp.of(is_absent, write.of(graph.MaxOp.of(high, fill)), high))
        rewriter.replace(op, [], [low, high])


class CountOfMapped(RewritePattern):
    """A map makes as many rows as it is given."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CountOp, rewriter: PatternRewriter) -> None:
        if isinstance(before := op.input.owner, matrix.MapOp):
            rewriter.replace(op, CountOp.of(before.input))


class MomentsOfParts(RewritePattern):
    """moments(concat(a, b)) are those of a and then those of b."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MomentsOp, rewriter: PatternRewriter) -> None:
        _fold_parts(op, rewriter)


class ExtremesOfParts(RewritePattern):
    """extremes(concat(a, b)) are those of a and then those of b."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExtremesOp, rewriter: PatternRewriter) -> None:
        _fold_parts(op, rewriter)


class CountOfParts(RewritePattern):
    """count(concat(a, b)) is that of a and then that of b."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CountOp, rewriter: PatternRewriter) -> None:
        _fold_parts(op, rewriter)


class MomentsOfColumns(RewritePattern):
    """moments(columns(x, which)) are those of x at these places."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MomentsOp, rewriter: PatternRewriter) -> None:
        _fold_columns(op, rewriter)


class ExtremesOfColumns(RewritePattern):
    """extremes(columns(x, which)) are those of x at these places."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExtremesOp, rewriter: PatternRewriter) -> None:
        _fold_columns(op, rewriter)


class CountOfColumns(RewritePattern):
    """count(columns(x, which)) is that of x at these places."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CountOp, rewriter: PatternRewriter) -> None:
        _fold_columns(op, rewriter)


def _fold_parts(op: Fold, rewriter: PatternRewriter) -> None:
    parts = op.input.owner
    if isinstance(parts, matrix.ConcatOp):
        folds = [type(op).of(part) for part in parts.inputs]
        for fold in folds:
            rewriter.insert(fold)
        write = TensorWriter(rewriter.insert)
        _replace(op, rewriter, lambda i: write.behind([fold.results[i] for fold in folds]))


def _fold_columns(op: Fold, rewriter: PatternRewriter) -> None:
    chosen = op.input.owner
    if isinstance(chosen, matrix.ColumnsOp):
        fold, write = type(op).of(chosen.input), TensorWriter(rewriter.insert)
        rewriter.insert(fold)
        _replace(op, rewriter, lambda i: write.taken(fold.results[i], chosen.which.get_values()))


def _replace(op: Fold, rewriter: PatternRewriter, made: Callable[[int], SSAValue]) -> None:
    rewriter.replace(op, [], [made(i) for i in range(len(op.results))])


def _square(write: TensorWriter, x: SSAValue) -> SSAValue:
    return write.binary("*", x, x)
