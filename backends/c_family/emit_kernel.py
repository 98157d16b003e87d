"""Kernels as C: `void name(inputs..., outputs..., scratch..., symbols..., int32_t num_threads)`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.c_names import c_name
from tilework.analysis.in_place import in_place_pairs
from tilework.backends.c_family.c_text import FileText
from tilework.backends.c_family.emit_arith import ARITH_HANDLERS, VECTOR_HANDLERS
from tilework.backends.c_family.emit_conversions import CONVERSION_HANDLERS
from tilework.backends.c_family.emit_integers import INTEGER_HANDLERS
from tilework.backends.c_family.emit_intrinsics import INTRINSICS
from tilework.backends.c_family.emit_loops import LOOP_HANDLERS
from tilework.backends.c_family.emit_math import MATH_HANDLERS
from tilework.backends.c_family.emit_memory import MEMORY_HANDLERS
from tilework.backends.c_family.emit_transpose import TRANSPOSE_HANDLERS
from tilework.backends.c_family.emitter import Emitter, Handlers, declared
from tilework.backends.c_family.spelling import Spelling
from tilework.dialects.loop import KernelOp

KERNEL_HANDLERS: Handlers = {
    **LOOP_HANDLERS,
    **MEMORY_HANDLERS,
    **ARITH_HANDLERS,
    **INTEGER_HANDLERS,
    **CONVERSION_HANDLERS,
    **MATH_HANDLERS,
    **VECTOR_HANDLERS,
    **TRANSPOSE_HANDLERS,
}


def kernel_handlers() -> Handlers:
    """How operations of kernels are written."""
    return {**KERNEL_HANDLERS, **INTRINSICS.handlers()}


def emit_kernels(module: ModuleOp, spelling: Spelling) -> str:
    """The text of a file with all kernels that have a body.

    Raises CompileError, about the operation, for what C cannot express: a loop still vectorized, an operation on tiles,
    local buffers beyond the stack.
    """
    file = FileText(spelling.head)
    add_kernels(file, module, spelling)
    return str(file)


def add_kernels(file: FileText, module: ModuleOp, spelling: Spelling) -> None:
    """Add all kernels of `module` with a body."""
    for op in module.body.block.ops:
        if isinstance(op, KernelOp) and not op.is_declaration:
            emit_kernel(file, op, spelling)


def emit_kernel(file: FileText, kernel: KernelOp, spelling: Spelling) -> None:
    """Add one kernel, and what it calls, to a file."""
    name = c_name(kernel.sym_name.data)
    e = Emitter(file, spelling, kernel_handlers(), name)
    e.read_only.update(kernel.inputs)
    parameters = [_buffer(e, kernel, i) for i in range(len(kernel.dims))]
    for argument, symbol in zip(kernel.symbol_values, kernel.symbols, strict=True):
        e.set(argument, e.text.fresh(symbol.data))
        parameters.append(f"int64_t {e.get(argument)}")
    e.num_threads = e.text.fresh("num_threads")
    parameters.append(f"int32_t {e.num_threads}")
    e.block(kernel.body.block)
    file.define(name, e.text.definition(f"{spelling.kernel} {name}", parameters))


def _buffer(e: Emitter, kernel: KernelOp, i: int) -> str:
    """The parameter for a buffer. All but those that may be one buffer are apart, and compilers may rely on it."""
    argument = kernel.body.block.args[i]
    name = e.text.fresh(argument.name_hint or "buffer")
    e.set(argument, name)
    if i in _may_share(kernel):
        return declared(e.pointer(argument), name)
    e.scope.alone.add(name)
    return declared(e.pointer(argument), f"{e.spelling.restrict} {name}")


def _may_share(kernel: KernelOp) -> set[int]:
    """The arguments that a caller may give the memory of another one to."""
    pairs = in_place_pairs(kernel)
    return {i for i, _ in pairs} | {len(kernel.inputs) + o for _, o in pairs}
