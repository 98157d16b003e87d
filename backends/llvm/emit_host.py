"""The host function as LLVM IR: one native call per inference.

    int32 tilework_main(void** inputs, void** outputs, void** parameters, void* arena, int64_t* symbols, int32 threads)

It is the function `@main` after `loop-plan-memory`: buffers are arguments, parameters and slices of the arena; views
are pointers; kernels are calls. A symbol's value comes from the caller, who binds symbols to the shapes of the inputs
and checks the other dimensions; a dimension is the symbols' expression in `tilework.dims`. The result is 0, or the
number of the `cf.assert` that failed, or of the output that must hold and does not. Such outputs are not the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import cf, func, memref
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Attribute, BlockArgument

from tilework.algebra.index_expr import Expr
from tilework.analysis.functions import body_of
from tilework.analysis.host_symbols import ARENA, ARENA_BYTES, MUST_HOLD, NAME, NEEDS, OUTPUT, HostSymbols
from tilework.backends.llvm.emit_host_memory import HOST_MEMORY_HANDLERS, HostEmitter
from tilework.backends.llvm.emit_loops import LOOP_HANDLERS
from tilework.backends.llvm.emit_scalar import ARITH_HANDLERS
from tilework.backends.llvm.emitter import Handlers
from tilework.backends.llvm.llvm_types import dtype_name
from tilework.backends.llvm.text import ModuleText, global_name
from tilework.dialects.loop import CallOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import is_narrow
from tilework.runtime.tensor_spec import Dim, TensorSpec
from tilework.targets import Target

ENTRY = "tilework_main"
HOST = "main"
"""The name of the function that becomes the entry."""


@dataclass(frozen=True)
class HostInfo:
    """What a caller of the entry must know.

    symbols: the order of the int64 array. kernels: how many calls of kernels there are. messages: what a result other
    than 0 means.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    parameters: tuple[TensorSpec, ...]
    symbols: tuple[str, ...]
    arena_bytes: Dim
    kernels: int
    messages: dict[int, str]
    entry: str = ENTRY


def emit_host(module: ModuleOp, target: Target) -> tuple[str, HostInfo]:
    """The LLVM IR module of the host function, kernels being external, and how to call it.

    Raises CompileError where there is no function `@main`, or it holds an operation that has no counterpart.
    """
    text = ModuleText(target)
    info = emit_host_function(text, module)
    return str(text), info


def emit_host_function(text: ModuleText, module: ModuleOp) -> HostInfo:
    """Add the host function of `module` to a module."""
    host = find_host(module)
    if host is None:
        raise CompileError(f"no function '@{HOST}' in the module: it would be the entry", module)
    _refuse_narrow(host)
    e = HostEmitter(text, HOST_HANDLERS, ENTRY)
    parameters = _globals(e, module)
    arguments = [_Argument(HostSymbols(host), argument) for argument in body_of(host).args]
    symbols = _symbols(arguments)
    e.threads = e.text.fresh("num_threads")
    for table in ("inputs", "outputs", "parameters", "arena", "symbols"):
        e.text.fresh(table)
    for i, symbol in enumerate(symbols):
        slot = e.text.value(f"getelementptr i64, ptr %symbols, i64 {i}")
        e.symbols[symbol] = e.text.value(f"load i64, ptr {slot}, align 8", symbol)
    _bind(e, arguments)
    e.block(body_of(host))
    head = [f"ptr %{table}" for table in ("inputs", "outputs", "parameters", "arena", "symbols")]
    text.define(ENTRY, e.text.definition(f"i32 @{ENTRY}", [*head, f"i32 {e.threads}"]))
    return HostInfo(
        tuple(a.info for a in arguments if a.role == "inputs"),
        tuple(a.info for a in arguments if a.role == "outputs"),
        parameters,
        symbols,
        _arena_bytes(host),
        e.calls,
        e.messages,
    )


def find_host(module: ModuleOp) -> func.FuncOp | None:
    """The function `@main`, or None where there is none that has a body."""
    functions = (op for op in module.body.block.ops if isinstance(op, func.FuncOp))
    return next((op for op in functions if op.sym_name.data == HOST and not op.is_declaration), None)


def _refuse_narrow(host: func.FuncOp) -> None:
    """Two 4-bit integers share a byte, so that a view may begin inside of one: only kernels have them."""
    for op in host.walk():
        for value in (*op.operands, *op.results):
            if is_narrow(value.type):
                raise CompileError(f"a model has no {value.type} outside of its kernels: cast it to 8 bits there", op)


# -- what the function takes


class _Argument:
    """One argument of the host function and its attributes."""

    def __init__(self, symbols: HostSymbols, value: BlockArgument):
        host, attributes, type_ = symbols.function, symbols.attributes[value.index].data, value.type
        if not isinstance(type_, MemRefType):
            raise CompileError(f"argument {value.index} of '@{HOST}' is {type_}, not a memref", host)
        self.value = value
        self.type = cast("MemRefType[Attribute]", type_)
        self.op = host
        self.role = _role(attributes)
        must_hold = attributes.get(MUST_HOLD)
        self.must_hold = must_hold.data if isinstance(must_hold, StringAttr) else ""
        """Why the call has failed where it is false."""
        self.dims = () if self.role == "arena" else symbols.argument_dims(value)
        name = attributes.get(NAME)
        self.name = name.data if isinstance(name, StringAttr) else value.name_hint or f"arg{value.index}"
        needs = attributes.get(NEEDS)
        self.needs = needs.data if isinstance(needs, StringAttr) else ""

    @property
    def info(self) -> TensorSpec:
        dtype = dtype_name(self.type.element_type, self.op)
        return TensorSpec(self.name, dtype, tuple(map(_dim, self.dims)), self.needs)


def _role(attributes: Mapping[str, Attribute]) -> str:
    """Whose an argument is: one of the caller's tables, the arena, or the function's own."""
    if ARENA in attributes:
        return "arena"
    if MUST_HOLD in attributes:
        return "required"
    return "outputs" if OUTPUT in attributes else "inputs"


def _dim(e: Expr) -> Dim:
    return str(e) if e.constant is None else e.constant


def _symbols(arguments: list[_Argument]) -> tuple[str, ...]:
    """The symbols in the order in which the inputs' dimensions name them first."""
    inputs = [a for a in arguments if a.role == "inputs"]
    names = dict.fromkeys(str(key) for a in inputs for e in a.dims for key in e.variables())
    for argument in arguments:
        for key in (key for e in argument.dims for key in e.variables() if argument.role == "outputs"):
            if str(key) not in names:
                raise CompileError(f"no input has dimension '{key}', which output '{argument.name}' has", argument.op)
    return tuple(names)


def _bind(e: HostEmitter, arguments: list[_Argument]) -> None:
    """Read the arguments' pointers from the tables."""
    counts = {"inputs": 0, "outputs": 0}
    for argument in arguments:
        e.argument_dims[argument.value] = argument.dims
        if argument.role == "arena":
            e.set(argument.value, "%arena")
            continue
        if argument.role == "required":
            e.set(argument.value, e.text.entry("alloca i8", argument.value.name_hint or "holds"))
            e.required.append((argument.value, argument.must_hold))
            continue
        slot = e.text.value(f"getelementptr ptr, ptr %{argument.role}, i64 {counts[argument.role]}")
        counts[argument.role] += 1
        e.define(argument.value, f"load ptr, ptr {slot}, align 8")


def _globals(e: HostEmitter, module: ModuleOp) -> tuple[TensorSpec, ...]:
    """Number the parameters; the other globals have their values with them."""
    parameters: list[TensorSpec] = []
    for op in module.body.block.ops:
        if not isinstance(op, memref.GlobalOp):
            continue
        name = op.sym_name.data
        if isinstance(op.initial_value, DenseIntOrFPElementsAttr):
            e.constants[name] = op
            continue
        e.parameters[name] = len(parameters)
        type_: MemRefType[Attribute] = op.type
        parameters.append(TensorSpec(name, dtype_name(type_.element_type, op), type_.get_shape()))
    return tuple(parameters)


def _arena_bytes(host: func.FuncOp) -> Dim:
    size = host.attributes.get(ARENA_BYTES)
    return _dim(size.data[0]) if isinstance(size, DimsAttr) else 0


# -- operations


def _call(e: HostEmitter, op: CallOp) -> None:
    e.calls += 1
    arguments = [(e.type(a), e.get(a)) for a in op.arguments]
    arguments.append(("i32", e.threads))
    name = op.kernel_name
    e.module.declare(name, f"declare void {global_name(name)}({', '.join(type_ for type_, _ in arguments)})")
    e.text.call(name, [(text, type_) for type_, text in arguments])


def _assert(e: HostEmitter, op: cf.AssertOp) -> None:
    _return_unless(e, e.get(op.arg), op.msg.data)


def _return_unless(e: HostEmitter, condition: str, message: str) -> None:
    """Return the number of a message where a condition does not hold."""
    code = len(e.messages) + 1
    e.messages[code] = message
    holds, fails = e.text.fresh("holds"), e.text.fresh("fails")
    e.text.branch_if(condition, holds, fails)
    e.text.start(fails)
    e.text.line(f"ret i32 {code}")
    e.text.start(holds)


def _return(e: HostEmitter, op: func.ReturnOp) -> None:
    if op.arguments:
        raise CompileError(f"'@{HOST}' returns values: its outputs are arguments, as graph-to-te makes them", op)
    for value, message in e.required:
        byte = e.text.value(f"load i8, ptr {e.get(value)}")
        _return_unless(e, e.text.value(f"icmp ne i8 {byte}, 0"), message)
    e.text.line("ret i32 0")


HOST_HANDLERS: Handlers = {
    **LOOP_HANDLERS,
    **ARITH_HANDLERS,
    **HOST_MEMORY_HANDLERS,
    CallOp: _call,
    cf.AssertOp: _assert,
    func.ReturnOp: _return,
}
