"""One half of a matrix times itself is computed, and the other one copied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, Region
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import maximum, minimum, var
from tilework.analysis.tall_products import BLOCK, is_on_or_above_diagonal, is_tall_product, symmetric_block
from tilework.analysis.unique_names import UniqueNames
from tilework.dialects import arith
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.te import ComputeOp, IfThenElseOp, KernelOp, ReadOp, ReduceOp, YieldOp
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class HalveSymmetricProducts(PatternPass):
    """Compute a tall product of a matrix and itself on its diagonal blocks and above, and read the rest from there.

    %y = te.compute "y" [i: 100, j: 100]          %u = te.compute "y.half" [i: 100, j: 100] reduce [k: n] {
         reduce [k: n] {                            %p = te.if_then_else [j floordiv 32 >= i floordiv 32] {
      .. %x[k, i] * %x[k, j] ..             ->        .. %x[k, i] * %x[k, j] ..
      te.reduce add %p                              } else { 0 }
                                                    te.reduce add %p
                                                  %y = te.compute "y" [i: 100, j: 100] {
                                                    te.read %u[min(i, j), max(i, j)]

    An element and the one across the diagonal are the same number, as they are where both are computed. It is done for
    kernels that sum nothing else, have one result, and bring no schedule. Stages that only move elements, as a
    transposition does, are looked through. Requires nothing; the rules for tall products expect it.
    """

    name = "te-halve-symmetric-products"
    anchor = ModuleOp
    inserted_too: ClassVar = True  # several stages that only move elements may follow each other

    def operations(self, op: Operation) -> Iterable[Operation]:
        """What is in kernels that may be rewritten; what a stage reads comes before the stage."""
        assert isinstance(op, ModuleOp)
        scheduled = {s.kernel_name for s in op.ops if isinstance(s, SequenceOp)}
        kernels = [k for k in op.ops if isinstance(k, KernelOp) and k.sym_name.data not in scheduled]
        return [inner for k in kernels if _is_one_sum(k) for inner in k.body.walk(region_first=True)]


def _is_one_sum(kernel: KernelOp) -> bool:
    return sum(bool(c.reduction) for c in kernel.computes) == 1 and len(kernel.results_returned) == 1


class ReadWhatIsMoved(RewritePattern):
    """A tall product reads an element where it comes from, not where a stage that computes nothing puts it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReadOp, rewriter: PatternRewriter) -> None:
        product, stage = op.parent_op(), op.tensor.owner
        if not isinstance(product, ComputeOp) or not isinstance(stage, ComputeOp) or not is_tall_product(product):
            return
        match [*stage.body.block.ops]:
            case [ReadOp() as source, YieldOp()] if not source.index_operands:
                values = {name: e for (name, _), e in zip(stage.spatial, op.exprs, strict=True)}
                moved = ReadOp(source.tensor, [e.substitute(values) for e in source.exprs])
                copy_location(moved, op)
                rewriter.replace(op, moved)
                if not any(result.uses for result in stage.results):
                    rewriter.erase(stage)
            case _:
                pass


class ComputeOneHalf(RewritePattern):
    """y[i, j] = sum x[k, i] * x[k, j] is y[min(i, j), max(i, j)], so no block below the diagonal is computed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        if not is_tall_product(op) or symmetric_block(op) is not None or not _is_symmetric(op):
            return
        kernel = op.parent_op()
        assert isinstance(kernel, KernelOp)
        half = _half(op, UniqueNames(c.stage.data for c in kernel.computes).fresh(f"{op.stage.data}.half"))
        rewriter.replace(op, [half, whole := _whole(op, half)], whole.results)


def _is_symmetric(product: ComputeOp) -> bool:
    """Whether it multiplies elements of one argument, rows of which are side by side, and has several blocks."""
    match [*product.body.block.ops]:
        case [ReadOp() as a, ReadOp() as b, arith.MulfOp() as times, ReduceOp() as total]:
            pass
        case _:
            return False
    (row, rows), (column, columns) = product.spatial
    exchanged = [e.substitute({row: var(column)}) for e in a.exprs]
    return (
        rows == columns
        and rows.constant is not None
        and rows.constant > BLOCK
        and isinstance(a.tensor, BlockArgument)
        and a.tensor is b.tensor
        and exchanged == [*b.exprs]
        and a.exprs[-1] == var(row)
        and (set(times.operands), [*total.values], total.where) == ({a.result, b.result}, [times.result], None)
        and total.kind is not None
        and total.kind.data == "add"
    )


def _half(product: ComputeOp, stage: str) -> ComputeOp:
    """The product, of which a block below the diagonal is a sum of zeros."""
    half = product.clone()
    half.stage = StringAttr(stage)
    *terms, total = half.body.block.ops
    assert isinstance(total, ReduceOp)
    type_ = total.values[0].type
    zero = arith.ConstantOp(FloatAttr(0.0, cast(AnyFloat, type_)))
    for op in terms:
        op.detach()
    chosen = Region(Block([*terms, YieldOp([*total.values])]))
    choice = IfThenElseOp([is_on_or_above_diagonal(half)], type_, chosen, Region(Block([zero, YieldOp([zero.result])])))
    total.operands[0] = choice.result
    half.body.block.insert_op_before(choice, total)
    for op in half.walk():
        copy_location(op, product)
    return half


def _whole(product: ComputeOp, half: ComputeOp) -> ComputeOp:
    """The stage that takes each element from the half that is computed."""
    (row, _), (column, _) = product.spatial
    element = ReadOp(half.result, [minimum(var(row), var(column)), maximum(var(row), var(column))])
    body = Region(Block([element, YieldOp([element.result])]))
    return ComputeOp(product.stage.data, product.spatial, [], product.results.types, body)
