"""The host function as C: one call per inference.

    int32_t tilework_main(void **inputs, void **outputs, void **parameters, void *arena,
                          int64_t *symbols, int32_t threads, void *devices)

It is the function `@main` after `loop-plan-memory`: buffers are arguments, parameters and slices of the arena; views
are pointers; kernels are calls. The result is 0, or the number of the `cf.assert` that failed, or of the output that
must hold and does not. There are no devices: the last argument is not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import cf, func
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute

from tilework.algebra.c_names import c_name
from tilework.analysis.functions import body_of
from tilework.backends.c_family.c_text import FileText, listed
from tilework.backends.c_family.emit_arith import ARITH_HANDLERS
from tilework.backends.c_family.emit_conversions import CONVERSION_HANDLERS
from tilework.backends.c_family.emit_host_control import CONTROL_HANDLERS
from tilework.backends.c_family.emit_host_devices import DEFINITION, DEVICE_HANDLERS, STRUCT, arena_of, launch
from tilework.backends.c_family.emit_host_heap import Heap
from tilework.backends.c_family.emit_host_invoke import INVOKE_HANDLERS, callee_frame_end, entry_frame_end
from tilework.backends.c_family.emit_host_memory import HOST_MEMORY_HANDLERS, HostEmitter
from tilework.backends.c_family.emit_integers import INTEGER_HANDLERS
from tilework.backends.c_family.emit_loops import LOOP_HANDLERS
from tilework.backends.c_family.emitter import Handlers
from tilework.backends.c_family.spelling import Spelling
from tilework.backends.frames import STACK_BYTES, invoked_functions, refuse_as_callee
from tilework.backends.host_signature import ENTRY, HOST_FUNCTION, HostArgument, HostInfo, HostSignature, needs_heap
from tilework.dialects.loop import CallOp, KernelOp, SymbolOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.tilework import device_of_buffer

TABLES = ("void **inputs", "void **outputs", "void **parameters", "void *arena", "int64_t *symbols")
"""What the entry takes, and then the number of threads, and devices."""


def emit_host(module: ModuleOp, spelling: Spelling) -> tuple[str, HostInfo]:
    """The text of a file with the host function, kernels being in other files, and how to call it.

    Raises CompileError where there is no function `@main`, or it holds an operation that has no counterpart.
    """
    file = FileText(spelling.head)
    info = add_host(file, module, spelling)
    return str(file), info


def add_host(file: FileText, module: ModuleOp, spelling: Spelling) -> HostInfo:
    """Add the host function of `module` to a file, behind the functions that it calls."""
    signature, invoked = HostSignature.of(module), invoked_functions(module)
    kernels = [op for op in module.body.block.ops if isinstance(op, KernelOp)]
    taken = {c_name(kernel.sym_name.data) for kernel in kernels} | {c_name(name) for name in invoked}
    e = HostEmitter(file, spelling, HOST_HANDLERS, ENTRY, taken)
    for kernel in kernels:
        _declare(e, kernel)
    for name in invoked:
        file.define(f"{name} declared", f"static int32_t {c_name(name)}({listed(_PARAMETERS)});\n")
    callees = [HostEmitter(file, spelling, HOST_HANDLERS, name, taken) for name in invoked]
    for callee, (name, own) in zip(callees, invoked.items(), strict=True):
        callee.messages, callee.launched = e.messages, e.launched
        refuse_as_callee(own)
        _emit_function(callee, own, invoked, name)
    _emit_function(e, signature, invoked, "")
    calls = sum(emitter.calls for emitter in (e, *callees))
    return signature.info(calls, e.messages, e.launched, STACK_BYTES if invoked else 0)


_PARAMETERS = (*TABLES, "int32_t num_threads", "void *devices")
"""What a function takes that others call."""


def _emit_function(e: HostEmitter, signature: HostSignature, invoked: Mapping[str, HostSignature], name: str) -> None:
    """Add one function; the entry has no name here."""
    e.parameters = {name: place for place, name in enumerate(signature.parameters)}
    e.constants = dict(signature.constants)
    e.invoked, e.frame_bytes = invoked, signature.frame_bytes
    for table in TABLES:
        e.text.fresh(table.split()[-1].lstrip("*"))
    e.threads, e.device_table = e.text.fresh("num_threads"), e.text.fresh("devices")
    e.devices = {name: place for place, name in enumerate(signature.devices)}
    if signature.devices:
        e.file.define_type(STRUCT, DEFINITION)
    for i, symbol in enumerate(signature.symbols):
        e.symbols[symbol] = e.variable("int64_t", f"symbols[{i}]", symbol)
    e.written = {name: len(signature.symbols) + i for i, name in enumerate(signature.bound)}
    if invoked:
        e.frame_end = entry_frame_end(e) if not name else callee_frame_end(e, len(signature.symbols))
    if needs_heap(signature):
        e.heap = Heap()
        e.heap.begin(e)
    _bind(e, signature.arguments)
    e.block(body_of(signature.function))
    devices = f"{f'struct {STRUCT}' if signature.devices else 'void'} *{e.device_table}"
    parameters = [*TABLES, f"int32_t {e.threads}", devices]
    head = f"static int32_t {c_name(name)}" if name else f"int32_t {ENTRY}"
    e.file.define(name or ENTRY, e.text.definition(head, parameters))


def _declare(e: HostEmitter, kernel: KernelOp) -> None:
    """Declare a kernel, unless it is defined in this file."""
    name = c_name(kernel.sym_name.data)
    types = [*(_buffer_type(e, kernel, i) for i in range(len(kernel.dims))), *["int64_t"] * len(kernel.symbols)]
    if name not in e.file:
        e.file.define(name, f"{e.spelling.kernel} {name}({listed([*types, 'int32_t'])});\n")


def _buffer_type(e: HostEmitter, kernel: KernelOp, i: int) -> str:
    type_ = cast("MemRefType[Attribute]", kernel.function_type.inputs.data[i])
    return f"{'const ' if i < kernel.group_sizes[0] else ''}{e.element(type_)} *"


def _bind(e: HostEmitter, arguments: Sequence[HostArgument]) -> None:
    """Read the arguments' pointers from the tables."""
    counts = {"inputs": 0, "outputs": 0}
    for argument in arguments:
        value, hint = argument.value, argument.value.name_hint
        e.argument_dims[value] = argument.dims
        if argument.role == "arena":
            device = device_of_buffer(argument.type)
            e.set(value, e.variable("int8_t *", "arena" if device is None else arena_of(e, device), "bytes"))
        elif argument.role == "required":
            name = e.text.fresh(hint or "holds")
            e.text.line(f"int8_t {name}[1];")
            e.set(value, name)
            e.required.append((value, argument.must_hold))
        elif argument.is_grown:
            e.grown[value] = counts["outputs"]
            counts["outputs"] += 1
        else:
            place = f"{argument.role}[{counts[argument.role]}]"
            counts[argument.role] += 1
            e.set(value, e.variable(e.pointer(value), place, hint))


# -- operations


def _call(e: HostEmitter, op: CallOp) -> None:
    e.calls += 1
    if op.device is not None:
        launch(e, op)
        return
    arguments = [*(e.get(argument) for argument in op.arguments), e.threads]
    e.text.line(f"{c_name(op.kernel_name)}({', '.join(arguments)});")


def _symbol(e: HostEmitter, op: SymbolOp) -> None:
    """A symbol that the caller is told is written behind those that it gives."""
    name = op.sym_name.data
    e.symbols[name] = e.get(op.value)
    e.set(op.result, e.symbols[name])
    if name in e.written:
        e.text.line(f"symbols[{e.written[name]}] = {e.symbols[name]};")


def _assert(e: HostEmitter, op: cf.AssertOp) -> None:
    e.return_unless(e.get(op.arg), op.msg.data)


def _return(e: HostEmitter, op: func.ReturnOp) -> None:
    if op.arguments:
        raise CompileError(
            f"'@{HOST_FUNCTION}' returns values: its outputs are arguments, as graph-to-te makes them", op
        )
    for value, message in e.required:
        e.return_unless(f"{e.get(value)}[0]", message)
    if e.heap is not None:
        e.heap.release(e)
    e.text.line("return 0;")


HOST_HANDLERS: Handlers = {
    **LOOP_HANDLERS,
    **ARITH_HANDLERS,
    **INTEGER_HANDLERS,
    **CONVERSION_HANDLERS,
    **HOST_MEMORY_HANDLERS,
    **DEVICE_HANDLERS,
    **CONTROL_HANDLERS,
    **INVOKE_HANDLERS,
    CallOp: _call,
    SymbolOp: _symbol,
    cf.AssertOp: _assert,
    func.ReturnOp: _return,
}
