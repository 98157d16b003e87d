"""One fuzz case: a kernel and a schedule, interpreted and compiled, against what te says the kernel is."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.memref import AllocaOp

from tilework.algebra.index_expr import Expr
from tilework.algebra.nibbles import is_narrow, unpack
from tilework.analysis.accesses import memory_space
from tilework.analysis.data_indices import index_limits
from tilework.analysis.program_targets import HOST, set_targets
from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects import loop
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.te import IntrinsicOp, KernelOp
from tilework.driver.phases import run_phase
from tilework.interpreters.buffers import memref_dtype, poison
from tilework.interpreters.loop import run_loop_kernel
from tilework.interpreters.te import run_kernel
from tilework.runtime.arrays import packed
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.devices.llvm.native import load_objects
from tilework.targets.cpu.host import host_target
from tilework.tools.fuzz.programs import SYMBOL

Array = NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """`refused` is the reason of a refusal, `difference` what was wrong; neither for a schedule that is right.

    `counts` is what else was tried with one that is right, and how often.
    """

    refused: str | None = None
    difference: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])


def check(
    kernel: KernelOp,
    sequence: SequenceOp | None,
    size: int,
    seed: int,
    intrinsics: Sequence[IntrinsicOp] = (),
) -> Outcome:
    """Lower the kernel under the schedule and run it, interpreted and compiled, on small integers: equality is bitwise.

    `size` is the value of the symbol, `intrinsics` are those of the program. Anything but a CompileError of a pass that
    escapes is a defect.
    """
    try:
        module, lowered = lower(kernel, sequence, intrinsics)
    except CompileError as error:
        return Outcome(refused=error.message)
    arrays = arguments(lowered, index_limits(kernel), size, seed)
    inputs, count = lowered.group_sizes[:2]
    outputs = arrays[inputs : inputs + count]
    expected = run_kernel(kernel, arrays[:inputs])
    run_loop_kernel(lowered, arrays[:inputs], outputs, symbols=[size] * lowered.group_sizes[3])
    difference = compare("interpreted", outputs, expected)
    if needs_device(lowered):
        return Outcome(difference=difference)
    for output in outputs:
        output.fill(poison(output.dtype))
    _run_native(module, lowered, arrays, size)
    return Outcome(difference=difference or compare("compiled", outputs, expected))


def lower(
    kernel: KernelOp, sequence: SequenceOp | None, intrinsics: Sequence[IntrinsicOp] = ()
) -> tuple[ModuleOp, loop.KernelOp]:
    """A module with the kernel as loops. Raises CompileError for a schedule that is refused."""
    ops = [*intrinsics, kernel, *([] if sequence is None else [sequence])]
    module = ModuleOp([op.clone() for op in ops])
    verify(module)
    refuse_out_of_bounds(module)
    set_targets(module, {HOST: host_target()})
    run_phase("compile-kernel", make_context(), module)
    verify(module)
    [lowered] = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    return module, lowered


def needs_device(kernel: loop.KernelOp) -> bool:
    """Whether threads or memory are asked for that a CPU does not have."""
    scopes = {memory_space(op.memref) for op in kernel.walk() if isinstance(op, AllocaOp)}
    kinds = {op.kind.data for op in kernel.walk() if isinstance(op, loop.ForOp)}
    return bool(scopes & {"shared", "warp"} or kinds & set(loop.THREADS))


def compare(how: str, outputs: Sequence[Array], expected: Sequence[Array]) -> str | None:
    """Where results differ; NaN is equal to itself."""
    for i, (got, wanted) in enumerate(zip(outputs, expected, strict=True)):
        wrong = np.argwhere(~((got == wanted) | ((got != got) & (wanted != wanted))))
        if wrong.size or got.shape != wanted.shape:
            at = tuple(map(int, wrong[0]))
            return f"{how}, result {i} at {at}: {got[at]}, not {wanted[at]}"
    return None


def arguments(kernel: loop.KernelOp, limits: Mapping[int, Sequence[Expr]], size: int, seed: int) -> list[Array]:
    """Random inputs, indices below their limits; outputs and scratch hold NaN, so that an element left out shows."""
    rng = np.random.default_rng(seed)
    arrays: list[Array] = []
    for i, dims in enumerate(kernel.dims):
        shape = tuple(int(e.evaluate({SYMBOL: size})) for e in dims)
        dtype = memref_dtype(kernel.function_type.inputs.data[i])
        if i >= kernel.group_sizes[0]:
            arrays.append(np.full(shape, poison(dtype), dtype))
            continue
        below = [int(e.evaluate({SYMBOL: size})) for e in limits.get(i, ())]
        low, high = (0, min(below)) if below else (-2, 3)
        arrays.append(rng.integers(low, high, shape).astype(dtype))
    return arrays


def _run_native(module: ModuleOp, kernel: loop.KernelOp, arrays: list[Array], size: int) -> None:
    target = host_target()
    code = compile_ir(emit_kernels(module, target), target, opt_level=1)
    library = load_objects([code])
    symbols = kernel.group_sizes[3]
    signature = [*[ctypes.c_void_p] * len(arrays), *[ctypes.c_int64] * symbols, ctypes.c_int32]
    function = ctypes.CFUNCTYPE(None, *signature)(library.get_function(kernel.sym_name.data))
    memory = [packed(a) if is_narrow(a.dtype) else a for a in arrays]
    function(*(a.ctypes.data for a in memory), *[size] * symbols, 2)
    for array, lent in zip(arrays, memory, strict=True):
        if lent is not array:
            unpack(lent, array)
