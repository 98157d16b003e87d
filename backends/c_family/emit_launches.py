"""Kernels for devices as C: a function for each launch."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilework.algebra.c_names import c_name
from tilework.backends.c_family.c_text import FileText
from tilework.backends.c_family.emit_kernel import kernel_handlers
from tilework.backends.c_family.emit_loops import LOOP_HANDLERS
from tilework.backends.c_family.emit_memory import declare_buffer
from tilework.backends.c_family.emitter import Emitter, Handlers, declared
from tilework.backends.c_family.forms import Form
from tilework.backends.c_family.spelling import Spelling
from tilework.backends.launches import block_sizes, index_bits, launched_kernels
from tilework.dialects.loop import BarrierOp, ForOp, KernelOp


def device_handlers() -> Handlers:
    """How operations of kernels of devices are written."""
    return {**kernel_handlers(), ForOp: _for, BarrierOp: _barrier, memref.AllocaOp: declare_buffer}


def emit_launched(module: ModuleOp, spelling: Spelling) -> str:
    """The text of a file with all kernels that are launched. Raises as `emit_kernels` does."""
    file = FileText(spelling.head)
    for kernel in launched_kernels(module):
        _emit(file, kernel, spelling)
    return str(file)


def _emit(file: FileText, kernel: KernelOp, spelling: Spelling) -> None:
    """Add one kernel to a file."""
    name = c_name(kernel.sym_name.data)
    e = Emitter(file, spelling, device_handlers(), name, index=Form(f"i{index_bits(kernel)}"))
    e.read_only.update(kernel.inputs)
    parameters: list[str] = []
    for argument in (*kernel.inputs, *kernel.outputs):
        parameters += _buffer(e, argument)
    for argument, symbol in zip(kernel.symbol_values, kernel.symbols, strict=True):
        e.set(argument, e.text.fresh(symbol.data))
        parameters.append(spelling.size.format(type=spelling.scalars["i64"], name=e.get(argument)))
    e.block(kernel.body.block)
    x, y, z = block_sizes(kernel)
    head = spelling.kernel.format(x=x, y=y, z=z, all=x * y * z)
    numbered = [spelling.parameter.format(declaration=p, number=i) for i, p in enumerate(parameters)]
    file.define(name, e.text.definition(f"{head} {name}", [*numbered, *spelling.numbers]))


def _buffer(e: Emitter, argument: SSAValue) -> list[str]:
    """The parameters for a buffer. Those of one launch are apart."""
    hint = argument.name_hint or "buffer"
    restrict = e.spelling.restrict
    if e.spelling.offset is None:
        name = e.text.fresh(hint)
        e.set(argument, name)
        e.scope.alone.add(name)
        return [declared(e.pointer(argument), f"{restrict} {name}")]
    memory, at, name = e.text.fresh(f"{hint}_memory"), e.text.fresh(f"{hint}_at"), e.text.fresh(hint)
    e.text.line(f"{declared(e.pointer(argument), f'{restrict} const {name}')} = {memory} + {at};", name)
    e.set(argument, name)
    e.scope.alone.add(name)
    return [declared(e.pointer(argument), f"{restrict} {memory}"), f"{e.spelling.offset} {at}"]


def _for(e: Emitter, op: ForOp) -> None:
    """A loop over threads is what one of them does."""
    number = e.spelling.threads.get(op.kind.data)
    if number is None:
        LOOP_HANDLERS[ForOp](e, op)
        return
    assert op.lower == 0, "loops over threads are as loop-map-threads makes them"
    e.set(op.index, e.value(e.index, number, op.index.name_hint))
    e.block(op.body.block)


def _barrier(e: Emitter, op: BarrierOp) -> None:
    e.text.line(e.spelling.barrier)
