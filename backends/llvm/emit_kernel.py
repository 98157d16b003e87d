"""Kernels as LLVM IR text: `void @name(ptr ins..., ptr outs..., ptr scratch..., i64 symbols..., i32 num_threads)`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.in_place import in_place_pairs
from tilework.backends.llvm.bfloat16 import refuse_arithmetic
from tilework.backends.llvm.conversions import define_conversions
from tilework.backends.llvm.emit_intrinsics import INTRINSICS
from tilework.backends.llvm.emit_loops import LOOP_HANDLERS
from tilework.backends.llvm.emit_math import MATH_HANDLERS
from tilework.backends.llvm.emit_memory import MEMORY_HANDLERS
from tilework.backends.llvm.emit_scalar import ARITH_HANDLERS, VECTOR_HANDLERS
from tilework.backends.llvm.emit_transpose import TRANSPOSE_HANDLERS
from tilework.backends.llvm.emitter import Emitter, Handlers
from tilework.backends.llvm.text import ModuleText, global_name
from tilework.dialects.loop import KernelOp
from tilework.targets import Target

KERNEL_HANDLERS: Handlers = {
    **LOOP_HANDLERS,
    **MEMORY_HANDLERS,
    **ARITH_HANDLERS,
    **MATH_HANDLERS,
    **VECTOR_HANDLERS,
    **TRANSPOSE_HANDLERS,
}


def kernel_handlers() -> Handlers:
    """How operations of kernels are written, some of them around calls of intrinsics."""
    return {**KERNEL_HANDLERS, **INTRINSICS.handlers()}


def emit_kernels(module: ModuleOp, target: Target) -> str:
    """The LLVM IR module of all kernels with a body.

    Raises CompileError, about the operation, for what has no counterpart: a loop still vectorized, an operation that
    is not known here, local buffers beyond the stack.
    """
    text = ModuleText(target)
    add_kernels(text, module)
    return str(text)


def add_kernels(text: ModuleText, module: ModuleOp) -> None:
    """Add all kernels of `module` with a body."""
    for op in module.body.block.ops:
        if isinstance(op, KernelOp) and not op.is_declaration:
            emit_kernel(text, op)


def emit_kernel(module: ModuleText, kernel: KernelOp) -> None:
    """Add one kernel, and what it calls, to a module."""
    refuse_arithmetic(kernel)
    name = kernel.sym_name.data
    e = Emitter(module, kernel_handlers(), name)
    parameters: list[str] = []
    shared = _may_share(kernel)
    for argument in (*kernel.inputs, *kernel.outputs, *kernel.scratch):
        pointer = e.text.fresh(argument.name_hint or "buffer")
        e.set(argument, pointer)
        if argument.index not in shared:
            e.scope.noalias.add(pointer)
        parameters.append(f"ptr {'' if argument.index in shared else 'noalias '}{pointer}")
    for argument, symbol in zip(kernel.symbol_values, kernel.symbols, strict=True):
        e.set(argument, e.text.fresh(symbol.data))
        parameters.append(f"i64 {e.get(argument)}")
    e.num_threads = e.text.fresh("num_threads")
    parameters.append(f"i32 {e.num_threads}")
    e.block(kernel.body.block)
    e.text.finish()
    define_conversions(module, kernel)
    module.define(name, e.text.definition(f"void {global_name(name)}", parameters))


def _may_share(kernel: KernelOp) -> set[int]:
    """The arguments that a caller may give the memory of another one to: all else is apart, and LLVM may rely on it."""
    pairs = in_place_pairs(kernel)
    return {i for i, _ in pairs} | {len(kernel.inputs) + o for _, o in pairs}
