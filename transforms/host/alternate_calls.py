"""Calls and runs that read the same weights one after the other go through them to and fro."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import body_of
from tilework.analysis.program_targets import target_of
from tilework.analysis.sizes import bytes_of, size_of
from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.loop import CallOp, ForOp
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import KernelOp, ReadOp, enclosing_compute
from tilework.dialects.te.annotations import KERNEL_ALTERNATING, KERNEL_DESCENDING
from tilework.targets import Target
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class AlternateCalls(TileworkPass):
    """Let every second call of a kernel with the same large input run from its last iteration to its first.

    loop.call @cell ins(%h0, %w) ..        loop.call @cell ins(%h0, %w) ..
    loop.call @cell ins(%h1, %w) ..   ->   loop.call @cell_descending ins(%h1, %w) ..
    loop.call @cell ins(%h2, %w) ..        loop.call @cell ins(%h2, %w) ..

    What one reads last is in the second cache then when the next begins with it: the steps of a recurrent layer read
    their weights so. For one input larger than most of that cache, where all else that is read and written in between
    fits. What each iteration of a loop calls goes the other way in every second one.
    A kernel that is called once goes the other way in every second run of the program, if it reads each of the weights
    for one result only, and all else that the program reads and writes leaves room in the caches.
    This is an algorithm and no pattern: whether a call finds weights in a cache depends on all that is called before.
    Requires graph-to-te; leaves a copy, marked `te.descending`, of every kernel that is called so, and marks the others
    `te.alternating`.
    """

    name = "alternate-calls"
    anchor: ClassVar = ModuleOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        kernels = {k.sym_name.data: k for k in op.ops if isinstance(k, KernelOp)}
        names = UniqueNames(s.data for o in op.ops if isinstance(s := o.properties.get("sym_name"), StringAttr))
        copies: dict[str, KernelOp] = {}
        target = target_of(op)
        for function in [f for f in op.ops if isinstance(f, FuncOp) and not f.is_declaration]:
            loops = [op for op in function.walk() if isinstance(op, ForOp)]
            in_loops = [k for loop in loops for k in _alternating_steps(loop, kernels, target)]
            alternating = [*_alternating(function, kernels, target), *in_loops]
            for call in _descending(body_of(function), kernels, target):
                kernel = kernels[call.kernel_name]
                if kernel.sym_name.data not in copies:
                    copies[kernel.sym_name.data] = _copy(kernel, names)
                call.properties["callee"] = SymbolRefAttr(copies[kernel.sym_name.data].sym_name)
            for kernel in alternating:
                kernel.attributes[KERNEL_ALTERNATING] = UnitAttr()


@dataclass(frozen=True)
class _Sweep:
    """A call through a large input; `touched`: the bytes that all calls up to it read and wrote."""

    touched: int
    descending: bool


def _descending(block: Block, kernels: dict[str, KernelOp], target: Target) -> list[CallOp]:
    """The calls that follow one through the same input, which is still in the cache in part."""
    touched = 0
    last: dict[tuple[KernelOp, SSAValue], _Sweep] = {}
    found: list[CallOp] = []
    for call in _calls(block, kernels):
        kernel = kernels[call.kernel_name]
        sizes = _sizes(kernel)
        large = _large(call, kernel, target)
        if len(large) == 1:
            [(value, size)] = large
            before = last.get((kernel, value))
            between = 0 if before is None else touched - before.touched + sum(sizes) - size
            descending = before is not None and not before.descending and between <= target.core_cache_bytes
            last[kernel, value] = _Sweep(touched + sum(sizes), descending)
            if descending:
                found.append(call)
        touched += sum(sizes)
    return found


def _alternating_steps(loop: ForOp, kernels: dict[str, KernelOp], target: Target) -> list[KernelOp]:
    """The kernels that every iteration calls once with the same large input, which is still in the cache in part.

    Loops inside count nothing: what they call is taken for small.
    """
    calls = _calls(loop.body.block, kernels)
    touched = sum(sum(_sizes(kernels[call.kernel_name])) for call in calls)
    found: list[KernelOp] = []
    for call in calls:
        kernel = kernels[call.kernel_name]
        large = _large(call, kernel, target)
        once = sum(other.kernel_name == call.kernel_name for other in calls) == 1
        if once and len(large) == 1 and touched - large[0][1] <= target.core_cache_bytes:
            found.append(kernel)
    return found


def _large(call: CallOp, kernel: KernelOp, target: Target) -> list[tuple[SSAValue, int]]:
    """The inputs of a call that do not stay in the cache beside all else, and their bytes."""
    return [(v, size) for v, size in zip(call.inputs, _sizes(kernel), strict=False) if size > target.near_bytes]


def _alternating(function: FuncOp, kernels: dict[str, KernelOp], target: Target) -> list[KernelOp]:
    """The kernels whose weights are still in the caches in part when the next run of the function begins."""
    calls = [kernels[call.kernel_name] for call in _calls(body_of(function), kernels)]
    touched, room = sum(sum(_sizes(kernel)) for kernel in calls), target.cores * target.near_bytes
    return [
        kernel
        for kernel in calls
        if calls.count(kernel) == 1
        and any(
            size > target.core_cache_bytes and touched - size <= room and _is_read_once(argument)
            for argument, size in zip(kernel.body.block.args, _sizes(kernel), strict=False)
        )
    ]


def _is_read_once(argument: BlockArgument) -> bool:
    """Whether a kernel's argument is read for a single row: each element once, or 4 / 3 times where four weights are in
    three words; for two rows, twice."""
    computes = {enclosing_compute(use.operation) for use in argument.uses if isinstance(use.operation, ReadOp)}
    reads = sum(size_of((*c.spatial, *c.reduction)) for c in computes if c is not None)
    return None not in computes and 0 < reads < 2 * size_of([("", e) for e in dims_of(argument.type)])


def _calls(block: Block, kernels: dict[str, KernelOp]) -> list[CallOp]:
    return [c for c in block.ops if isinstance(c, CallOp) and c.kernel_name in kernels]


def _sizes(kernel: KernelOp) -> list[int]:
    """Bytes of what a kernel reads, then of what it writes."""
    return [bytes_of(t) for t in (*kernel.function_type.inputs, *kernel.function_type.outputs)]


def _copy(kernel: KernelOp, names: UniqueNames) -> KernelOp:
    """A copy behind the kernel whose outermost loops run the other way."""
    copy = kernel.clone()
    copy.properties["sym_name"] = StringAttr(names.fresh(f"{kernel.sym_name.data}_descending"))
    copy.attributes[KERNEL_DESCENDING] = UnitAttr()
    Rewriter.insert_op(copy, InsertPoint.after(kernel))
    return copy
