"""What a back end is: it takes loops and a host function, and makes code that a device of `runtime/devices/` loads.

A back end is one class in `backends/<folder>/backend.py`; it is found by folder, and serves the targets whose text
begins with its `kind`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Operation

from tilework.analysis.functions import body_of
from tilework.analysis.program_targets import is_on_host, target_of
from tilework.backends.host_signature import HOST_FUNCTION, HostInfo
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.diagnostics import CompileError, name_of
from tilework.dialects.te import IntrinsicOp
from tilework.targets import Target

Writer = Callable[[ModuleOp, Target], str | bytes]
"""Writes kernels with a body, and the host function where there is one, for a target."""


class Backend(ABC):
    """Base of the back ends."""

    kind: ClassVar[str]
    """The first word of the targets that it makes code for."""
    formats: ClassVar[Mapping[str, Writer]]
    """What `opt-tool -t` can write of a whole module, by name; the first is text that people read."""
    text_file: ClassVar[str]
    """What a file of that text is called, such as "llvm.ll"."""
    hosts: ClassVar[bool] = True
    """Whether it makes host functions, by `compile_host`; else its kernels are called from elsewhere."""

    functions: ClassVar[bool] = False
    """Whether kernels come to it as functions of operations of its machine, instead of kernels of the loop level."""

    @abstractmethod
    def accepts(self, op: Operation, around: Operation, target: Target) -> str | None:
        """Why there is no code for an operation inside of `around`, a kernel or the host function; None if there is."""

    @abstractmethod
    def compile_kernels(self, module: ModuleOp, target: Target) -> bytes:
        """The code of all kernels of a module that have a body, as one piece that a device links with others.

        Raises CompileError about the operation that has no code.
        """

    def compile_host(self, module: ModuleOp, target: Target) -> tuple[bytes, HostInfo]:
        """The code of the host function, and how it is called; its kernels are declarations, and lie in other pieces.

        Raises CompileError where there is no host function, and as `compile_kernels` does.
        """
        raise NotImplementedError


def refuse_as_host(backend: Backend, module: ModuleOp) -> None:
    """Raise CompileError where a program with a function @main is for a back end that makes kernels alone."""
    if not backend.hosts:
        raise CompileError(
            f"targets of kind '{backend.kind}' run kernels and no function @main: a model needs another target for its "
            "host; tilework.build and tilework run take kernels",
            module,
        )


def refuse_unaccepted(backend: Backend, module: ModuleOp, target: Target) -> None:
    """Raise CompileError about the first operation of a program that a back end does not accept."""
    for around in (o for o in module.body.block.ops if not isinstance(o, IntrinsicOp)):
        if isinstance(around, func.FuncOp) and not around.is_declaration:
            body_of(around)  # refuses several blocks
        for op in around.walk():
            if op is not around and (why := backend.accepts(op, around, target)) is not None:
                raise CompileError(why, op)


def write_module(backend: Backend, format: str, module: ModuleOp) -> str | bytes:
    """What a whole program becomes in one of the back end's formats.

    Raises CompileError for a program for another kind of target, and for what the format would leave out.
    """
    target = target_of(module)
    if target.kind != backend.kind:
        raise CompileError(
            f"-t {format} is written of programs for '{backend.kind}', and this one is for '{target.kind}': give "
            f"--target={backend.kind}",
            module,
        )
    for op in module.body.block.ops:
        if isinstance(op, KernelOp) and not is_on_host(op):
            raise CompileError(f"-t {format} writes what runs on the host, and @{op.sym_name.data} runs elsewhere", op)
        if not _is_written(op, backend):
            written = "functions of the machine's operations"
            if not backend.functions:
                written = "kernels of the loop level and the function @main on buffers"
            raise CompileError(
                f"-t {format} writes {written}; it has nothing for '{name_of(op)}'{_named(op)}: lower it, or take "
                "it out",
                op,
            )
    if not backend.functions and any(isinstance(op, func.FuncOp) and not op.is_declaration for op in module.ops):
        refuse_as_host(backend, module)
    refuse_unaccepted(backend, module, target)
    return backend.formats[format](module, target)


def _is_written(op: Operation, backend: Backend) -> bool:
    if backend.functions:
        return isinstance(op, func.FuncOp | IntrinsicOp)
    if isinstance(op, func.FuncOp):
        has_tensors = any(isinstance(t, TensorType) for t in (*op.function_type.inputs, *op.function_type.outputs))
        return op.is_declaration or (op.sym_name.data == HOST_FUNCTION and not has_tensors)
    return isinstance(op, KernelOp | memref.GlobalOp | IntrinsicOp)


def _named(op: Operation) -> str:
    name = op.properties.get("sym_name")
    return f" @{name.data}" if isinstance(name, StringAttr) else ""
