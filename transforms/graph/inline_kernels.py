"""Put the te kernels that operators name into these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.program_targets import DEVICE
from tilework.dialects import loop, te
from tilework.dialects.graph.kernel import KernelOp
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class InlineKernels(PatternPass):
    """Put the te kernel that a graph.kernel names into it, and take it out of the module.

    te.kernel @swish(%x: ...) ... { ... }           func.func @main(%x: ...) {
    func.func @main(%x: ...) {                        %y = graph.kernel (%x) : ... {
      %y = graph.kernel @swish (%x) : ...     ->        te.kernel @swish(%x: ...) ... { ... }
                                                      }

    Whoever copies, compares or sends away operators has all that they mean then. A kernel that the program calls, too,
    stays in the module, as do kernels that no operator names. A kernel that operators name becomes a part of others,
    where no schedule of its own and no device of its own can hold: both are refused. Requires nothing; leaves no
    graph.kernel that names a kernel.
    """

    name = "graph-inline-kernels"

    def operations(self, op: Operation) -> Iterable[Operation]:
        found = list(op.walk())
        yield from (o for o in found if isinstance(o, KernelOp))
        yield from (o for o in found if isinstance(o, te.KernelOp))

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, ModuleOp)
        named = _named_kernels(op)
        _refuse_schedules(op, named)
        called = {o.kernel_name for o in op.walk() if isinstance(o, loop.CallOp)}
        return [HoldKernel(), DropDefinition(named - called)]


@dataclass(frozen=True)
class HoldKernel(RewritePattern):
    """An operator that names a kernel becomes one that holds a copy of it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        if op.callee is None:
            return
        if DEVICE in op.kernel.attributes:
            message = f"te.kernel @{op.label} names a device; as a part of other kernels it runs where these do"
            raise CompileError(message, op.kernel)
        declared = [declaration.clone() for declaration in op.declarations]
        new = KernelOp.holding(op.kernel.clone(), op.operands, declared)
        new.attributes |= op.attributes
        copy_location(new, op)
        for before, after in zip(op.results, new.results, strict=True):
            after.name_hint = before.name_hint
        rewriter.replace(op, new)


@dataclass(frozen=True)
class DropDefinition(RewritePattern):
    """A te kernel is erased once every operator that named it holds a copy.

    named: the names of kernels that nothing but operators has named.
    """

    named: Set[str]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: te.KernelOp, rewriter: PatternRewriter) -> None:
        module, name = op.parent_op(), op.sym_name.data
        if name in self.named and isinstance(module, ModuleOp) and name not in _named_kernels(module):
            rewriter.erase(op)


def _named_kernels(module: ModuleOp) -> set[str]:
    """The names of the kernels that operators name."""
    symbols = [op.callee for op in module.walk() if isinstance(op, KernelOp)]
    return {symbol.root_reference.data for symbol in symbols if symbol is not None}


def _refuse_schedules(module: ModuleOp, named: Set[str]) -> None:
    """Raise CompileError for a schedule of a kernel that operators name."""
    for op in module.ops:
        if isinstance(op, SequenceOp) and op.kernel_name in named:
            what = f"te.kernel @{op.kernel_name} has a schedule, but it is a part of the kernels that operators make"
            raise CompileError(f"{what}, which rules schedule: take the schedule out", op)
