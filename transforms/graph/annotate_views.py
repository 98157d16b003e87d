"""Mark the operators that need no kernel: their result can share a buffer with their operands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr
from tilework.analysis.functions import is_returned
from tilework.analysis.post_dominators import VIEW
from tilework.analysis.views import has_constant_strides
from tilework.dialects.graph.base import Category, GraphOp
from tilework.dialects.graph.movement import ConcatOp, SliceOp, TransposeOp
from tilework.dialects.graph.reshape import ReshapeOp, regroups_open_axes
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.graph.patterns import GraphPatternPass

IMAGE_RANK = 4


@dataclass(frozen=True)
class AnnotateViews(GraphPatternPass):
    """Mark with `graph.view` the reshapes, slices and concatenations that move nothing in memory.

        %0 = graph.conv ...                                        %0 = graph.conv ...
        %1 = graph.max_pool ...                                    %1 = graph.max_pool ...
        %2 = graph.concat %0, %1 {axis = 1}                  ->    %2 = graph.concat %0, %1 {axis = 1, graph.view}
        %3 = graph.reshape %2 {shape = [1, 64]}                    %3 = graph.reshape %2 {shape = [1, 64], graph.view}

    A concatenation is a view where kernels can write every operand into its part of the result: each is computed in
    this function, is no result of it, and is no other part of a concatenation. A reshape is one where its operand has
    no gaps: it is no part of anything; a slice where it walks forwards, and through the last axis in steps of 1. Parts
    must lie at constant distances: every size but the first is constant.

    Operators between cheap computations are left to fusion, which then saves a whole pass over memory instead of a
    copy; but not reshapes for which a kernel would have to divide indices by sizes that only the running program knows
    to fit. Reshapes that take images apart, or put them together, beside a transpose are left to fusion, too: blocks of
    channels move as a whole then. Run it right before graph-fuse-operators, which leaves views out of the kernels.
    Requires nothing.
    """

    name = "graph-annotate-views"

    def operations(self, op: Operation) -> Iterable[Operation]:
        # reshapes last: parts are known only then, as a concatenation may follow the reshape of its operand
        return sorted(super().operations(op), key=lambda o: isinstance(o, ReshapeOp))


class ConcatInPlace(RewritePattern):
    """concat(f(x), g(y)) moves nothing where kernels can write f(x) and g(y) where they lie in the result."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter) -> None:
        axis = op.axis.value.data
        if not any(map(_is_anchored, op.inputs)) or len(set(op.inputs)) != len(op.inputs):
            return
        if not all(_can_be_a_part(v) and dims_of(v.type)[axis].is_constant for v in op.inputs):
            return
        if not has_constant_strides(op.result):
            return
        _mark(op, rewriter)


class SliceInPlace(RewritePattern):
    """slice(x) moves nothing where it walks forwards at constant distances, and through the last axis in steps of 1."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SliceOp, rewriter: PatternRewriter) -> None:
        last = len(op.dims(0)) - 1
        if any(r.step <= 0 or (axis == last and r.step != 1) for axis, r in op.ranges().items()):
            return
        if not has_constant_strides(op.input) or is_returned(op.result) or not _saves(op):
            return
        _mark(op, rewriter)


class ReshapeInPlace(RewritePattern):
    """reshape(x) moves nothing where x is no part of another tensor: it only names the same memory anew."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        worthwhile = _saves(op) or regroups_open_axes(dims_of(op.input.type), op.shape.data)
        if not worthwhile or _is_a_part(op.input) or _is_image_moved(op):
            return
        made_in_output = isinstance(op.input.owner, GraphOp) and not is_returned(op.input)
        if is_returned(op.result) and not made_in_output:
            return
        _mark(op, rewriter)


def _mark(op: ConcatOp | ReshapeOp | SliceOp, rewriter: PatternRewriter) -> None:
    op.attributes[VIEW] = UnitAttr()
    rewriter.notify_op_modified(op)


def _is_a_part(value: SSAValue) -> bool:
    """Whether a tensor lies in a part of another buffer: a slice, or made inside a concatenation."""
    readers = (use.operation for use in value.uses)
    return _is_view(value.owner, SliceOp) or any(_is_view(reader, ConcatOp) for reader in readers)


def _is_view(op: Operation | Block, kind: type[Operation]) -> bool:
    return isinstance(op, kind) and VIEW in op.attributes


def _is_anchored(value: SSAValue) -> bool:
    """Whether a convolution or the like makes a tensor, alone or with element-wise operators behind it."""
    waiting = [value]
    while waiting:
        op = waiting.pop().owner
        if not isinstance(op, GraphOp):
            continue
        if op.category > Category.INJECTIVE or _is_view(op, ConcatOp) or _is_view(op, SliceOp):
            return True
        if op.category <= Category.BROADCAST:
            waiting += [v for v in op.operands if v.has_one_use()]
    return False


def _can_be_a_part(value: SSAValue) -> bool:
    """Whether a tensor can be made inside a concatenation: it is computed here, in no other buffer yet."""
    made = value.owner
    if not isinstance(made, GraphOp) or isinstance(made, ReshapeOp | SliceOp):
        return False
    if _is_a_part(value) or is_returned(value):
        return False
    return VIEW not in made.attributes or isinstance(made, ConcatOp)


def _saves(op: ReshapeOp | SliceOp) -> bool:
    """Whether a view is worth more than fusion: not where cheap operators on both sides would become one kernel."""
    source = op.operands[0]
    computed = isinstance(source.owner, GraphOp) and VIEW not in source.owner.attributes
    if not computed or not source.has_one_use() or _is_anchored(source):
        return True
    return not _all_cheap(use.operation for use in op.results[0].uses)


def _is_image_moved(op: ReshapeOp) -> bool:
    """Whether a transpose moves images, and this takes axes in front of their rows apart or puts them together.

    As part of that kernel: what it reads or makes are images then, which may be in blocks of channels.
    """
    before, after = dims_of(op.input.type), dims_of(op.result.type)
    if _are_images(after, before):
        return isinstance(op.input.owner, TransposeOp) and op.input.has_one_use()
    is_moved = op.result.has_one_use() and all(isinstance(use.operation, TransposeOp) for use in op.result.uses)
    return is_moved and _are_images(before, after)


def _are_images(images: Sequence[Expr], apart: Sequence[Expr]) -> bool:
    """Whether dimensions are those of images, of a batch or channels that are taken apart in others."""
    return len(images) == IMAGE_RANK < len(apart) and images[2:] == apart[2 - IMAGE_RANK :]


def _all_cheap(ops: Iterable[Operation]) -> bool:
    return all(isinstance(op, GraphOp) and op.category <= Category.INJECTIVE for op in ops)
