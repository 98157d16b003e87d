"""Group operators into kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled, is_splat
from tilework.dialects.graph.base import Category, GraphOp
from tilework.dialects.graph.structure import FusedOp, YieldOp
from tilework.transforms.base import TileworkPass
from tilework.transforms.graph.fusion_groups import MAX_OPERATORS, FusionGroups

LABEL_LENGTH = 48
NOT_FUSED = "tilework.not_fused"


@dataclass(frozen=True)
class FuseOperators(TileworkPass):
    """Put the operators of every kernel into a graph.fused, which also names the kernel.

        %0 = graph.conv %x, %w ...            %1 = graph.fused "conv_relu" (%x, %w) : ... {
        %1 = graph.relu %0 ...                ^bb0(%a: ..., %b: ...):
                                         ->     %0 = graph.conv %a, %b ...
                                                %r = graph.relu %0 ...
                                                graph.yield %r : ...
                                              }

    Which operators go together: see `fusion_groups`. Constants of one value repeated move inside. With `explain`, each
    group says in the attribute `tilework.not_fused` why it was not fused with the groups that it reads.
    Requires nothing; leaves no operator outside a group but those marked `graph.view`. @prepare is left alone.
    """

    name = "graph-fuse-operators"
    anchor: ClassVar = FuncOp

    explain: bool = False
    max_operators: int = MAX_OPERATORS

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        for graph in graphs_of(op):
            self._fuse(FusionGroups(graph, self.max_operators))

    def _fuse(self, groups: FusionGroups) -> None:
        remarks = _remarks(groups) if self.explain else {}
        for members in groups.groups():
            fused = outline(members)
            notes = [note for member in members for note in remarks.get(member, ())]
            if notes:
                fused.attributes[NOT_FUSED] = StringAttr("; ".join(notes))


def explain(func: FuncOp, max_operators: int = MAX_OPERATORS) -> list[str]:
    """For every two adjacent operators that fusion keeps apart, one line that names both and says why."""
    return [
        f"{producer.title} and {consumer.title} are not fused: {reason}"
        for graph in graphs_of(func)
        for producer, consumer, reason in FusionGroups(graph, max_operators).refusals()
    ]


def outline(members: list[GraphOp]) -> FusedOp:
    """Move operators, given in program order, into one graph.fused that stands where the last of them stood.

    Only the last one's results may be used elsewhere.
    """
    last = members[-1]
    inside = set[Operation](members)
    inputs = [v for m in members for v in m.operands if v.owner not in inside]
    constants = {
        v: v.owner.clone() for v in dict.fromkeys(inputs) if isinstance(v.owner, Operation) and is_splat(v.owner)
    }
    outer = [v for v in dict.fromkeys(inputs) if v not in constants]

    body = Block(arg_types=[v.type for v in outer])
    fused = FusedOp(label_of(members), outer, last.result_types, Region(body))
    fused.location = anchor_of(members).location
    block = last.parent_block()
    assert block is not None
    block.insert_op_before(fused, last)
    for old, new in zip(last.results, fused.results, strict=True):
        old.replace_all_uses_with(new)

    inner: dict[SSAValue, SSAValue] = {v: constant.results[0] for v, constant in constants.items()}
    for value, argument in zip(outer, body.args, strict=True):
        argument.name_hint = value.name_hint
        inner[value] = argument
    body.add_ops(constants.values())
    for member in members:
        member.detach()
        body.add_op(member)
        member.operands = [inner.get(v, v) for v in member.operands]
    body.add_op(YieldOp(last.results))
    return fused


def anchor_of(members: list[GraphOp]) -> GraphOp:
    """The operator that does most of the work, whose location stands for the whole group's."""
    return max(members, key=lambda op: (op.CATEGORY is not Category.OPAQUE, op.CATEGORY))


def label_of(members: list[GraphOp]) -> str:
    """The operators' names, of very many only the first ones: the name of the kernel."""
    label = ""
    for count, op in enumerate(members):
        if len(label) + len(op.label) >= LABEL_LENGTH:
            return f"{label}_and_{len(members) - count}_more"
        label = f"{label}_{op.label}" if label else op.label
    return label


def _remarks(groups: FusionGroups) -> dict[GraphOp, list[str]]:
    """By consumer, why the operators that it reads are in other groups."""
    remarks: dict[GraphOp, list[str]] = {}
    for producer, consumer, reason in groups.refusals():
        remarks.setdefault(consumer, []).append(f"with {producer.title}: {reason}")
    return remarks
