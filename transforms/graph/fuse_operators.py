"""Group operators into kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled, is_splat
from tilework.dialects.graph.base import Category, GraphOp
from tilework.dialects.graph.structure import FusedOp, YieldOp
from tilework.transforms.graph.fusion_groups import MAX_OPERATORS, FusionGroups
from tilework.transforms.graph.patterns import GraphPatternPass

LABEL_LENGTH = 48
NOT_FUSED = "tilework.not_fused"


@dataclass(frozen=True)
class FuseOperators(GraphPatternPass):
    """Put the operators of every kernel into a graph.fused, which also names the kernel.

        %0 = graph.conv %x, %w ...            %1 = graph.fused "conv_relu" (%x, %w) : ... {
        %1 = graph.relu %0 ...                ^bb0(%a: ..., %b: ...):
                                         ->     %0 = graph.conv %a, %b ...
                                                %r = graph.relu %0 ...
                                                graph.yield %r : ...
                                              }

    Which operators go together is an analysis of the whole graph (`fusion_groups`), which the patterns ask. Constants
    of one value repeated move inside. With `explain`, each group says in the attribute `tilework.not_fused` why it was
    not fused with the groups that it reads.
    Requires nothing; leaves no operator outside a group but those marked `graph.view`. @prepare is left alone.
    """

    name = "graph-fuse-operators"

    explain: bool = False
    max_operators: int = MAX_OPERATORS

    def operations(self, op: Operation) -> Iterable[Operation]:
        return reversed(list(super().operations(op)))  # so that consumers come first

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        groups = [FusionGroups(graph, self.max_operators) for graph in graphs_of(op)]
        last = {member: members[-1] for graph in groups for members in graph.groups() for member in members}
        return [MergeIntoConsumer(last), MakeKernel(last)]

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        remarks = _remarks(op, self.max_operators) if self.explain and is_compiled(op) else {}
        super().run(ctx, op)
        if not remarks:
            return
        for group in [o for graph in graphs_of(op) for o in graph.ops if isinstance(o, FusedOp)]:
            notes = [note for member in group.body.block.ops for note in remarks.get(member, ())]
            if notes:
                group.attributes[NOT_FUSED] = StringAttr("; ".join(notes))


@dataclass(frozen=True)
class MergeIntoConsumer(RewritePattern):
    """An operator moves into the group of its only reader, if the analysis puts both into one kernel.

    last: for each operator, the one that its kernel ends with.
    """

    last: Mapping[GraphOp, GraphOp]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GraphOp, rewriter: PatternRewriter) -> None:
        end = self.last.get(op, op)
        consumers = {use.operation for result in op.results for use in result.uses}
        if end is op or len(consumers) != 1:
            return
        [consumer] = consumers
        if consumer is end:
            consumer = outline([end])
        if not isinstance(consumer, FusedOp) or _end_of(consumer) is not end:
            return
        merge_into(op, consumer)
        rewriter.notify_op_modified(consumer)


@dataclass(frozen=True)
class MakeKernel(RewritePattern):
    """An operator becomes a group of its own, if it is the last one of its kernel.

    last: for each operator, the one that its kernel ends with.
    """

    last: Mapping[GraphOp, GraphOp]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GraphOp, rewriter: PatternRewriter) -> None:
        if self.last.get(op) is op:
            rewriter.notify_op_modified(outline([op]))


def explain(func: FuncOp, max_operators: int = MAX_OPERATORS) -> list[str]:
    """For every two adjacent operators that fusion keeps apart, one line that names both and says why."""
    return [
        f"{producer.title} and {consumer.title} are not fused: {reason}"
        for graph in graphs_of(func)
        for producer, consumer, reason in FusionGroups(graph, max_operators).refusals()
    ]


def outline(members: Sequence[GraphOp]) -> FusedOp:
    """Move operators, given in program order, into one graph.fused that stands where the last of them stood.

    Only the last one's results may be used elsewhere.
    """
    *others, last = members
    body = Block(arg_types=[])
    group = FusedOp("", [], last.result_types, Region(body))
    block = last.parent_block()
    assert block is not None
    block.insert_op_before(group, last)
    for old, new in zip(last.results, group.results, strict=True):
        old.replace_all_uses_with(new)
    body.add_op(YieldOp(last.results))
    for member in (last, *reversed(others)):
        merge_into(member, group)
    return group


def merge_into(op: GraphOp, group: FusedOp) -> None:
    """Move an operator to the front of a group that is all that reads it. Constants of one number come along."""
    body = group.body.block
    arguments = dict[SSAValue, SSAValue](zip(group.inputs, body.args, strict=True))
    for result in op.results:
        if (argument := arguments.pop(result, None)) is not None:
            _replace_argument(argument, result)
    op.detach()
    body.insert_op_before(op, _first_behind_constants(body))
    inside = dict[SSAValue, SSAValue]()
    values = dict.fromkeys(op.operands)
    constants = [value for value in values if isinstance(value.owner, Operation) and is_splat(value.owner)]
    for value in reversed(constants):
        inside[value] = _constant_in_front(value, body)
    outer = [value for value in values if value not in inside]
    for index, value in enumerate(outer):
        inside[value] = body.insert_arg(value.type, index)
        inside[value].name_hint = value.name_hint
        if (argument := arguments.pop(value, None)) is not None:
            _replace_argument(argument, inside[value])
    op.operands = [inside[value] for value in op.operands]
    group.operands = [*outer, *arguments]
    members = [member for member in body.ops if isinstance(member, GraphOp)]
    group.label = StringAttr(label_of(members))
    group.location = anchor_of(members).location


def _replace_argument(argument: SSAValue, value: SSAValue) -> None:
    assert isinstance(argument, BlockArgument)
    argument.replace_all_uses_with(value)
    argument.owner.erase_arg(argument)


def _first_behind_constants(body: Block) -> Operation:
    return next(op for op in body.ops if not is_splat(op))


def _constant_in_front(value: SSAValue, body: Block) -> SSAValue:
    """A constant inside a group: the one that is there already, or a copy, before everything else."""
    assert isinstance(value.owner, ConstantOp)
    same = (o for o in body.ops if isinstance(o, ConstantOp) and o.value == value.owner.value)
    constant = next(same, None)
    if constant is None:
        constant = value.owner.clone()
    else:
        constant.detach()
    first = body.first_op
    assert first is not None
    body.insert_op_before(constant, first)
    return constant.result


def _end_of(group: FusedOp) -> Operation | Block:
    """The operator whose results a group yields."""
    yielded = group.body.block.last_op
    assert yielded is not None
    return yielded.operands[0].owner


def anchor_of(members: Sequence[GraphOp]) -> GraphOp:
    """The operator that does most of the work, whose location stands for the whole group's."""
    return max(members, key=lambda op: (op.category is not Category.OPAQUE, op.category))


def label_of(members: Sequence[GraphOp]) -> str:
    """The operators' names, of very many only the first ones: the name of the kernel."""
    label = ""
    for count, op in enumerate(members):
        if len(label) + len(op.label) >= LABEL_LENGTH:
            return f"{label}_and_{len(members) - count}_more"
        label = f"{label}_{op.label}" if label else op.label
    return label


def _remarks(function: FuncOp, max_operators: int) -> dict[Operation, list[str]]:
    """The reasons, by consumer, why the operators that it reads are in other groups."""
    remarks: dict[Operation, list[str]] = {}
    for graph in graphs_of(function):
        for producer, consumer, reason in FusionGroups(graph, max_operators).refusals():
            remarks.setdefault(consumer, []).append(f"with {producer.title}: {reason}")
    return remarks
