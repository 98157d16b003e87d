"""Mark the operators that need no kernel: their result can share a buffer with their operands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.analysis.functions import graphs_of, is_returned
from tilework.analysis.parameters import is_compiled
from tilework.analysis.post_dominators import VIEW
from tilework.analysis.views import has_constant_strides
from tilework.dialects.graph.base import Category, GraphOp
from tilework.dialects.graph.movement import ConcatOp, SliceOp, TransposeOp
from tilework.dialects.graph.reshape import ReshapeOp, regroups_open_axes
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.base import TileworkPass

IMAGE_RANK = 4


@dataclass(frozen=True)
class AnnotateViews(TileworkPass):
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
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        for graph in graphs_of(op):
            _annotate([o for o in graph.ops if isinstance(o, GraphOp)])


def _annotate(operators: Sequence[GraphOp]) -> None:
    """Mark the views among the operators of a graph."""
    views = _Views()
    for operator in operators:
        views.visit(operator)
    for operator in operators:  # parts are known only now: a concatenation may follow the reshape of its operand
        if isinstance(operator, ReshapeOp) and views.is_view_reshape(operator):
            operator.attributes[VIEW] = UnitAttr()


class _Views:
    """What was decided so far, in program order."""

    def __init__(self):
        self._parts: set[SSAValue] = set()
        """Tensors made inside a concatenation, and slices: what lies in a part of another buffer."""
        self._anchored: set[SSAValue] = set()
        """What a convolution or the like makes, alone or with element-wise operators behind it."""

    def visit(self, op: GraphOp) -> None:
        """Decide about concatenations and slices, and note where the result comes from."""
        if isinstance(op, ConcatOp) and self._is_view_concat(op):
            op.attributes[VIEW] = UnitAttr()
            self._parts.update(op.inputs)
            self._anchored.add(op.result)
        elif isinstance(op, SliceOp) and self._is_view_slice(op):
            op.attributes[VIEW] = UnitAttr()
            self._parts.add(op.result)
            self._anchored.add(op.result)
        elif self._is_anchored(op):
            self._anchored.update(op.results)

    def _is_anchored(self, op: GraphOp) -> bool:
        if op.category > Category.INJECTIVE:
            return True
        elementwise = op.category <= Category.BROADCAST
        return elementwise and any(v in self._anchored and v.has_one_use() for v in op.operands)

    def _is_view_concat(self, op: ConcatOp) -> bool:
        axis = op.axis.value.data
        return (
            any(v in self._anchored for v in op.inputs)
            and len(set(op.inputs)) == len(op.inputs)
            and all(self._can_be_a_part(v) for v in op.inputs)
            and has_constant_strides(op.result)
            and all(dims_of(v.type)[axis].is_constant for v in op.inputs)
        )

    def _can_be_a_part(self, value: SSAValue) -> bool:
        made = value.owner
        if not isinstance(made, GraphOp) or value in self._parts or is_returned(value):
            return False
        return not isinstance(made, ReshapeOp | SliceOp) and (VIEW not in made.attributes or isinstance(made, ConcatOp))

    def _is_view_slice(self, op: SliceOp) -> bool:
        kept = op.ranges()
        last = len(op.dims(0)) - 1
        forwards = all(r.step > 0 and (axis != last or r.step == 1) for axis, r in kept.items())
        return forwards and has_constant_strides(op.input) and not is_returned(op.result) and self._saves(op)

    def is_view_reshape(self, op: ReshapeOp) -> bool:
        """Whether the reshape only names the same memory anew."""
        worthwhile = self._saves(op) or regroups_open_axes(dims_of(op.input.type), op.shape.data)
        if op.input in self._parts or not worthwhile or _is_image_moved(op):
            return False
        made_in_output = isinstance(op.input.owner, GraphOp) and not is_returned(op.input)
        return made_in_output or not is_returned(op.result)

    def _saves(self, op: ReshapeOp | SliceOp) -> bool:
        """Whether a view is worth more than fusion: not where cheap operators on both sides would become one kernel."""
        source = op.operands[0]
        computed = isinstance(source.owner, GraphOp) and VIEW not in source.owner.attributes
        if not computed or source in self._anchored or not source.has_one_use():
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
