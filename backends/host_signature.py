"""What a host function takes and returns, as its attributes say: the same for every back end."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Attribute, BlockArgument

from tilework.algebra.index_expr import Expr, const, var
from tilework.algebra.requirement import Requirement
from tilework.analysis.functions import body_of
from tilework.analysis.host_symbols import (
    ARENA,
    ARENA_BYTES,
    DTYPE,
    MUST_HOLD,
    NAME,
    NEEDS,
    OUTPUT,
    HostSymbols,
    parameter_of,
)
from tilework.analysis.program_targets import targets_of
from tilework.backends.element_types import dtype_name
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import is_narrow
from tilework.dialects.tilework import device_of_buffer
from tilework.runtime.manifest import Default, DeviceKernel, DeviceUse, Manifest
from tilework.runtime.tensor_spec import Dim, TensorSpec

ENTRY = "tilework_main"
"""What the entry is called in text that people read; in code, each has a name of its own."""
HOST_FUNCTION = "main"
"""The name of the function that becomes the entry."""


@dataclass(frozen=True)
class HostInfo:
    """What a caller of the entry must know.

    symbols: the order of the int64 array. bound: the symbols behind these, which the entry writes, and what they are at
    most; None where nothing is known of that, and the entry allocates the outputs that have them. kernels: how many
    calls of kernels there are. messages: what a result other than 0 means. devices: those that the entry uses, in the
    order of the table that it takes.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    parameters: tuple[TensorSpec, ...]
    symbols: tuple[str, ...]
    arena_bytes: Dim
    kernels: int
    messages: dict[int, str]
    entry: str = ENTRY
    devices: tuple[DeviceUse, ...] = ()
    bound: Mapping[str, Dim | None] = field(default_factory=dict[str, Dim | None])

    def manifest(
        self, target: str, requirements: tuple[Requirement, ...], defaults: tuple[Default, ...], prepare: str
    ) -> Manifest:
        """What a module of this entry takes and returns: see `Manifest` for what it says besides."""
        return Manifest(
            target,
            self.inputs,
            self.outputs,
            self.parameters,
            self.symbols,
            self.arena_bytes,
            self.kernels,
            self.messages,
            self.entry,
            requirements,
            defaults,
            prepare,
            self.devices,
            self.bound,
        )


@dataclass(frozen=True)
class HostSignature:
    """The function `@main` of a module, what its arguments are, and the globals that it reads.

    parameters: those that the caller gives, by the names of their globals, in the order of its table. constants: the
    other globals, which have their values with them. devices: those whose memory the function has buffers in.
    """

    function: func.FuncOp
    arguments: Sequence[HostArgument]
    symbols: tuple[str, ...]
    parameters: Mapping[str, TensorSpec]
    constants: Mapping[str, memref.GlobalOp]
    devices: tuple[str, ...]
    bound: Mapping[str, Expr | None]
    """The symbols that outputs have as dimensions and the function binds, and what each is at most, as far as known."""

    @staticmethod
    def of(module: ModuleOp) -> HostSignature:
        """Read the attributes. Raises CompileError where there is no function `@main`, or it cannot be called."""
        host = find_host(module)
        if host is None:
            raise CompileError(f"no function '@{HOST_FUNCTION}' in the module: it would be the entry", module)
        return HostSignature.of_function(host, module)

    @staticmethod
    def of_function(host: func.FuncOp, module: ModuleOp) -> HostSignature:
        """The same of any function on buffers of a module."""
        _refuse_narrow(host)
        globals_ = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, memref.GlobalOp)}
        constants = {
            name: op for name, op in globals_.items() if isinstance(op.initial_value, DenseIntOrFPElementsAttr)
        }
        parameters = {name: _parameter(op) for name, op in globals_.items() if name not in constants}
        symbols = HostSymbols(host)
        arguments = [HostArgument(symbols, argument) for argument in body_of(host).args]
        bound = _bound(symbols, arguments)
        return HostSignature(host, arguments, _symbols(arguments, bound), parameters, constants, _devices(host), bound)

    @property
    def frame_bytes(self) -> Expr:
        """The size of its temporaries on the host, over its symbols."""
        sizes = self.function.attributes.get(ARENA_BYTES)
        arenas = [a for a in self.arguments if a.role == "arena"]
        found = zip(arenas, sizes if isinstance(sizes, DimsAttr) else (), strict=False)
        return next((size for a, size in found if device_of_buffer(a.type) is None), const(0))

    def info(
        self,
        kernels: int,
        messages: dict[int, str],
        launched: Mapping[str, Sequence[DeviceKernel]],
        stack_bytes: int = 0,
    ) -> HostInfo:
        """What a caller must know, once the function is written.

        launched: the kernels of each device, as numbered. stack_bytes: what functions that it calls need in its arena.
        """
        return HostInfo(
            tuple(a.info for a in self.arguments if a.role == "inputs"),
            tuple(a.info for a in self.arguments if a.role == "outputs"),
            tuple(self.parameters.values()),
            self.symbols,
            _dim(self.frame_bytes + stack_bytes),
            kernels,
            messages,
            ENTRY,
            tuple(self._use_of(device, launched.get(device, ())) for device in self.devices),
            {name: None if most is None else _dim(most) for name, most in self.bound.items()},
        )

    def _use_of(self, device: str, kernels: Sequence[DeviceKernel]) -> DeviceUse:
        module = self.function.parent_op()
        targets = targets_of(module) if isinstance(module, ModuleOp) else {}
        if device not in targets:
            raise CompileError(f"device '{device}' is not among the program's targets", self.function)
        return DeviceUse(device, str(targets[device]), tuple(kernels), self._arena_bytes(device))

    def _arena_bytes(self, device: str) -> Dim:
        """The size of the arena in the memory of a device."""
        sizes = self.function.attributes.get(ARENA_BYTES)
        arenas = [a for a in self.arguments if a.role == "arena"]
        found = zip(arenas, sizes.data if isinstance(sizes, DimsAttr) else (), strict=False)
        return next((_dim(size) for arena, size in found if device_of_buffer(arena.type) == device), 0)


def with_own_entry(text: str, info: HostInfo) -> tuple[str, HostInfo]:
    """The text of a host function with another name for the entry, which nothing else has but a function equal to it.

    So several models can be linked into one program.
    """
    entry = f"{ENTRY}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return re.sub(rf"\b{ENTRY}\b", entry, text), replace(info, entry=entry)


def find_host(module: ModuleOp) -> func.FuncOp | None:
    """The function `@main`, or None where there is none that has a body."""
    functions = (op for op in module.body.block.ops if isinstance(op, func.FuncOp))
    return next((op for op in functions if op.sym_name.data == HOST_FUNCTION and not op.is_declaration), None)


def _refuse_narrow(host: func.FuncOp) -> None:
    """Two 4-bit integers share a byte, so that a view may begin inside of one: only kernels have them."""
    for op in host.walk():
        for value in (*op.operands, *op.results):
            if is_narrow(value.type):
                raise CompileError(f"a model has no {value.type} outside of its kernels: cast it to 8 bits there", op)


class HostArgument:
    """One argument of the host function and its attributes."""

    def __init__(self, symbols: HostSymbols, value: BlockArgument):
        host, attributes, type_ = symbols.function, symbols.attributes[value.index].data, value.type
        if not isinstance(type_, MemRefType):
            raise CompileError(f"argument {value.index} of '@{HOST_FUNCTION}' is {type_}, not a memref", host)
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
        dtype = attributes.get(DTYPE)
        self.dtype = dtype.data if isinstance(dtype, StringAttr) else ""
        """What numpy calls the elements whose bits its bytes hold; empty where they are what the type says."""
        needs = attributes.get(NEEDS)
        self.needs = needs.data if isinstance(needs, StringAttr) else ""
        self.is_grown = self.role == "outputs" and any(symbols.largest(e) is None for e in self.dims)
        """Whether it is an output of which data alone decide the size: the entry allocates it."""

    @property
    def info(self) -> TensorSpec:
        dtype = self.dtype or dtype_name(self.type.element_type, self.op)
        return TensorSpec(self.name, dtype, tuple(map(_dim, self.dims)), self.needs)


def _role(attributes: Mapping[str, Attribute]) -> str:
    """What an argument is: one of the caller's tables, the arena, or the function's own."""
    if ARENA in attributes:
        return "arena"
    if MUST_HOLD in attributes:
        return "required"
    return "outputs" if OUTPUT in attributes else "inputs"


def _dim(e: Expr) -> Dim:
    return str(e) if e.constant is None else e.constant


def needs_heap(signature: HostSignature) -> bool:
    """Whether a function allocates memory while it runs."""
    has_grown = any(argument.is_grown for argument in signature.arguments)
    return has_grown or any(isinstance(op, memref.AllocOp) for op in signature.function.walk())


def _bound(symbols: HostSymbols, arguments: Sequence[HostArgument]) -> Mapping[str, Expr | None]:
    """The symbols of outputs that the function binds while it runs, and what each is at most, as far as known."""
    used = {key for a in arguments if a.role == "outputs" for e in a.dims for key in e.variables()}
    found: dict[str, Expr | None] = {}
    for key in symbols.named:
        if key in used:
            found[str(key)] = symbols.largest(var(key))
    return found


def _symbols(arguments: list[HostArgument], bound: Container[str]) -> tuple[str, ...]:
    """The symbols in the order in which the inputs' dimensions name them first."""
    inputs = [a for a in arguments if a.role == "inputs"]
    names = dict.fromkeys(str(key) for a in inputs for e in a.dims for key in e.variables())
    for argument in arguments:
        for key in (key for e in argument.dims for key in e.variables() if argument.role == "outputs"):
            if str(key) not in names and str(key) not in bound:
                raise CompileError(f"no input has dimension '{key}', which output '{argument.name}' has", argument.op)
    return tuple(names)


def _parameter(op: memref.GlobalOp) -> TensorSpec:
    type_: MemRefType[Attribute] = op.type
    dtype, device = dtype_name(type_.element_type, op), device_of_buffer(type_) or ""
    return TensorSpec(parameter_of(op), dtype, type_.get_shape(), device=device)


def _devices(host: func.FuncOp) -> tuple[str, ...]:
    """The devices in whose memory a function has buffers, in the order in which it names them first."""
    values = (value for op in host.walk() for value in (*body_of(host).args, *op.operands, *op.results))
    return tuple(dict.fromkeys(d for value in values if (d := device_of_buffer(value.type)) is not None))
