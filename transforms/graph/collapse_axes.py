"""One long axis instead of two, where a kernel treats every point of an image alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.post_dominators import VIEW
from tilework.dialects import arith
from tilework.dialects.graph.base import Category, GraphOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.movement import ConcatOp, SliceOp
from tilework.dialects.graph.reduction import ReduceOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.structure import FusedOp, YieldOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.writer import Writer

RANK = 4
"""The rank of images with height and width, and of weights."""


@dataclass(frozen=True)
class CollapseAxes(GraphPatternPass):
    """Make one axis of the height and width of images in kernels of a convolution of one by one, and in kernels that
    reduce images of unknown size to points (`keep_dims`).

    %y = graph.fused "conv_relu" (%x, %w)      %v = graph.reshape %x {graph.view, shape = [1, 8, 1, 3025]}
      : (tensor<1x8x55x55xf32>, ..) ..     ->  %z = graph.fused "conv_relu" (%v, %w) : (tensor<1x8x1x3025xf32>, ..)
                                               %y = graph.reshape %z {graph.view, shape = [1, 8, 55, 55]}

    Its points lie one after another in memory: rows of 55 have a rest that fills no vector, 3025 in a row hardly have
    one. With the convolution go operators that follow element by element. Not where an image is a part of a wider one,
    whose rows do not follow one another. Requires graph-fuse-operators.
    """

    name = "graph-collapse-axes"


class CollapseAroundConvolution(RewritePattern):
    """A convolution of one by one does to all points of an image the same, so that these may lie in one row."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp, rewriter: PatternRewriter) -> None:
        image = _image_of_convolution(op)
        body = None if image is None else _collapsed_body(op, image)
        if body is None:
            return
        _replace(op, body, rewriter)


class CollapseAroundReductions(RewritePattern):
    """A reduction of a whole image takes all points of it alike, so that these may lie in one row."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp, rewriter: PatternRewriter) -> None:
        image = _image_of_reductions(op)
        body = None if image is None else _collapsed_body(op, image)
        if body is None:
            return
        _replace(op, body, rewriter)


@dataclass(frozen=True)
class _Image:
    """The height and width that become one axis."""

    height: Expr
    width: Expr

    def collapsed(self, type_: Attribute) -> Attribute | None:
        """The type of a tensor that has both axes last, or neither; None where it has one."""
        dims = dims_of(type_)
        if len(dims) < 2:
            return type_
        if dims[-2:] == (self.height, self.width):
            return tensor_type((*dims[:-2], const(1), self.height * self.width), element_type(type_))
        return type_ if all(d == 1 for d in dims[-2:]) else None


def _image_of_reductions(group: FusedOp) -> _Image | None:
    """The image of unknown size that reductions, with what is element-wise, go over as a whole."""
    ops = [op for op in group.body.block.ops if not isinstance(op, YieldOp | arith.ConstantOp)]
    reductions = [op for op in ops if isinstance(op, ReduceOp)]
    others = [op for op in ops if not isinstance(op, ReduceOp)]
    if not reductions or any(not isinstance(op, GraphOp) or op.category > Category.BROADCAST for op in others):
        return None
    rank = len(reductions[0].dims(0))
    image = _Image(*reductions[0].dims(0)[-2:]) if rank > 2 else None
    if image is None or (image.height * image.width).is_constant:
        return None
    whole = all(op.axes.get_values() == (rank - 2, rank - 1) and op.keep_dims.value.data for op in reductions)
    return image if whole else None


def _image_of_convolution(group: FusedOp) -> _Image | None:
    """The image of the group's only convolution, of one by one; None where there is more that is not element-wise."""
    ops = [op for op in group.body.block.ops if not isinstance(op, YieldOp | arith.ConstantOp)]
    convs = [op for op in ops if isinstance(op, ConvOp)]
    others = [op for op in ops if not isinstance(op, ConvOp)]
    if len(convs) != 1 or any(not isinstance(op, GraphOp) or op.category > Category.BROADCAST for op in others):
        return None
    [conv] = convs
    if len(conv.dims(0)) != RANK or not conv.is_pointwise:
        return None
    image = _Image(*conv.dims(0)[-2:])
    return image if all(e.constant is None or e.constant > 1 for e in (image.height, image.width)) else None


def _collapsed_body(group: FusedOp, image: _Image) -> Block | None:
    """The group's operators on collapsed images; None where height or width matter by themselves."""
    if any(_is_part_of_rows(v) for v in (*group.inputs, *group.outputs)):
        return None
    old = group.body.block
    types = [image.collapsed(t) for t in old.arg_types]
    if None in types:
        return None
    new = Block(arg_types=[t for t in types if t is not None])
    values: dict[SSAValue, SSAValue] = dict(zip(old.args, new.args, strict=True))
    return new if append_remade(new, old.ops, values, image.collapsed) else None


def _is_part_of_rows(value: SSAValue) -> bool:
    """Whether a tensor lies in another one that is longer along the last axis."""
    while isinstance(view := value.owner, SliceOp | ReshapeOp) and VIEW in view.attributes:
        if isinstance(view, SliceOp) and len(view.dims(0)) - 1 in view.ranges():
            return True
        value = view.input
    return _is_made_in_rows(value)


def _is_made_in_rows(value: SSAValue) -> bool:
    """Whether a tensor is made inside a concatenation along the last axis."""
    for use in value.uses:
        view = use.operation
        if isinstance(view, ConcatOp | ReshapeOp) and VIEW in view.attributes:
            along_rows = isinstance(view, ConcatOp) and view.axis.value.data == len(view.dims(0)) - 1
            if along_rows or _is_made_in_rows(view.result):
                return True
    return False


def append_remade(
    block: Block,
    ops: Iterable[Operation],
    values: dict[SSAValue, SSAValue],
    retyped: Callable[[Attribute], Attribute | None],
) -> bool:
    """Append operators on other values than theirs to a block; False where they do not make what `retyped` says of
    the types of their results. values: what stands for what, to which results are added."""
    for op in ops:
        copy = _remade(op, [values[v] for v in op.operands])
        if copy is None or [r.type for r in copy.results] != [retyped(r.type) for r in op.results]:
            return False
        copy_location(copy, op)
        block.add_op(copy)
        values.update(zip(op.results, copy.results, strict=True))
    for before, after in values.items():
        after.name_hint = before.name_hint
    return True


def _remade(op: Operation, operands: Sequence[SSAValue]) -> Operation | None:
    """The same operator on operands of other types; None where it does not take them."""
    match op:
        case YieldOp():
            return YieldOp(operands)
        case GraphOp():
            try:
                return op.on(*operands)
            except VerifyException:
                return None
        case _:
            return op.clone()


def _replace(group: FusedOp, body: Block, rewriter: PatternRewriter) -> None:
    """Put a group with that body in place of the group, between views of what it reads and makes."""
    inputs = [viewed(v, t, group, rewriter) for v, t in zip(group.inputs, body.arg_types, strict=True)]
    assert body.last_op is not None
    collapsed = FusedOp(group.label.data, inputs, [v.type for v in body.last_op.operands], Region(body))
    collapsed.attributes |= group.attributes
    Writer(rewriter, group).insert(collapsed)
    for before, after in zip(group.outputs, collapsed.outputs, strict=True):
        after.name_hint = before.name_hint
        rewriter.replace_all_uses_with(before, viewed(after, before.type, group, rewriter))
    erase_with_views(group, rewriter)


def erase_with_views(group: FusedOp, rewriter: PatternRewriter) -> None:
    """Erase a group that nothing uses, and the views that only it read."""
    inputs = list(group.inputs)
    rewriter.erase(group)
    for value in inputs:
        while isinstance(view := value.owner, ReshapeOp) and view.parent and VIEW in view.attributes and not value.uses:
            value = view.input
            rewriter.erase(view)


def viewed(value: SSAValue, type_: Attribute, group: FusedOp, rewriter: PatternRewriter) -> SSAValue:
    """The value under another shape, by a view in front of the group; of a view what it is one of, if that has it."""
    source = value
    while source.type != type_ and isinstance(view := source.owner, ReshapeOp) and VIEW in view.attributes:
        source = view.input
    if source.type == type_:
        return source
    view = ReshapeOp.of(value, shape=DimsAttr(dims_of(type_)))
    view.attributes[VIEW] = UnitAttr()
    view.result.name_hint = value.name_hint
    return Writer(rewriter, group).insert(view)
