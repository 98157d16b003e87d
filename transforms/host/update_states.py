"""States of loops are changed where they lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.accesses import VIEWS, root_buffer
from tilework.analysis.in_place import in_place_pairs
from tilework.analysis.liveness import top_level
from tilework.dialects.loop import CallOp, KernelOp
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class UpdateStates(PatternPass):
    """Let a kernel write the next state over the one before, where the kernel's accesses allow it.

    loop.for %i = 0 to %n "step" {                    loop.for %i = 0 to %n "step" {
      %next = memref.alloc() : memref<8xf32>            loop.call @cell ins(%state, %x) outs(%state) ..
      loop.call @cell ins(%state, %x) outs(%next) ..  }
      memref.copy %next, %state                   ->
    }

    Nothing else may need the old state behind the call. Requires kernels that are lowered, or declared with what may
    share memory; where the pattern does not apply, the copy stays.
    """

    name = "host-update-states"
    anchor: ClassVar = FuncOp

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        module = op.parent_op()
        siblings = module.ops if isinstance(module, ModuleOp) else ()
        return [UpdateInPlace({k.sym_name.data: k for k in siblings if isinstance(k, KernelOp)})]


@dataclass(frozen=True)
class UpdateInPlace(RewritePattern):
    """`next = f(state); state = next` is `state = f(state)` where f reads each element before it writes it.

    kernels: those that are called, by name.
    """

    kernels: Mapping[str, KernelOp]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.CopyOp, rewriter: PatternRewriter) -> None:
        following, state, block = op.source, op.destination, op.parent_block()
        if (
            block is None
            or isinstance(block.parent_op(), FuncOp)
            or following.type != state.type
            or isinstance(state.owner, VIEWS)
        ):
            return
        if not _is_allocated_in(following, block) or _is_allocated_in(state, block):
            return
        call = _only_writer(following, op, block)
        if call is None or not self._may_overwrite(call, following, state):
            return
        if any(call.is_before_in_block(user) for user in _users(state, block) if user is not op):
            return
        alloc = following.owner
        assert isinstance(alloc, memref.AllocOp)
        following.replace_all_uses_with(state)
        rewriter.erase(op)
        rewriter.erase(alloc)

    def _may_overwrite(self, call: CallOp, following: SSAValue, state: SSAValue) -> bool:
        """Whether a call may write its output over every input that lies in the state's memory."""
        kernel = self.kernels.get(call.kernel_name)
        if kernel is None or any(root_buffer(v) is state for v in (*call.outputs, *call.scratch)):
            return False
        pairs, output = in_place_pairs(kernel), call.outputs.index(following)
        return all((i, output) in pairs and v is state for i, v in enumerate(call.inputs) if root_buffer(v) is state)


def _is_allocated_in(buffer: SSAValue, block: Block) -> bool:
    return isinstance(buffer.owner, memref.AllocOp) and buffer.owner.parent is block


def _only_writer(buffer: SSAValue, copy: memref.CopyOp, block: Block) -> CallOp | None:
    """The call in a block that fills a buffer, where the others that use it are calls and copies that read it."""
    writers: list[CallOp] = []
    for use in buffer.uses:
        user = use.operation
        if user is copy or (isinstance(user, memref.CopyOp) and user.source is buffer):
            continue
        if not isinstance(user, CallOp) or buffer in user.scratch:
            return None
        if buffer in user.outputs:
            writers.append(user)
    is_one = len(writers) == 1 and writers[0].parent is block and writers[0].outputs.count(buffer) == 1
    return writers[0] if is_one and buffer not in writers[0].inputs else None


def _users(buffer: SSAValue, block: Block) -> list[Operation]:
    """The operations of a block that use a buffer, or views of it, themselves or in their regions."""
    found: list[Operation] = []
    names = [buffer]
    while names:
        for use in names.pop().uses:
            if isinstance(use.operation, VIEWS):
                names += use.operation.results
            elif _is_inside(use.operation, block):
                found.append(top_level(use.operation, block))
    return found


def _is_inside(op: Operation, block: Block) -> bool:
    around: Operation | None = op
    while around is not None and around.parent is not block:
        around = around.parent_op()
    return around is not None
