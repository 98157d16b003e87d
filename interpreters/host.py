"""What a host function means: it allocates buffers and calls kernels, which their interpreters run.

Kernels are `loop.kernel`s, or `te.kernel`s that are not lowered yet. A kernel that is only declared was compiled
before: a stand-in takes its place, whose outputs depend on every bit of its inputs. Allocations, outputs and the
arena are poisoned; memory that was given back is poisoned again.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import cf, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Expr, Key
from tilework.analysis.accesses import offset_of
from tilework.analysis.functions import body_of
from tilework.analysis.host_symbols import ARENA, ARENA_BYTES, OUTPUT, HostSymbols, parameter_of
from tilework.dialects.graph.base import Array
from tilework.dialects.loop import ApplyOp, CallOp, ForOp, IfOp, InvokeOp, SymbolOp, WaitOp, WordsOp
from tilework.dialects.loop import KernelOp as LoopKernelOp
from tilework.dialects.scalar_meaning import evaluate
from tilework.dialects.support.diagnostics import CompileError, DataRefused, UsageError
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.te import KernelOp as TeKernelOp
from tilework.interpreters.buffers import (
    Buffer,
    allocate,
    check_memref,
    contiguous_strides,
    memref_dtype,
    overlaps,
    poison,
    reinterpret_operands,
    wrap,
)
from tilework.interpreters.graph import MOST_RUNS, constant_array, find_function, held
from tilework.interpreters.loop import LoopProgram
from tilework.interpreters.symbols import bind_symbols
from tilework.interpreters.te import run_kernel


class FailedAssertion(CompileError, DataRefused):
    """A host function refuses what it is given."""


def run_host(module: ModuleOp, name: str, inputs: Sequence[Array], parameters: Mapping[str, Array]) -> list[Array]:
    """The outputs of host function `name`, in fresh arrays; all arguments, if none is marked as an output.

    Raises UsageError where inputs or parameters do not fit, TileworkError where something does not hold that must,
    CompileError where an assertion fails or a kernel reaches outside of its memory.
    """
    results = evaluate_host(module, name, inputs, parameters)
    function = find_function(module, name)
    assert function is not None
    outputs = HostSignature.of(function).outputs
    attributes = ArrayAttr(HostSymbols(function).attributes[a.index] for a in outputs) if outputs else None
    return held(attributes, results)


def evaluate_host(module: ModuleOp, name: str, inputs: Sequence[Array], parameters: Mapping[str, Array]) -> list[Array]:
    """All that `run_host` computes, whether or not what must hold does."""
    function = find_function(module, name)
    if function is None:
        raise UsageError(f"the module has no function @{name}")
    signature = HostSignature.of(function)
    symbols = signature.symbols([a.shape for a in inputs])
    host = _Host(module, parameters, bound=dict(symbols))
    host.give_outputs(signature)
    arguments = [wrap(np.array(a)) for a in inputs]
    arenas = [np.full(size, -1, np.int8) for size in signature.arena_bytes(symbols)]  # bytes of -1: floats are NaN
    try:
        host.run(function, dict(zip(signature.given, [*arguments, *map(wrap, arenas)], strict=True)))
    except RecursionError:
        raise DataRefused(f"@{name} calls itself too often to be interpreted") from None
    outputs: list[Buffer] = [host.values[argument] for argument in signature.outputs]
    return [buffer.array for buffer in outputs or arguments]


@dataclass(frozen=True)
class HostSignature:
    """The arguments of a host function: inputs, then outputs, then an arena of so many bytes for every memory."""

    function: func.FuncOp
    inputs: tuple[BlockArgument, ...]
    outputs: tuple[BlockArgument, ...]
    arenas: tuple[Expr, ...]

    @classmethod
    def of(cls, function: func.FuncOp) -> HostSignature:
        """Read it from the attributes of the arguments."""
        marks = [set(attributes.data) for attributes in HostSymbols(function).attributes]
        arguments = list(zip(function.args, marks, strict=True))
        size = function.attributes.get(ARENA_BYTES)
        return cls(
            function,
            tuple(a for a, marks in arguments if not marks & {OUTPUT, ARENA}),
            tuple(a for a, marks in arguments if OUTPUT in marks),
            tuple(size) if isinstance(size, DimsAttr) else (),
        )

    def dims(self, argument: BlockArgument) -> tuple[Expr, ...]:
        """The dimensions of an argument over the symbols' names."""
        return HostSymbols(self.function).argument_dims(argument)

    def symbols(self, shapes: Sequence[Sequence[int]]) -> dict[Key, int]:
        """The values of the symbols, told by the inputs' shapes."""
        name = self.function.sym_name.data
        if len(shapes) != len(self.inputs):
            raise UsageError(f"@{name} takes {len(self.inputs)} inputs, {len(shapes)} are given")
        names = [f"@{name}: input {i}" for i in range(len(shapes))]
        return bind_symbols(names, [self.dims(a) for a in self.inputs], shapes)

    @property
    def given(self) -> tuple[BlockArgument, ...]:
        """The arguments that are no outputs: inputs, then arenas."""
        return tuple(a for a in self.function.args if a not in self.outputs)

    def arena_bytes(self, symbols: Mapping[Key, int]) -> list[int]:
        """The sizes of the arenas."""
        return [int(arena.evaluate(symbols)) for arena in self.arenas]


@dataclass
class _Host:
    """One run of a host function."""

    module: ModuleOp
    parameters: Mapping[str, Array]
    values: dict[SSAValue, Any] = field(default_factory=dict[SSAValue, Any])
    bound: dict[Key, int] = field(default_factory=dict[Key, int])
    """The symbols that it has bound so far."""
    open: dict[BlockArgument, tuple[Expr, ...]] = field(default_factory=dict[BlockArgument, tuple[Expr, ...]])
    """The outputs, and their dimensions, that are allocated once the symbols in these are bound."""
    programs: dict[Any, LoopProgram] = field(default_factory=dict[Any, LoopProgram])

    def give_outputs(self, signature: HostSignature) -> None:
        """Give a function fresh outputs as soon as their sizes are known."""
        self.open = {argument: signature.dims(argument) for argument in signature.outputs}
        self._open_outputs()

    def _open_outputs(self) -> None:
        for argument, dims in list(self.open.items()):
            if all(self.bound.keys() >= {*e.variables()} for e in dims):
                shape = tuple(int(e.evaluate(self.bound)) for e in dims)
                self.values[argument] = allocate(shape, memref_dtype(argument.type))
                del self.open[argument]

    def run(self, function: func.FuncOp, arguments: Mapping[BlockArgument, Buffer]) -> None:
        """Run a function on these arguments; outputs that are not among them are there already."""
        for argument, buffer in arguments.items():
            check_memref(buffer, argument.type, f"@{function.sym_name.data}: argument {argument.index}")
            self.values[argument] = buffer
        self._run(body_of(function))

    def _run(self, block: Block) -> None:
        for op in block.ops:
            self._execute(op)

    def _execute(self, op: Operation) -> None:
        match op:
            case func.ReturnOp() | WaitOp() | scf.YieldOp() | scf.ConditionOp():
                return
            case CallOp() | InvokeOp():
                self._call(op)
            case ForOp():
                for i in range(*self._evaluate([op.lower, op.upper])):
                    self.values[op.index] = i
                    self._run(op.body.block)
            case IfOp():
                holds = all(condition.evaluate(self.values) for condition in op.conditions)
                for block in (op.then_body if holds else op.else_body).blocks:
                    self._run(block)
            case scf.IfOp() | scf.WhileOp():
                self._control(op)
            case cf.AssertOp():
                if not self.values[op.arg]:
                    raise FailedAssertion(f"an assertion fails: {op.msg.data}", op)
            case memref.CopyOp():
                self._copy(op)
            case memref.DeallocOp():
                buffer: Buffer = self.values[op.operands[0]]
                buffer.array[...] = poison(buffer.dtype)
            case _:
                self.values[op.results[0]] = self._result(op)

    def _copy(self, op: memref.CopyOp) -> None:
        source: Buffer = self.values[op.source]
        self.values[op.destination].array[...] = source.array

    def _control(self, op: scf.IfOp | scf.WhileOp) -> None:
        if isinstance(op, scf.IfOp):
            self._run((op.true_region if self.values[op.cond] else op.false_region).block)
        else:
            self._while(op)

    def _while(self, op: scf.WhileOp) -> None:
        """The second block between runs of the first, which says whether there is another one."""
        before, after = op.before_region.block, op.after_region.block
        values: Sequence[Any] = [self.values[v] for v in op.arguments]
        for _ in range(MOST_RUNS + 1):
            self._enter(before, values)
            test = before.last_op
            assert isinstance(test, scf.ConditionOp)
            values = [self.values[v] for v in test.args]
            if not self.values[test.condition]:
                self.values |= zip(op.results, values, strict=True)
                return
            self._enter(after, values)
            assert after.last_op is not None
            values = [self.values[v] for v in after.last_op.operands]
        raise DataRefused(f"a loop runs more than {MOST_RUNS} times, too often to be interpreted")

    def _enter(self, block: Block, values: Sequence[Any]) -> None:
        self.values |= zip(block.args, values, strict=True)
        self._run(block)

    def _result(self, op: Operation) -> Any:
        match op:
            case memref.AllocOp():
                sizes = iter(op.dynamic_sizes)
                shape = [self.values[next(sizes)] if n == DYNAMIC_INDEX else n for n in op.memref.type.get_shape()]
                return allocate(shape, memref_dtype(op.memref.type))
            case memref.DimOp():
                return self.values[op.source].shape[self.values[op.index]]
            case memref.LoadOp():
                return self.values[op.memref].array[()]
            case memref.GetGlobalOp():
                return self._global(op)
            case memref.SubviewOp():
                return self._subview(op)
            case memref.ReinterpretCastOp():
                [offset], sizes, strides = (self._evaluate(group) for group in reinterpret_operands(op))
                return self.values[op.source].view(offset - offset_of(op.source.type), sizes, strides)
            case memref.ViewOp():
                return self._view(op)
            case memref.CastOp():
                return self.values[op.source]
            case WordsOp():
                return self.values[op.source].words
            case ApplyOp():
                return self._evaluate([op.value])[0]
            case SymbolOp():
                self.bound[op.sym_name.data] = self.values[op.value]
                self._open_outputs()
                return self.values[op.value]
            case _:
                value = evaluate(op, [self.values[operand] for operand in op.operands])
                return int(value) if np.ndim(value) == 0 and np.asarray(value).dtype.kind == "i" else value

    def _evaluate(self, exprs: Sequence[Expr]) -> list[int]:
        return [int(e.evaluate(self.values)) for e in exprs]

    # -- memory

    def _global(self, op: memref.GetGlobalOp) -> Buffer:
        name = op.name_.root_reference.data
        declared = next(
            (g for g in self.module.ops if isinstance(g, memref.GlobalOp) and g.sym_name.data == name), None
        )
        source = name if declared is None else parameter_of(declared)
        if source in self.parameters:
            buffer = wrap(np.asarray(self.parameters[source], order="C"))
            check_memref(buffer, op.memref.type, f"parameter @{name}")
            return buffer
        if declared is None or not isinstance(declared.initial_value, DenseIntOrFPElementsAttr):
            raise UsageError(f"there is no parameter @{name}")
        return wrap(np.array(constant_array(declared.initial_value)))

    def _subview(self, op: memref.SubviewOp) -> Buffer:
        source: Buffer = self.values[op.source]
        offsets, sizes, steps = (self._evaluate(group) for group in reinterpret_operands(op))
        for axis, (o, n, step, extent) in enumerate(zip(offsets, sizes, steps, source.shape, strict=True)):
            if o < 0 or (n > 0 and o + (n - 1) * step >= extent):
                raise CompileError(
                    f"memref.subview reaches outside of dimension {axis}, which has {extent} elements", op
                )
        strides = [s * step for s, step in zip(source.strides, steps, strict=True)]
        start = sum(o * s for o, s in zip(offsets, source.strides, strict=True))
        return source.view(start, sizes, strides)

    def _view(self, op: memref.ViewOp) -> Buffer:
        arena: Buffer = self.values[op.source]
        assert isinstance(op.result.type, MemRefType)
        sizes = iter(op.sizes)
        shape = [self.values[next(sizes)] if n == DYNAMIC_INDEX else n for n in op.result.type.get_shape()]
        dtype, shift = memref_dtype(op.result.type), self.values[op.byte_shift]
        count = int(np.prod(shape, dtype=np.int64))
        if shift < 0 or shift + count * dtype.itemsize > arena.shape[0]:
            raise CompileError(
                f"memref.view of {count * dtype.itemsize} bytes at {shift} reaches outside of {arena.shape[0]} bytes",
                op,
            )
        start = arena.offset + shift
        return Buffer(
            arena.storage[start : start + count * dtype.itemsize].view(dtype),
            0,
            tuple(shape),
            contiguous_strides(shape),
        )

    # -- kernels

    def _invoke(self, op: InvokeOp) -> None:
        """Another function, with temporaries of its own."""
        function = find_function(self.module, op.function_name)
        if function is None:
            raise CompileError(f"the module has no function @{op.function_name}", op)
        inputs, outputs = ([self.values[v] for v in group] for group in (op.inputs, op.outputs))
        signature = HostSignature.of(function)
        symbols = signature.symbols([buffer.shape for buffer in inputs])
        arenas = [wrap(np.full(size, -1, np.int8)) for size in signature.arena_bytes(symbols)]
        arguments = zip(function.args, [*inputs, *outputs, *arenas], strict=True)
        _Host(self.module, self.parameters, programs=self.programs).run(function, dict(arguments))

    def _call(self, op: CallOp | InvokeOp) -> None:
        if isinstance(op, InvokeOp):
            self._invoke(op)
            return
        kernel = self._kernel(op)
        inputs = [self.values[v] for v in op.inputs]
        outputs = [self.values[v] for v in op.outputs]
        if isinstance(kernel, TeKernelOp):
            known: dict[Key, int] = dict(zip(kernel.symbols, (self.values[v] for v in op.symbol_values), strict=True))
            for buffer, result in zip(outputs, run_kernel(kernel, [b.array for b in inputs], known), strict=True):
                if buffer.shape != result.shape:
                    raise CompileError(
                        f"@{op.kernel_name} makes {list(result.shape)}, the buffer is {list(buffer.shape)}", op
                    )
                buffer.array[...] = result
            return
        if kernel.is_declaration:
            stand_in(op.kernel_name, inputs, outputs)
            return
        scratch = [self.values[v] for v in op.scratch]
        buffers = [*inputs, *outputs, *(scratch or self._own_scratch(kernel, op))]
        symbols = [self.values[v] for v in op.symbol_values]
        shared = overlaps(buffers)
        key = (kernel, *symbols, *shared.earlier.items(), shared.identical)
        if key not in self.programs:
            self.programs[key] = LoopProgram(kernel, symbols, shared)
        self.programs[key].run(buffers)

    def _kernel(self, op: CallOp) -> LoopKernelOp | TeKernelOp:
        for candidate in self.module.ops:
            if isinstance(candidate, LoopKernelOp | TeKernelOp) and candidate.sym_name.data == op.kernel_name:
                return candidate
        raise CompileError(f"the module has no kernel @{op.kernel_name}", op)

    def _own_scratch(self, kernel: LoopKernelOp, op: CallOp) -> list[Buffer]:
        """Scratch that the call does not lend (before the memory is planned): allocated for this call."""
        values: dict[Key, int] = {
            key: self.values[v] for key, v in zip(kernel.symbol_values, op.symbol_values, strict=True)
        }
        return [
            allocate([int(e.evaluate(values)) for e in kernel.dims_of(a)], memref_dtype(a.type)) for a in kernel.scratch
        ]


def stand_in(name: str, inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> None:
    """Fill outputs with small integers that are a function of the kernel's name and of all elements of the inputs."""
    seed = zlib.crc32(name.encode())
    for buffer in inputs:
        seed = zlib.crc32(np.ascontiguousarray(buffer.array).data, seed)
    random = np.random.default_rng(seed)
    for buffer in outputs:
        buffer.array[...] = random.integers(0, 2 if buffer.dtype.kind == "b" else 9, buffer.shape)
