"""The tensors that scans begin with are stages, which threads can be bound to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ComputeOp, KernelOp, ScanOp, stages_of
from tilework.scheduling.dataflow.bodies import copy_of
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class ComputeInits(PatternPass):
    """Copy what a scan begins with by a stage of its own, unless a stage makes it that nothing else reads.

    te.scan "y" .. init(%h)   ->   %c = te.compute "y.init" [i0: 1, i1: 4] { te.read %h[i0, i1] }
                                   te.scan "y" .. init(%c)

    Such a stage is computed where the history of the scan begins, so that nothing is copied twice; and on a device its
    elements are dealt out to threads like those of any other stage. It is done for kernels that bring no schedule.
    Requires nothing; leaves scans of other kernels.
    """

    name = "te-compute-inits"
    anchor = ModuleOp

    def operations(self, op: Operation) -> Iterable[Operation]:
        """What is in kernels without a schedule."""
        assert isinstance(op, ModuleOp)
        scheduled = {s.kernel_name for s in op.ops if isinstance(s, SequenceOp)}
        kernels = (k for k in op.ops if isinstance(k, KernelOp) and k.sym_name.data not in scheduled)
        return [inner for kernel in kernels for inner in kernel.body.walk()]


class ComputeInit(RewritePattern):
    """A scan that begins with a tensor begins with a copy of the tensor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScanOp, rewriter: PatternRewriter) -> None:
        kernel = op.parent_op()
        assert isinstance(kernel, KernelOp)
        names = UniqueNames(staged.stage.data for staged in stages_of(kernel))
        for i, init in enumerate(op.inits):
            if _is_made_for(init):
                continue
            axes = [(f"i{n}", extent) for n, extent in enumerate(dims_of(init.type))]
            copy = copy_of([init], names.fresh(f"{op.stage.data}.init"), axes)
            copy_location(copy, op)
            rewriter.insert(copy)
            op.operands[i] = copy.results[0]
            rewriter.notify_op_modified(op)


def _is_made_for(init: SSAValue) -> bool:
    """Whether a stage makes a tensor that is taken once, by the scan."""
    return isinstance(init.owner, ComputeOp) and len(list(init.uses)) == 1
