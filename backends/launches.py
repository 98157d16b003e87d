"""Kernels that devices launch: which of a module these are, and what launches them, as data.

A kernel with loops over threads is a function of the device; one that calls such kernels is a program of launches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, SSAValue

from tilework.algebra.c_names import c_name
from tilework.algebra.index_expr import Expr, const, product, var
from tilework.analysis.launches import Launch, launches
from tilework.backends.element_types import bytes_of
from tilework.dialects.loop import BLOCK_THREADS, BLOCKS, CallOp, ForOp, KernelOp, Kind
from tilework.dialects.loop.annotations import INDEX_BITS
from tilework.dialects.loop.common import memref_of
from tilework.dialects.support.diagnostics import CompileError
from tilework.runtime.devices.launch_program import BufferUse, LaunchProgram, LaunchUse, RepeatUse, Sizes, Step

Names = Mapping[SSAValue, str]
"""The names of sizes in a program of launches."""


def launched_kernels(module: ModuleOp) -> list[KernelOp]:
    """The kernels of a module that are functions of the device."""
    return [kernel for kernel in _kernels(module) if launches(kernel)]


def block_sizes(kernel: KernelOp) -> tuple[int, int, int]:
    """How many threads along x, y and z a block has of a kernel that is a function of the device."""
    [launch] = launches(kernel)
    x, y, z = (launch.block_threads.get(kind, 1) for kind in reversed(BLOCK_THREADS))
    return x, y, z


def index_bits(kernel: KernelOp) -> int:
    """How many bits are enough for the indices of a kernel that is a function of the device."""
    bits = kernel.attributes.get(INDEX_BITS)
    return bits.value.data if isinstance(bits, IntegerAttr) else 64


def launch_program(module: ModuleOp, source: str) -> LaunchProgram:
    """The program of the one kernel of a module that calls others; source: the code of these."""
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
