"""Let buffers share storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FunctionType, MemRefType, i32
from xdsl.ir import Block, BlockArgument, Operation

from tilework.analysis.accesses import memref_type
from tilework.analysis.liveness import top_level
from tilework.analysis.storage_sharing import Storage, shared_allocations, shared_scratch
from tilework.dialects.loop import CallOp, KernelOp
from tilework.dialects.support.locations import copy_location
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class StorageRewrite(TileworkPass):
    """Let local buffers, and scratch arguments, that are in use one after the other share storage.

    %a = memref.alloca() : memref<64xf32, "local">          %a = memref.alloca() : memref<64xf32, "local">
    loop.for %i .. { %a[%i] = .. }                          loop.for %i .. { %a[%i] = .. }
    %b = memref.alloca() : memref<64xf32, "local">    ->
    loop.for %i .. { %b[%i] = f(%a[%i]) }                   loop.for %i .. { %a[%i] = f(%a[%i]) }

    A buffer takes the storage of one that is no longer in use, or that its first loop reads for the last time, every
    element before it is written (in place). Local buffers share with those of the same scope and element type inside
    the same iteration of a parallel loop; the largest, which decide the size, choose first. Scratch arguments
    share with those of the same type and size, and vanish; where a call in the module lends scratch already, they stay.
    This is an algorithm and no pattern: which buffers share depends on when all buffers of the kernel are in use.
    Requires one-dimensional local buffers (`loop-flatten-storage`); leaves fewer of them, perhaps further outside.
    """

    name = "loop-storage-rewrite"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return
        for storage in shared_allocations(op):
            _share_allocation(storage)
        scratch = shared_scratch(op)
        if scratch and not _is_lent_scratch(op):
            _share_scratch(op, scratch)


def _share_allocation(storage: Storage) -> None:
    """One allocation, in front of all that use it, in place of several."""
    old = [cast(memref.AllocaOp, held.buffer.owner) for held in storage.held]
    block = _common_block([held.block for held in storage.held])
    first = old[0]
    type_ = memref_type(first.memref.type)
    new = memref.AllocaOp(
        operands=[[], []],
        result_types=[MemRefType(type_.element_type, [storage.elements], memory_space=type_.memory_space)],
        properties={"alignment": first.alignment},
    )
    copy_location(new, first)
    new.memref.name_hint = first.memref.name_hint
    block.insert_op_before(new, top_level(first, block))
    for op in old:
        op.memref.replace_all_uses_with(new.memref)
        op.detach()
        op.erase()


def _common_block(blocks: list[Block]) -> Block:
    """The innermost block that is or holds each of `blocks`."""
    common = _blocks_around(blocks[0])
    for block in blocks[1:]:
        around = set(_blocks_around(block))
        common = [b for b in common if b in around]
    return common[0]


def _blocks_around(block: Block) -> list[Block]:
    """The block and those that hold it, as far as the kernel's body, innermost first."""
    found = [block]
    while (parent := found[-1].parent_op()) is not None and not isinstance(parent, KernelOp):
        outer = parent.parent_block()
        assert outer is not None
        found.append(outer)
    return found


def _is_lent_scratch(kernel: KernelOp) -> bool:
    """Whether a call passes scratch to the kernel: how much it takes is settled then."""
    module = kernel.parent_op()
    calls = [] if module is None else [op for op in module.walk() if isinstance(op, CallOp)]
    return any(call.kernel_name == kernel.sym_name.data and call.scratch for call in calls)


def _share_scratch(kernel: KernelOp, storages: list[Storage]) -> None:
    """Use the first argument of each storage for all, and drop the others."""
    dropped: list[BlockArgument] = []
    for storage in storages:
        first, *others = (cast(BlockArgument, held.buffer) for held in storage.held)
        for other in others:
            other.replace_all_uses_with(first)
        dropped += others
    positions = {argument.index for argument in dropped}
    inputs, outputs, scratch, symbols = kernel.group_sizes
    types = [type_ for i, type_ in enumerate(kernel.function_type.inputs) if i not in positions]
    kernel.function_type = FunctionType.from_lists(types, [])
    kernel.groups = DenseArrayBase.from_list(i32, [inputs, outputs, scratch - len(dropped), symbols])
    kernel.dims = ArrayAttr(dims for i, dims in enumerate(kernel.dims) if i not in positions)
    for argument in dropped:
        kernel.body.block.erase_arg(argument)
