"""Kernels as LLVM IR for NVIDIA's devices, from which LLVM writes PTX.

A pointer says into which memory it points, so that LLVM knows from the start that buffers are aligned, and apart.
Arithmetic is what it is on processors, in vectors of one lane.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilework.algebra.c_names import c_name
from tilework.analysis.accesses import memory_space
from tilework.analysis.warps import is_for_warps
from tilework.backends.cuda.far_angles import define_far_angles
from tilework.backends.cuda.fragments import FRAGMENT, SCOPE, count_of
from tilework.backends.element_types import stored_as
from tilework.backends.launches import block_sizes, index_bits, launched_kernels
from tilework.backends.llvm.bfloat16 import refuse_arithmetic
from tilework.backends.llvm.conversions import define_conversions
from tilework.backends.llvm.emit_intrinsics import LLVMIntrinsics
from tilework.backends.llvm.emit_kernel import kernel_handlers
from tilework.backends.llvm.emit_loops import LOOP_HANDLERS
from tilework.backends.llvm.emitter import Emitter, Handlers
from tilework.backends.llvm.llvm_types import llvm_type
from tilework.backends.llvm.text import ModuleText, global_name
from tilework.backends.local_buffers import element_count
from tilework.dialects.loop import BLOCK_THREADS, BLOCKS, BarrierOp, ForOp, IfOp, KernelOp
from tilework.dialects.support.memory_scopes import SHARED, untagged
from tilework.targets.cpu.target import CpuTarget
from tilework.targets.gpu.target import GpuTarget

_NUMBERS = {
    **{kind: f"ctaid.{axis}" for kind, axis in zip(BLOCKS, "zyx", strict=True)},
    **{kind: f"tid.{axis}" for kind, axis in zip(BLOCK_THREADS, "zyx", strict=True)},
}
"""A thread, or its block, has its number in this register, by the kind of the loop over them."""

_SPACES = {None: 1, SHARED: 3}
"""The numbers of memories: arguments are in global memory, and what a thread has to itself is in none of these."""

_BARRIER = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"


class PtxIntrinsics(LLVMIntrinsics):
    """Intrinsics of NVIDIA's devices, and those that LLVM has for all machines."""

    folders = ("cuda", "llvm")


INTRINSICS = PtxIntrinsics()


def as_processor(target: GpuTarget) -> CpuTarget:
    """A device of NVIDIA as LLVM's code generator knows it."""
    return CpuTarget("llvm", 1, triple="nvptx64-nvidia-cuda", cpu=target.arch, features=())


def device_handlers() -> Handlers:
    """How operations of kernels of devices are written."""
    own: Handlers = {ForOp: _for, IfOp: _if, BarrierOp: _barrier, memref.AllocaOp: _alloca}
    return {**kernel_handlers(), **INTRINSICS.handlers(), **own}


def emit_launched(module: ModuleOp, target: GpuTarget) -> str:
    """The LLVM IR of all kernels that are launched."""
    text = ModuleText(as_processor(target))
    for kernel in launched_kernels(module):
        _emit(text, kernel, target)
    define_far_angles(text)
    return str(text)


def _emit(module: ModuleText, kernel: KernelOp, target: GpuTarget) -> None:
    """Add one kernel.

    It says how many blocks of it a multiprocessor runs at once: left to itself, the driver's assembler takes 32
    registers for some kernels, and spills.
    """
    refuse_arithmetic(kernel)
    name = c_name(kernel.sym_name.data)
    e = Emitter(module, device_handlers(), name, spaces=_SPACES, index=f"i{index_bits(kernel)}")
    parameters: list[str] = []
    for argument in (*kernel.inputs, *kernel.outputs):
        parameters.append(_buffer(e, argument, "readonly " if argument in kernel.inputs else ""))
    for argument, symbol in zip(kernel.symbol_values, kernel.symbols, strict=True):
        e.set(argument, e.text.fresh(symbol.data))
        parameters.append(f"i64 {e.get(argument)}")
    e.block(kernel.body.block)
    e.text.finish()
    define_conversions(module, kernel)
    sizes = block_sizes(kernel)
    threads, blocks = ",".join(map(str, sizes)), max(1, target.resident_threads // prod(sizes))
    attributes = f'nounwind "nvvm.reqntid"="{threads}" "nvvm.minctasm"="{blocks}"'
    module.define(name, e.text.definition(f"ptx_kernel void {global_name(name)}", parameters, attributes))


def _buffer(e: Emitter, argument: SSAValue, access: str) -> str:
    """The parameter for a buffer in global memory. Those of one launch are apart."""
    parameter = e.text.fresh(argument.name_hint or "buffer")
    e.set(argument, parameter)
    return f"{e.address(argument)} noalias {access}{parameter}"


def _for(e: Emitter, op: ForOp) -> None:
    """A loop over threads is what one of them does."""
    register = _NUMBERS.get(op.kind.data)
    if register is None:
        LOOP_HANDLERS[ForOp](e, op)
        return
    assert op.lower == 0, "loops over threads are as loop-map-threads makes them"
    number = e.text.value(f"call i32 @llvm.nvvm.read.ptx.sreg.{register}()")
    if e.index == "i32":
        e.set(op.index, number)
    else:
        e.define(op.index, f"zext i32 {number} to {e.index}")
    e.block(op.body.block)


def _if(e: Emitter, op: IfOp) -> None:
    """What the first thread of a warp does for all of them, they do together."""
    if is_for_warps(op):
        e.block(op.then_body.block)
    else:
        LOOP_HANDLERS[IfOp](e, op)


def _barrier(e: Emitter, op: BarrierOp) -> None:
    e.text.line(_BARRIER)


def _alloca(e: Emitter, op: memref.AllocaOp) -> None:
    """Shared memory is a variable of the module; what a thread has to itself becomes registers."""
    elements = max(element_count(op), 1)
    if memory_space(op.memref) == SCOPE:
        elements = FRAGMENT * count_of(op.memref, op)
    array = f"[{elements} x {llvm_type(stored_as(op.memref.type.element_type, op))}]"
    hint = op.memref.name_hint or "local"
    if untagged(memory_space(op.memref)) != SHARED:
        e.set(op.memref, e.text.entry(f"alloca {array}, align 16", hint))
        return
    name = f"{e.name}.{e.text.fresh(hint)[1:]}"
    shared = f"internal addrspace({_SPACES[SHARED]}) global"
    e.module.define(name, f"{global_name(name)} = {shared} {array} poison, align 16\n")
    e.set(op.memref, global_name(name))
