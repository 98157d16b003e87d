"""Products with weights, moved to where the columns come from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, Literal

from xdsl.dialects.builtin import f64
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.affine_maps import affine_of
from tilework.dialects import matrix
from tilework.dialects.bag import LookupOp, OneHotOp
from tilework.dialects.matrix.base import matrix_of
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.transforms.matrix.writer import TensorWriter
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class PushProducts(PatternPass):
    """Multiply each matrix by its own weights, and let values of dictionaries stand for their products.

        %h = bag.one_hot %t {column = "town"}
        %x = matrix.concat %a, %h
        %p = matrix.matmul %x, %w {origin = "p"}
    ->
        %pa = matrix.matmul %a, %wa {origin = "p"}
        %ph = bag.lookup %t, %wh {column = "town"}
        %p = matrix.add %pa, %ph

    The columns of a dictionary are never written, whose product is a row of the weight. What is the same for a whole
    column moves into the weights: standardized columns are never written either, and a sparse matrix stays so. The
    weights, and what is computed of them, are known at compile time. Requires nothing; a matrix that others read, too,
    is made nevertheless.
    """

    name = "matrix-push-products"
    numerics: ClassVar[Literal["exact", "reassociates"]] = "reassociates"
    inserted_too: ClassVar = True


class MultiplyParts(RewritePattern):
    """concat(a, b) [wa; wb] is a wa + b wb."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.MatmulOp, rewriter: PatternRewriter) -> None:
        parts = op.input.owner
        if not isinstance(parts, matrix.ConcatOp):
            return
        write, ends = TensorWriter(rewriter.insert), [*accumulate(matrix_of(part).columns for part in parts.inputs)]
        products: list[SSAValue] = []
        for part, start, stop in zip(parts.inputs, [0, *ends], ends, strict=False):
            weight = write.slice(op.weight, start, stop)
            products.append(write.of(matrix.MatmulOp.of(part, weight, origin=op.origin)))
        total = products[0]
        for product in products[1:]:
            total = write.of(matrix.AddOp.of(total, product))
        rewriter.replace(op, [], [total])


class LookUpWeights(RewritePattern):
    """one_hot(codes) w has the rows of w at the codes, and zeros for a value that is not known."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.MatmulOp, rewriter: PatternRewriter) -> None:
        codes = op.input.owner
        if not isinstance(codes, OneHotOp) or codes.dtype != f64:
            return
        table = TensorWriter(rewriter.insert).with_zeros_behind(op.weight)
        rewriter.replace(op, LookupOp.of(codes.input, table, column=codes.column))


class LookUpProducts(RewritePattern):
    """lookup(codes, table) w is lookup(codes, table w)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.MatmulOp, rewriter: PatternRewriter) -> None:
        codes = op.input.owner
        if not isinstance(codes, LookupOp):
            return
        table = TensorWriter(rewriter.insert).product(codes.table, op.weight)
        rewriter.replace(op, LookupOp.of(codes.input, table, column=codes.column))


class ScaleWeights(RewritePattern):
    """(x * factor + offset) w is x (factor w) + offset w."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.MatmulOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, matrix.MapOp):
            return
        affine = affine_of(before)
        if affine is None or affine.fill is not None:
            return
        write, vectors = TensorWriter(rewriter.insert), list(before.vectors)
        columns = matrix_of(op.input).columns
        factor = write.column(write.number(affine.factor, vectors), columns)
        offset = write.column(write.number(affine.offset, vectors), columns)
        weight = write.binary("*", factor, op.weight)
        constant = write.columns_sum(write.binary("*", offset, op.weight))
        product = write.of(matrix.MatmulOp.of(before.input, weight, origin=op.origin))
        rewriter.replace(op, matrix.MapOp.by(product, [constant], _plus))


def _plus(k: KernelBuilder, v: Scalar, b: Scalar) -> Scalar:
    return v + b
