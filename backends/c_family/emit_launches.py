"""Kernels for devices as C: a function for each launch, and what launches them as data.

A kernel with loops over threads is a function of the device; one that calls such kernels is a program of launches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, SSAValue

from tilework.algebra.c_names import c_name
from tilework.algebra.index_expr import Expr, const, product, var
from tilework.analysis.launches import Launch, launches
from tilework.backends.c_family.c_text import FileText
from tilework.backends.c_family.emit_kernel import kernel_handlers
from tilework.backends.c_family.emit_loops import LOOP_HANDLERS
from tilework.backends.c_family.emit_memory import declare_buffer
from tilework.backends.c_family.emitter import Emitter, Handlers, declared
from tilework.backends.c_family.spelling import Spelling
from tilework.backends.element_types import bytes_of
from tilework.dialects.loop import BLOCK_THREADS, BLOCKS, BarrierOp, CallOp, ForOp, KernelOp, Kind
from tilework.dialects.loop.common import memref_of
from tilework.dialects.support.diagnostics import CompileError
from tilework.runtime.devices.launch_program import BufferUse, LaunchProgram, LaunchUse, RepeatUse, Sizes, Step

Names = Mapping[SSAValue, str]
"""The names of sizes in a program of launches."""


def device_handlers() -> Handlers:
    """How operations of kernels of devices are written."""
    return {**kernel_handlers(), ForOp: _for, BarrierOp: _barrier, memref.AllocaOp: declare_buffer}


def emit_launched(module: ModuleOp, spelling: Spelling) -> str:
    """The text of a file with all kernels that are launched. Raises as `emit_kernels` does."""
    file = FileText(spelling.head)
    for kernel in _kernels(module):
        if launches(kernel):
            _emit(file, kernel, spelling)
    return str(file)


def launch_program(module: ModuleOp, source: str) -> LaunchProgram:
    """The program of the one kernel of a module that calls others; source: what `emit_launched` gives of the module."""
    [kernel] = [kernel for kernel in _kernels(module) if not launches(kernel)]
    launched = {k.sym_name.data: k for k in _kernels(module) if k is not kernel}
    names: Names = {v: s.data for s, v in zip(kernel.symbols, kernel.symbol_values, strict=True)}
    written = {value for op in kernel.walk() if isinstance(op, CallOp) for value in op.outputs}
    buffers = tuple(
        _use(kernel, i, argument in written) for i, argument in enumerate(kernel.body.block.args[: len(kernel.dims)])
    )
    return LaunchProgram(source, buffers, tuple(names.values()), tuple(_steps(kernel.body.block, launched, names)))


def _kernels(module: ModuleOp) -> list[KernelOp]:
    return [op for op in module.ops if isinstance(op, KernelOp) and not op.is_declaration]


# -- functions of the device


def _emit(file: FileText, kernel: KernelOp, spelling: Spelling) -> None:
    """Add one kernel to a file."""
    name = c_name(kernel.sym_name.data)
    e = Emitter(file, spelling, device_handlers(), name)
    e.read_only.update(kernel.inputs)
    parameters: list[str] = []
    for argument in (*kernel.inputs, *kernel.outputs):
        parameters += _buffer(e, argument)
    for argument, symbol in zip(kernel.symbol_values, kernel.symbols, strict=True):
        e.set(argument, e.text.fresh(symbol.data))
        parameters.append(f"{e.spelling.scalars['i64']} {e.get(argument)}")
    e.block(kernel.body.block)
    [launch] = launches(kernel)
    threads = [launch.block_threads.get(kind, 1) for kind in reversed(BLOCK_THREADS)]
    head = spelling.kernel.format(x=threads[0], y=threads[1], z=threads[2], all=threads[0] * threads[1] * threads[2])
    file.define(name, e.text.definition(f"{head} {name}", parameters))


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
    e.set(op.index, e.variable(e.spelling.scalars["i64"], number, op.index.name_hint))
    e.block(op.body.block)


def _barrier(e: Emitter, op: BarrierOp) -> None:
    e.text.line(e.spelling.barrier)


# -- launches


def _use(kernel: KernelOp, i: int, is_written: bool) -> BufferUse:
    element = bytes_of(memref_of(kernel.body.block.args[i]).element_type)
    inputs, outputs, _, _ = kernel.group_sizes
    size = product(kernel.dims.data[i].data) * element
    return BufferUse(str(size), i < inputs, is_written and i < inputs + outputs, element)


def _steps(block: Block, launched: Mapping[str, KernelOp], names: Names) -> Iterator[Step]:
    """What the host does in the block of a kernel."""
    for op in block.ops:
        if isinstance(op, CallOp):
            yield _launch(op, launched[op.kernel_name], names)
        elif isinstance(op, ForOp):
            name = f"{op.index.name_hint or 'i'}_{len(names)}"
            steps = tuple(_steps(op.body.block, launched, {**names, op.index: name}))
            yield RepeatUse(name, _spelled(op.lower, names), _spelled(op.upper, names), steps)
        else:
            raise CompileError("for a device the host launches kernels, in loops perhaps, and does nothing else", op)


def _launch(call: CallOp, kernel: KernelOp, names: Names) -> LaunchUse:
    [launch] = launches(kernel)
    numbers = tuple(names[value] for value in call.symbol_values)
    sizes: Names = dict(zip(kernel.symbol_values, numbers, strict=True))
    buffers = tuple(value.index for value in (*call.inputs, *call.outputs) if isinstance(value, BlockArgument))
    blocks, threads = (_sizes(launch, kinds, sizes) for kinds in (BLOCKS, BLOCK_THREADS))
    return LaunchUse(c_name(kernel.sym_name.data), buffers, numbers, blocks, threads)


def _sizes(launch: Launch, kinds: Sequence[Kind], names: Names) -> Sizes:
    extents = (launch.extents.get(kind, const(1)) for kind in reversed(kinds))
    x, y, z = (_spelled(extent, names) for extent in extents)
    return x, y, z


def _spelled(e: Expr, names: Names) -> str:
    return str(e.substitute({value: var(name) for value, name in names.items()}))
