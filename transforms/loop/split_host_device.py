"""What a device runs becomes kernels of its own, and what launches them is left for the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from tilework.algebra.index_expr import Expr
from tilework.analysis.launches import Launch, host_statements, launches, written_in
from tilework.dialects.loop import CallOp, ForOp, KernelOp
from tilework.dialects.loop.common import INDEX
from tilework.dialects.support.diagnostics import CompileError, name_of
from tilework.dialects.support.locations import copy_location
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class SplitHostDevice(TileworkPass):
    """Make a kernel of its own of each launch, and leave calls of them.

    loop.kernel @k ins(%x) outs(%y) scratch(%s) {      loop.kernel @k ins(%x) outs(%y) scratch(%s) {
      loop.for %b = 0 to 8 "b" blockIdx.x { .. }         loop.call @k_0 ins(%x) outs(%s)
      loop.for %c = 0 to 4 "c" blockIdx.x { .. }  ->     loop.call @k_1 ins(%s) outs(%y)
    }                                                  }
                                                       loop.kernel @k_0 ins(%x) outs(%s) {
                                                         loop.for %b = 0 to 8 "b" blockIdx.x { .. }

    Launches wait for each other, and blocks of one launch do not: what needs all of a stage is in another launch, and a
    serial loop around launches is the host's, its index a size that they are given. Refuses a store that is in no
    launch: its stage is bound to no threads.
    This is an algorithm and no pattern: kernels are made of statements. Requires kernels that say what each thread does
    (`loop-map-threads`).
    """

    name = "loop-split-host-device"
    anchor = ModuleOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        for kernel in list(op.ops):
            if isinstance(kernel, KernelOp) and not kernel.is_declaration:
                _split(kernel)


def _split(kernel: KernelOp) -> None:
    found = launches(kernel)
    statements = {launch.statement for launch in found}
    for statement in host_statements(kernel.body.block):
        if statement not in statements and (written := written_in(statement)):
            name = min(buffer.name_hint or "?" for buffer in written)
            raise CompileError(
                f"what stores to %{name} is bound to no threads: bind axes of the stage to blockIdx and threadIdx, or "
                "give no schedule",
                statement,
            )
    after: Operation = kernel
    for number, launch in enumerate(found):
        after = _outline(kernel, launch, f"{kernel.sym_name.data}_{number}", after)
    _drop_unused(kernel.body.block)


def _outline(kernel: KernelOp, launch: Launch, name: str, after: Operation) -> KernelOp:
    """Make a kernel of a launch, behind another operation, and leave a call of it."""
    statement = launch.statement
    local = _needed(statement)
    outside = _values_from_outside([*local, statement])
    written = written_in(statement)
    buffers = [value for value in kernel.body.block.args if value in outside and value.type != INDEX]
    outputs = [buffer for buffer in buffers if buffer in written]
    inputs = [buffer for buffer in buffers if buffer not in written]
    indices = [value for value in outside if value.type == INDEX and value not in kernel.symbol_values]
    sizes = [*kernel.symbol_values, *indices]
    symbols = _names(kernel, indices)
    arguments = [*inputs, *outputs, *sizes]
    block = Block(arg_types=[value.type for value in arguments])
    values: dict[SSAValue, SSAValue] = dict(zip(arguments, block.args, strict=True))
    for value, argument in zip(arguments, block.args, strict=True):
        argument.name_hint = value.name_hint
    call = CallOp(name, inputs, outputs, (), sizes)
    copy_location(call, statement)
    Rewriter.insert_op(call, InsertPoint.before(statement))
    for op in local:
        block.add_op(op.clone(values))
    statement.detach()
    block.add_op(statement.clone(values))
    statement.erase()
    launched = KernelOp(
        name,
        (len(inputs), len(outputs), 0),
        [value.type for value in (*inputs, *outputs)],
        [_dims(kernel, value) for value in (*inputs, *outputs)],
        symbols,
        Region(block),
    )
    launched.attributes |= kernel.attributes
    Rewriter.insert_op(launched, InsertPoint.after(after))
    return launched


def _needed(statement: Operation) -> list[Operation]:
    """The operations on the host that compute what a statement uses, such as views, in order."""
    needed: dict[Operation, None] = {}
    waiting = [statement]
    while waiting:
        for value in _used_in(waiting.pop()):
            owner = value.owner
            if isinstance(owner, Operation) and not statement.is_ancestor(owner) and owner not in needed:
                needed[owner] = None
                waiting.append(owner)
    for op in needed:
        if not is_side_effect_free(op):
            raise CompileError(f"'{name_of(op)}' is outside of all threads, and what is inside needs it", op)
    inside = {op: None for op in _in_order(statement) if op in needed}
    return list(inside)


def _in_order(statement: Operation) -> Sequence[Operation]:
    """The operations before a statement, in the blocks around it, outermost first."""
    block = statement.parent_block()
    assert block is not None
    parent = block.parent_op()
    around = _in_order(parent) if isinstance(parent, ForOp) else ()
    return [*around, *block.ops]


def _used_in(op: Operation) -> list[SSAValue]:
    return [value for inner in op.walk() for value in inner.operands]


def _values_from_outside(ops: Sequence[Operation]) -> set[SSAValue]:
    """The arguments of the kernel, and the indices of loops of the host, that operations use."""
    blocks = [block for op in ops for inner in op.walk() for region in inner.regions for block in region.blocks]
    own: set[SSAValue] = {argument for block in blocks for argument in block.args}
    return {value for op in ops for value in _used_in(op) if isinstance(value, BlockArgument) and value not in own}


def _names(kernel: KernelOp, indices: Sequence[SSAValue]) -> list[str]:
    """The symbols of a kernel, and names that none of them has for indices."""
    names = [symbol.data for symbol in kernel.symbols]
    for index in indices:
        name = index.name_hint or "i"
        while name in names:
            name += "_"
        names.append(name)
    return names


def _dims(kernel: KernelOp, value: BlockArgument) -> tuple[Expr, ...]:
    return kernel.dims.data[value.index].data


def _drop_unused(block: Block) -> None:
    """Remove what only launches needed."""
    for op in reversed(list(block.ops)):
        if isinstance(op, ForOp):
            _drop_unused(op.body.block)
        elif is_side_effect_free(op) and not any(result.uses for result in op.results):
            Rewriter.erase_op(op)
