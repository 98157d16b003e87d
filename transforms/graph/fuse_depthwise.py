"""A depthwise convolution becomes part of the kernel of the convolution of one by one that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.post_dominators import VIEW
from tilework.analysis.program_targets import is_on_host, target_of
from tilework.analysis.views import behind_reshapes
from tilework.dialects.graph.base import Category, GraphOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.layout import PackOp, UnpackOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type
from tilework.dialects.te import KernelOp
from tilework.rules.registry import plan_for
from tilework.targets import Target
from tilework.transforms.graph.algorithms import parameters_of
from tilework.transforms.graph.collapse_axes import append_remade, erase_with_views, viewed
from tilework.transforms.graph.joined_sizes import usual_version
from tilework.transforms.graph.packed_groups import unpack_argument
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.te_kernels import build_kernel
from tilework.transforms.graph.writer import Writer

IMAGE = slice(2, 4)
"""Where the height and width of an image are among the dimensions of a tensor, whether or not it is in blocks."""


@dataclass(frozen=True)
class FuseDepthwise(GraphPatternPass):
    """Put a depthwise convolution and the convolution of one by one behind it into one kernel where the rule for that
    computes what one reads of the other some rows at a time.

    %y = graph.fused "conv_relu" (%x, %w) ...             %z = graph.fused "conv_relu_conv" (%x, %w, %v) ... {
    %a = graph.reshape %y {graph.view, ...}                 ..
    %z = graph.fused "conv" (%a, %v) ...            ->      %b = graph.conv %a, %w {groups = 32}
                                                            %c = graph.relu %b
                                                            %d = graph.conv %c, %v

    The image between them stays in the caches of the core that makes it. It has to be in blocks of channels, and nobody
    else may read it. Height and width are axes of their own in that kernel, as they are to windows, though
    `graph-collapse-axes` had made one of them for the other convolution. Requires choose-layouts and choose-algorithms.
    """

    name = "fuse-depthwise"


class JoinWithReader(RewritePattern):
    """The kernel of a depthwise convolution and that of the one-by-one convolution that alone reads it become one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp, rewriter: PatternRewriter) -> None:
        reader = _pointwise_reader(op) if is_on_host(op) and _is_depthwise(op) else None
        joined = None if reader is None else _joined(op, reader)
        if reader is None or joined is None:
            return
        if not _is_computed_in_parts(joined, target_of(op)):
            joined.erase()  # it uses what both read
            return
        _replace(op, reader, joined, rewriter)


def _is_computed_in_parts(joined: FusedOp, target: Target) -> bool:
    """Whether the rule for a joined group has one of its convolutions made some rows at a time."""
    kernel = _with_packed_parameters(joined, target)
    return plan_for(kernel, target).computes_in_parts


def _only_convolution(group: FusedOp) -> ConvOp | None:
    """The convolution of a group in which all else is element-wise, or changes its layout."""
    ops = [op for op in group.body.block.ops if isinstance(op, GraphOp) and not isinstance(op, PackOp | UnpackOp)]
    convs = [op for op in ops if isinstance(op, ConvOp)]
    simple = all(op.category <= Category.BROADCAST for op in ops if not isinstance(op, ConvOp))
    return convs[0] if len(convs) == 1 and simple else None


def _is_depthwise(group: FusedOp) -> bool:
    """Whether it convolves each channel of an image of known size by itself, and makes one image, in blocks."""
    conv = _only_convolution(group)
    yielded = group.body.block.last_op
    assert yielded is not None
    if conv is None or len(group.outputs) != 1 or not isinstance(yielded.operands[0].owner, PackOp):
        return False
    groups = conv.groups.value.data
    dims = dims_of(conv.result.type)
    return len(dims) == 4 and groups > 1 and conv.dims(1)[:2] == (groups, 1) and all(d.is_constant for d in dims)


def _pointwise_reader(group: FusedOp) -> FusedOp | None:
    """The group that alone reads the image a group makes, by a convolution of one by one."""
    uses = list(group.outputs[0].uses)
    while len(uses) == 1 and isinstance(view := uses[0].operation, ReshapeOp) and VIEW in view.attributes:
        uses = list(view.result.uses)
    if len(uses) != 1 or not isinstance(reader := uses[0].operation, FusedOp):
        return None
    conv, argument = _only_convolution(reader), reader.body.block.args[uses[0].index]
    if conv is None or reader.parent != group.parent or not _reads_only(conv, argument):
        return None
    return reader if conv.is_pointwise and conv.groups.value.data == 1 else None


def _reads_only(conv: ConvOp, argument: SSAValue) -> bool:
    """Whether an argument in blocks is the convolution's image, and nothing else."""
    unpack = conv.input.owner
    if not isinstance(unpack, UnpackOp) or unpack.input is not argument:
        return False
    return all(len(list(value.uses)) == 1 for value in (argument, unpack.result))


def _joined(group: FusedOp, reader: FusedOp) -> FusedOp | None:
    """A group of the operators of both, in no graph; None where those of the reader need its image as it is."""
    image = dims_of(group.outputs[0].type)[IMAGE]
    between = next(i for i, v in enumerate(reader.inputs) if behind_reshapes(v) is group.outputs[0])
    others = [i for i in range(len(reader.inputs)) if i != between]
    types = [_with_image(reader.body.block.args[i].type, image) for i in others]
    body = Block(arg_types=[*group.body.block.arg_types, *types])
    values: dict[SSAValue, SSAValue] = dict(zip(group.body.block.args, body.args, strict=False))
    values |= zip((reader.body.block.args[i] for i in others), body.args[len(group.inputs) :], strict=True)
    *made, end = group.body.block.ops
    if not append_remade(body, made, values, lambda type_: type_):
        return None
    values[reader.body.block.args[between]] = values[end.operands[0]]
    if not append_remade(body, reader.body.block.ops, values, lambda type_: _with_image(type_, image)):
        return None
    assert body.last_op is not None
    inputs = [*group.inputs, *(reader.inputs[i] for i in others)]
    label = f"{group.label.data}_{reader.label.data}"
    return FusedOp(label, inputs, [v.type for v in body.last_op.operands], Region(body))


def _with_packed_parameters(group: FusedOp, target: Target) -> KernelOp:
    """The kernel that the group will be when its parameters have the layouts that the rule for it asks for."""
    kernel, parameters = build_kernel(group.label.data, usual_version(group)), parameters_of(group)
    trial = group.clone()
    for packing in plan_for(kernel, target, parameters).packings:
        unpack_argument(trial, packing.argument, packing.axis, packing.block)
    packed = build_kernel(group.label.data, usual_version(trial))
    trial.erase()
    return packed


def _with_image(type_: Attribute, image: Sequence[Expr]) -> Attribute:
    """The type of a tensor whose height and width are one axis no longer."""
    dims = dims_of(type_)
    if dims[IMAGE] != (const(1), image[0] * image[1]):
        return type_
    return tensor_type((*dims[: IMAGE.start], *image, *dims[IMAGE.stop :]), element_type(type_))


def _replace(group: FusedOp, reader: FusedOp, joined: FusedOp, rewriter: PatternRewriter) -> None:
    """Put the joined group in place of both, between views of what it reads and makes."""
    joined.attributes |= reader.attributes
    for i, argument in enumerate(joined.body.block.args):
        joined.operands[i] = viewed(joined.inputs[i], argument.type, reader, rewriter)
    Writer(rewriter, reader).insert(joined)
    for before, after in zip(reader.outputs, joined.outputs, strict=True):
        after.name_hint = before.name_hint
        for view in [use.operation for use in before.uses]:
            if isinstance(view, ReshapeOp) and view.result.type == after.type:
                rewriter.replace(view, [], [after])
        rewriter.replace_all_uses_with(before, viewed(after, before.type, reader, rewriter))
    erase_with_views(reader, rewriter)
    erase_with_views(group, rewriter)
