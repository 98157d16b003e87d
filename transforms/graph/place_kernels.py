"""Kernels go to a device that takes them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.program_targets import DEVICE, devices_around
from tilework.dialects.graph.base import Category, GraphOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.te import externs_of
from tilework.transforms.graph.joined_sizes import usual_version
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.te_kernels import build_kernel


@dataclass(frozen=True)
class PlaceKernels(GraphPatternPass):
    """Put every kernel that is on no device yet on the first one that runs any kernel, such as a GPU.

    builtin.module attributes {tilework.targets = {host = "llvm", gpu0 = "opencl"}}
    %y = graph.fused "relu" (%x) { .. }  ->  %y = graph.fused "relu" (%x) attributes {device = "gpu0"} { .. }

    An operator that is a statement as a whole, such as a scatter, has no axes to deal out to threads: it stays on the
    host. Requires graph-fuse-operators. In a program without such a device nothing is changed.
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
    """A kernel on no device is on this one, if there is one and the kernel has axes."""

    device: str | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FusedOp, rewriter: PatternRewriter) -> None:
        if self.device is not None and DEVICE not in op.attributes and not _is_a_statement(op):
            op.attributes[DEVICE] = StringAttr(self.device)
            rewriter.notify_op_modified(op)


def _is_a_statement(group: FusedOp) -> bool:
    """Whether the kernel of a group has a stage that fills a tensor as a whole."""
    operators = (op for op in group.body.block.ops if isinstance(op, GraphOp))
    if all(op.category is not Category.OPAQUE for op in operators):
        return False  # a kernel is built for the few of which that is not known
    return bool(externs_of(build_kernel(group.label.data, usual_version(group))))
