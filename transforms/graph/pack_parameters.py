"""Parameters get the layouts in which their kernels read them best."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, field

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.group_content import content_of
from tilework.analysis.program_targets import target_of
from tilework.dialects.graph.structure import FusedOp
from tilework.rules.base import Packing
from tilework.rules.registry import plan_for
from tilework.targets import Target
from tilework.transforms.graph.algorithms import parameters_of
from tilework.transforms.graph.joined_sizes import usual_version
from tilework.transforms.graph.packed_groups import pack_of, unpack_argument
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.te_kernels import build_kernel
from tilework.transforms.graph.writer import Writer


@dataclass(frozen=True)
class PackParameters(GraphPatternPass):
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


@dataclass(frozen=True)
class PackOperands(RewritePattern):
    """kernel(w) is kernel'(pack(w)), where kernel' unpacks what it reads, for parameters that a rule wants packed.

    asked: what rules want, by what a kernel computes; networks repeat themselves.
    """

    asked: dict[Hashable, Sequence[Packing]] = field(default_factory=dict[Hashable, Sequence[Packing]])

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp, rewriter: PatternRewriter) -> None:
        parameters = parameters_of(op)
        key = (content_of(op.body.block), parameters)
        if key not in self.asked:
            self.asked[key] = _asked(op, target_of(op), parameters)
        for packing in self.asked[key]:
            _pack(op, packing, rewriter)


def _asked(group: FusedOp, target: Target, parameters: Set[int]) -> Sequence[Packing]:
    """The layouts in which the rule for a group's kernel wants its parameters."""
    if not parameters:
        return ()
    kernel = build_kernel(group.label.data, usual_version(group))
    return plan_for(kernel, target, parameters).packings


def _pack(group: FusedOp, packing: Packing, rewriter: PatternRewriter) -> None:
    """Pack one input in front of the group, and unpack it inside."""
    pack = pack_of(group.inputs[packing.argument], packing.axis, packing.block)
    packed = Writer(rewriter, group).insert(pack)
    unpack_argument(group, packing.argument, packing.axis, packing.block)
    group.operands[packing.argument] = packed
    rewriter.notify_op_modified(group)
