"""Let warps do what a machine's intrinsic has their threads do together."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.analysis.domains import loops_around
from tilework.analysis.intrinsics import is_tensorized
from tilework.analysis.launches import launches
from tilework.analysis.program_targets import target_of
from tilework.dialects.loop import ForOp, KernelOp, Kind
from tilework.dialects.loop.annotations import TENSORIZE
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.dialects.te.intrinsics import declaration_of
from tilework.targets.gpu.target import GpuTarget
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class BindWarps(PatternPass):
    """Let one thread of each warp stand for all where a nest is to become an intrinsic of warps.

    loop.for %m = 0 to 16 "m"                                  loop.for %lane = 0 to 1 "lane" threadIdx.x {
        attributes {loop.tensorize = @mma.f16} {       ->        loop.for %m = 0 to 16 "m"
      ..                                                             attributes {loop.tensorize = @mma.f16} { .. }

    A warp is the threads along threadIdx.x, of which there are as many as the target's warps have. Registers of warps
    are, as loops see it, that thread's; back ends write what it does for all of them. Refuses other numbers of threads
    along x, and nests inside of loops over these. Requires loops over threads as schedules make them; leaves no such
    nest outside of a loop over threads.
    """

    name = "loop-bind-warps"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        super().run(ctx, op)
        for launch in launches(op):
            for loop in launch.statement.walk():
                if isinstance(loop, ForOp) and (name := intrinsic_of_warp(loop)) is not None:
                    _require_warp(loop, name, launch.block_threads.get(Kind.THREAD_X, 1))


class NestToWarp(RewritePattern):
    """A nest that is to become an intrinsic of warps is done by the first thread of each."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        name = intrinsic_of_warp(op)
        if name is None:
            return
        over_threads = [loop for loop in loops_around(op) if loop.kind.data is Kind.THREAD_X]
        if over_threads[:1] == [op.parent_op()] and over_threads[0].extent == 1:
            return
        if over_threads:
            message = (
                f"the threads along threadIdx.x do @{name} together, and loop '{over_threads[0].axis.data}' around is "
                "over them: bind that axis to threadIdx.y or threadIdx.z"
            )
            raise CompileError(message, op)
        lane = ForOp(0, 1, "lane", kind=Kind.THREAD_X)
        lane.index.name_hint = "lane"
        copy_location(lane, op)
        rewriter.insert(lane, InsertPoint.before(op))
        op.detach()
        lane.body.block.add_op(op)
        rewriter.notify_op_modified(lane)


def intrinsic_of_warp(loop: ForOp) -> str | None:
    """The intrinsic of warps that a nest is to become from this loop on; None for another loop."""
    asked = loop.attributes.get(TENSORIZE)
    if not isinstance(asked, SymbolRefAttr) or any(map(is_tensorized, loops_around(loop))):
        return None
    name = asked.root_reference.data
    return name if declaration_of(loop, name).warp is not None else None


def _require_warp(loop: ForOp, name: str, threads: int) -> None:
    """Raise CompileError where there are not as many threads along x as a warp has."""
    warp = GpuTarget.of(target_of(loop)).warp
    if threads != warp:
        message = (
            f"the threads along threadIdx.x do @{name} together, and there are {threads}: bind axes of {warp}, as many "
            "as a warp has, to threadIdx.x"
        )
        raise CompileError(message, loop)
