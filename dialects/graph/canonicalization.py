"""What graph operators amount to: nothing, or one simpler operator. Exact, NaN and the sign of zero included.

`opt-tool -p canonicalize` applies these patterns everywhere, `graph-remove-identities` in the pipeline. An operator
that another pass has marked with an attribute, as `graph.view`, is left to that pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, IntegerType, f32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.graph.base import ints
from tilework.dialects.graph.broadcast import AddOp, DivOp, MulOp, SubOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.elementwise import ClipOp, DropoutOp, ReluOp, RoundOp
from tilework.dialects.graph.movement import BroadcastOp, ConcatOp, PadOp, SliceOp, TransposeOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type


class DropDropout(RewritePattern):
    """dropout(x) is x, since networks are only run here and not trained."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DropoutOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, [], [op.input])


class DropSameType(RewritePattern):
    """A reshape, cast, broadcast or pad of x whose result has the type of x is x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp | CastOp | BroadcastOp | PadOp, rewriter: PatternRewriter) -> None:
        if op.attributes or op.input.type != op.results[0].type:
            return
        rewriter.replace(op, [], [op.input])


class DropWholeSlice(RewritePattern):
    """A slice that goes forwards through all of x, in steps of 1, is x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SliceOp, rewriter: PatternRewriter) -> None:
        if op.attributes or op.input.type != op.result.type or any(step != 1 for step in op.steps.get_values()):
            return
        rewriter.replace(op, [], [op.input])


class DropSortedTranspose(RewritePattern):
    """A transpose of x that leaves every axis where it is, is x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        if not _is_sorted(op.permutation.get_values()):
            return
        rewriter.replace(op, [], [op.input])


class DropSingleConcat(RewritePattern):
    """concat(x) is x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter) -> None:
        if op.attributes or len(op.inputs) != 1:
            return
        rewriter.replace(op, [], [op.inputs[0]])


class DropRepeatedBound(RewritePattern):
    """relu(relu(x)) is relu(x), and so with two clips that have the same bounds."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp | ClipOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, type(op)) or before.properties != op.properties:
            return
        rewriter.replace(op, [], [op.input])


class DropNeutralOperand(RewritePattern):
    """x + -0.0, x - 0.0, x * 1 and x / 1 are x, where x has the type of the result; x + 0.0 is not, where x is -0.0.

    A scale of 1 that integers are multiplied by as floats, or floats are divided by before they are rounded, stays: by
    their scales what multiplies bytes finds quantized tensors. In a kernel it costs nothing.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp | SubOp | MulOp | DivOp, rewriter: PatternRewriter) -> None:
        found = next((v for v, other in _sides(op) if v.type == op.result.type and _is_neutral(other, op)), None)
        if found is None or _is_scaling(op):
            return
        rewriter.replace(op, [], [found])


class JoinReshapes(RewritePattern):
    """reshape(reshape(x)) is one reshape of x, or x itself where that has the type of the result."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if op.attributes or not isinstance(before, ReshapeOp):
            return
        if before.input.type == op.result.type:
            rewriter.replace(op, [], [before.input])
        else:
            _replace(op, before.under(op.shape, op.sizes), rewriter)
        _erase_unused(before, rewriter)


class JoinTransposes(RewritePattern):
    """transpose(transpose(x)) is one transpose of x, or x itself where every axis is where it was."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        before, (source, permutation) = op.input.owner, _transposed(op)
        if not isinstance(before, TransposeOp) or _moves_only_ones(source, permutation):
            return
        if _is_sorted(permutation):
            rewriter.replace(op, [], [source])
        else:
            _replace(op, TransposeOp.of(source, permutation=ints(permutation)), rewriter)
        _erase_unused(before, rewriter)


class ReshapeOnes(RewritePattern):
    """One or two transposes of x that together move only axes of size 1 are a reshape of x, which costs nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        before, (source, permutation) = op.input.owner, _transposed(op)
        if not _moves_only_ones(source, permutation):
            return
        if source.type == op.result.type:
            rewriter.replace(op, [], [source])
        else:
            _replace(op, ReshapeOp.of(source, shape=DimsAttr(dims_of(op.result.type))), rewriter)
        if isinstance(before, TransposeOp):
            _erase_unused(before, rewriter)


PATTERNS: tuple[RewritePattern, ...] = (
    *(DropDropout(), DropSameType(), DropWholeSlice(), DropSortedTranspose(), DropSingleConcat()),
    *(DropRepeatedBound(), DropNeutralOperand(), JoinReshapes(), JoinTransposes(), ReshapeOnes()),
)
"""All of them; each says itself which operators it is for."""


def _replace(op: ReshapeOp | TransposeOp, new: ReshapeOp | TransposeOp, rewriter: PatternRewriter) -> None:
    copy_location(new, op)
    rewriter.replace(op, new)


def _erase_unused(before: ReshapeOp | TransposeOp, rewriter: PatternRewriter) -> None:
    """Erase a movement that only another one read."""
    if not before.result.uses:
        rewriter.erase(before)


def _sides(op: AddOp | SubOp | MulOp | DivOp) -> Iterator[tuple[SSAValue, SSAValue]]:
    """What may be all of the result, each with the operand that is neutral then."""
    yield op.left, op.right
    if isinstance(op, AddOp | MulOp):
        yield op.right, op.left


def _is_scaling(op: AddOp | SubOp | MulOp | DivOp) -> bool:
    """Whether an operator dequantizes integers or is the first one that quantizes floats."""
    before = op.left.owner
    match op:
        case MulOp() if isinstance(before, CastOp):
            return isinstance(element_type(before.input.type), IntegerType) and before.to == f32
        case DivOp():
            return any(isinstance(use.operation, RoundOp) for use in op.result.uses)
        case _:
            return False


def _is_neutral(value: SSAValue, op: AddOp | SubOp | MulOp | DivOp) -> bool:
    """Whether the operator's other operand stays what it is."""
    number = _number(value)
    if number is None:
        return False
    match op:
        case AddOp():
            return number == 0 and bool(np.signbit(number) or not isinstance(op.dtype(), AnyFloat))
        case SubOp():
            return number == 0 and not np.signbit(number)
        case MulOp() | DivOp():
            return number == 1


def _number(value: SSAValue) -> float | int | None:
    """The number that all elements of a constant are, or None."""
    op = value.owner
    if not isinstance(op, ConstantOp) or not isinstance(op.value, DenseIntOrFPElementsAttr):
        return None
    if 0 in op.value.get_shape() or not op.value.is_splat():
        return None
    number = op.value.get_values()[0]
    return number if isinstance(number, float | int) else None


def _transposed(op: TransposeOp) -> tuple[SSAValue, Sequence[int]]:
    """What `op` transposes and how, seen through a transpose in front of it."""
    permutation, before = op.permutation.get_values(), op.input.owner
    if not isinstance(before, TransposeOp):
        return op.input, permutation
    first = before.permutation.get_values()
    return before.input, [first[axis] for axis in permutation]


def _moves_only_ones(source: SSAValue, permutation: Sequence[int]) -> bool:
    """Whether the axes that are not of size 1 keep their order, though others move."""
    dims = dims_of(source.type)
    return not _is_sorted(permutation) and _is_sorted([axis for axis in permutation if dims[axis] != 1])


def _is_sorted(axes: Sequence[int]) -> bool:
    return list(axes) == sorted(axes)
