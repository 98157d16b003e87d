"""The host function as LLVM IR: one native call per inference.

    int32 tilework_main(void** inputs, void** outputs, void** parameters, void* arena, int64_t* symbols, int32 threads,
                        struct tilework_device* devices)

It is the function `@main` after `loop-plan-memory`: buffers are arguments, parameters and slices of the arena; views
are pointers; kernels are calls. A symbol's value comes from the caller, who binds symbols to the shapes of the inputs
and checks the other dimensions; a dimension is the symbols' expression in `tilework.dims`. The result is 0, or the
number of the `cf.assert` that failed, or of the output that must hold and does not. Such outputs are not the caller's.
`devices` are those that the program uses, as `runtime/devices/table.py` lays them out; without any it is not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import cf, func
from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.functions import body_of
from tilework.backends.frames import STACK_BYTES, invoked_functions, refuse_as_callee
from tilework.backends.host_signature import ENTRY, HOST_FUNCTION, HostArgument, HostInfo, HostSignature, needs_heap
from tilework.backends.llvm.emit_host_control import CONTROL_HANDLERS
from tilework.backends.llvm.emit_host_devices import DEVICE_HANDLERS, arena_of, launch
from tilework.backends.llvm.emit_host_heap import Heap
from tilework.backends.llvm.emit_host_invoke import INVOKE_HANDLERS, callee_frame_end, entry_frame_end
from tilework.backends.llvm.emit_host_memory import HOST_MEMORY_HANDLERS, HostEmitter
from tilework.backends.llvm.emit_loops import LOOP_HANDLERS
from tilework.backends.llvm.emit_scalar import ARITH_HANDLERS
from tilework.backends.llvm.emitter import Handlers
from tilework.backends.llvm.text import ModuleText, global_name
from tilework.dialects.loop import CallOp, SymbolOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.tilework import device_of_buffer
from tilework.targets import Target


def emit_host(module: ModuleOp, target: Target) -> tuple[str, HostInfo]:
    """The LLVM IR module of the host function, kernels being external, and how to call it.

    Raises CompileError where there is no function `@main`, or it holds an operation that has no counterpart.
    """
    text = ModuleText(target)
    info = emit_host_function(text, module)
    return str(text), info


def emit_host_function(text: ModuleText, module: ModuleOp) -> HostInfo:
    """Add the host function of `module` to a module, and the functions that it calls."""
    signature, invoked = HostSignature.of(module), invoked_functions(module)
    e = HostEmitter(text, HOST_HANDLERS, ENTRY)
    _emit_function(e, signature, invoked, "")
    callees = [HostEmitter(text, HOST_HANDLERS, name) for name in invoked]
    for callee, (name, own) in zip(callees, invoked.items(), strict=True):
        callee.messages, callee.launched = e.messages, e.launched
        _emit_function(callee, own, invoked, name)
    calls = sum(emitter.calls for emitter in (e, *callees))
    return signature.info(calls, e.messages, e.launched, STACK_BYTES if invoked else 0)


def _emit_function(e: HostEmitter, signature: HostSignature, invoked: Mapping[str, HostSignature], name: str) -> None:
    """Add one function; the entry has no name here."""
    e.parameters = {name: place for place, name in enumerate(signature.parameters)}
    e.devices = {name: place for place, name in enumerate(signature.devices)}
    e.constants = dict(signature.constants)
    e.invoked, e.frame_bytes = invoked, signature.frame_bytes
    e.threads = e.text.fresh("num_threads")
    for table in ("inputs", "outputs", "parameters", "arena", "symbols", "devices"):
        e.text.fresh(table)
    for i, symbol in enumerate(signature.symbols):
        slot = e.text.value(f"getelementptr i64, ptr %symbols, i64 {i}")
        e.symbols[symbol] = e.text.value(f"load i64, ptr {slot}, align 8", symbol)
    e.written = {name: len(signature.symbols) + i for i, name in enumerate(signature.bound)}
    if invoked:
        e.frame_end = entry_frame_end(e) if not name else callee_frame_end(e, len(signature.symbols))
    if needs_heap(signature):
        e.heap = Heap(e.module)
        e.heap.begin(e)
    _bind(e, signature.arguments)
    e.block(body_of(signature.function))
    head = [f"ptr %{table}" for table in ("inputs", "outputs", "parameters", "arena", "symbols")]
    parameters = [*head, f"i32 {e.threads}", "ptr %devices"]
    if name:
        refuse_as_callee(signature)
        e.module.define(name, e.text.definition(f"internal i32 {global_name(name)}", parameters))
    else:
        e.module.define(ENTRY, e.text.definition(f"i32 @{ENTRY}", parameters))


def _bind(e: HostEmitter, arguments: Sequence[HostArgument]) -> None:
    """Read the arguments' pointers from the tables."""
    counts = {"inputs": 0, "outputs": 0}
    for argument in arguments:
        e.argument_dims[argument.value] = argument.dims
        if argument.role == "arena":
            device = device_of_buffer(argument.type)
            e.set(argument.value, "%arena" if device is None else arena_of(e, device))
            continue
        if argument.role == "required":
            e.set(argument.value, e.text.entry("alloca i8", argument.value.name_hint or "holds"))
            e.required.append((argument.value, argument.must_hold))
            continue
        if argument.is_grown:
            e.grown[argument.value] = counts["outputs"]
            counts["outputs"] += 1
            continue
        slot = e.text.value(f"getelementptr ptr, ptr %{argument.role}, i64 {counts[argument.role]}")
        counts[argument.role] += 1
        e.define(argument.value, f"load ptr, ptr {slot}, align 8")


# -- operations


def _call(e: HostEmitter, op: CallOp) -> None:
    e.calls += 1
    if op.device is not None:
        launch(e, op)
        return
    arguments = [(e.type(a), e.get(a)) for a in op.arguments]
    arguments.append(("i32", e.threads))
    name = op.kernel_name
    e.module.declare(name, f"declare void {global_name(name)}({', '.join(type_ for type_, _ in arguments)})")
    e.text.call(name, [(text, type_) for type_, text in arguments])


def _symbol(e: HostEmitter, op: SymbolOp) -> None:
    """A symbol that the caller is told is written behind those that it gives."""
    name = op.sym_name.data
    e.symbols[name] = e.get(op.value)
    e.set(op.result, e.symbols[name])
    if name in e.written:
        slot = e.text.value(f"getelementptr i64, ptr %symbols, i64 {e.written[name]}")
        e.text.line(f"store i64 {e.symbols[name]}, ptr {slot}, align 8")


def _assert(e: HostEmitter, op: cf.AssertOp) -> None:
    e.return_unless(e.get(op.arg), op.msg.data)


def _return(e: HostEmitter, op: func.ReturnOp) -> None:
    if op.arguments:
        raise CompileError(
            f"'@{HOST_FUNCTION}' returns values: its outputs are arguments, as graph-to-te makes them", op
        )
    for value, message in e.required:
        byte = e.text.value(f"load i8, ptr {e.get(value)}")
        e.return_unless(e.text.value(f"icmp ne i8 {byte}, 0"), message)
    e.leave(0)


HOST_HANDLERS: Handlers = {
    **LOOP_HANDLERS,
    **ARITH_HANDLERS,
    **HOST_MEMORY_HANDLERS,
    **DEVICE_HANDLERS,
    **CONTROL_HANDLERS,
    **INVOKE_HANDLERS,
    CallOp: _call,
    SymbolOp: _symbol,
    cf.AssertOp: _assert,
    func.ReturnOp: _return,
}
