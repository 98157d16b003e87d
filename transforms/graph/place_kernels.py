"""Kernels go to a device that takes them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.program_targets import DEVICE, devices_around
from tilework.dialects.graph.structure import FusedOp
from tilework.transforms.graph.patterns import GraphPatternPass


@dataclass(frozen=True)
class PlaceKernels(GraphPatternPass):
    """Put every kernel that is on no device yet on the first one that runs any kernel, such as a GPU.

    builtin.module attributes {tilework.targets = {host = "llvm", gpu0 = "opencl"}}
    %y = graph.fused "relu" (%x) { .. }  ->  %y = graph.fused "relu" (%x) attributes {device = "gpu0"} { .. }

    Requires graph-fuse-operators. In a program without such a device nothing is changed.
    """

    name = "graph-place-kernels"

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        takers = [device for device, target in devices_around(op).items() if target.takes_every_kernel]
        return [PlaceKernel(takers[0] if takers else None)]

    @classmethod
    def pattern_types(cls) -> list[type[RewritePattern]]:
        return [PlaceKernel]


@dataclass(frozen=True)
class PlaceKernel(RewritePattern):
    """A kernel on no device is on this one, if there is one."""

    device: str | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp, rewriter: PatternRewriter) -> None:
        if self.device is not None and DEVICE not in op.attributes:
            op.attributes[DEVICE] = StringAttr(self.device)
            rewriter.notify_op_modified(op)
