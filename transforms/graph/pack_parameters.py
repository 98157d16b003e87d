"""Parameters get the layouts in which their kernels read them best."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import graphs_of
from tilework.analysis.group_content import content_of
from tilework.analysis.parameters import is_compiled
from tilework.analysis.program_targets import is_on_host, target_of
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.locations import copy_location
from tilework.rules.base import Packing
from tilework.rules.registry import plan_for
from tilework.targets import Target
from tilework.transforms.base import TileworkPass
from tilework.transforms.graph.algorithms import parameters_of
from tilework.transforms.graph.joined_sizes import usual_version
from tilework.transforms.graph.packed_groups import pack_of, unpack_argument
from tilework.transforms.graph.te_kernels import build_kernel


@dataclass(frozen=True)
class PackParameters(TileworkPass):
    """Pack the parameters of every kernel as the schedule rule for it asks.

    %y = graph.fused "dense" (%x, %w) ...  {           %p = graph.pack %w {axis = 0, block = 64}
    ^bb0(%a: ..., %b: tensor<512x256xf32>):            %y = graph.fused "dense" (%x, %p) ...  {
      %d = graph.dense %a, %b                     ->   ^bb0(%a: ..., %q: tensor<8x256x64xf32>):
      graph.yield %d                                     %b = graph.unpack %q {axis = 0, size = 512}
    }                                                    %d = graph.dense %a, %b

    Only parameters: what is done to them costs nothing at run time once `graph-fold-parameters` has moved it into
    @prepare. Requires graph-fuse-operators; leaves as many kernels as there were.
    """

    name = "pack-parameters"
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        target = target_of(op)
        known: dict[Hashable, Sequence[Packing]] = {}
        """What rules ask for, by what a group computes: networks repeat themselves."""
        for group in [o for graph in graphs_of(op) for o in graph.ops if isinstance(o, FusedOp) and is_on_host(o)]:
            parameters = parameters_of(group)
            key = (content_of(group.body.block), parameters)
            if key not in known:
                known[key] = _asked(group, target, parameters)
            for packing in known[key]:
                _pack(group, packing)


def _asked(group: FusedOp, target: Target, parameters: Set[int]) -> Sequence[Packing]:
    """The layouts in which the rule for a group's kernel wants its parameters."""
    if not parameters:
        return ()
    kernel = build_kernel(group.label.data, usual_version(group))
    return plan_for(kernel, target, parameters).packings


def _pack(group: FusedOp, packing: Packing) -> None:
    """Pack one input in front of the group, and unpack it inside."""
    pack = pack_of(group.inputs[packing.argument], packing.axis, packing.block)
    copy_location(pack, group)
    Rewriter.insert_op(pack, InsertPoint.before(group))
    unpack_argument(group, packing.argument, packing.axis, packing.block)
    group.operands[packing.argument] = pack.result
