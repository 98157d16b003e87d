"""One fuzz case: a kernel and a schedule, compiled, against what te says the kernel is."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.verification import verify
from tilework.backends.llvm.compile import compile_ir
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects import loop
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.registration import make_context
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te import KernelOp
from tilework.interpreters.te import run_kernel
from tilework.lowering.pass_manager import PassManager, Pipeline
from tilework.lowering.pipelines import PIPELINES
from tilework.runtime.native import load_objects
from tilework.runtime.openmp import openmp_runtime
from tilework.targets.host import host_target
from tilework.tools.fuzz.programs import SYMBOL

Array = NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """`refused` is the reason of a refusal, `difference` what was wrong; neither for a schedule that is right."""

    refused: str | None = None
    difference: str | None = None


def check(kernel: KernelOp, sequence: SequenceOp | None, size: int, seed: int = 0) -> Outcome:
    """Compile the kernel under the schedule and run it on small integers, so that equality is bitwise.

    `size` is the value of the symbol. Anything but a CompileError that escapes is a defect.
    """
    module = ModuleOp([kernel.clone(), *([] if sequence is None else [sequence.clone()])])
    try:
        verify(module)
        PassManager(Pipeline(ModuleOp.name, PIPELINES["compile-kernel"])).run(make_context(), module)
    except CompileError as error:
        return Outcome(refused=error.message)
    verify(module)
    [lowered] = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    arrays = _arguments(lowered, size, seed)
    inputs, outputs, *_ = lowered.group_sizes
    expected = run_kernel(kernel, arrays[:inputs])
    _run(module, lowered, arrays, size)
    for i, (got, wanted) in enumerate(zip(arrays[inputs : inputs + outputs], expected, strict=True)):
        if not np.array_equal(got, wanted, equal_nan=True):
            at = tuple(int(j) for j in np.argwhere(~((got == wanted) | (np.isnan(got) & np.isnan(wanted))))[0])
            return Outcome(difference=f"result {i} at {at}: {got[at]}, not {wanted[at]}")
    return Outcome()


def _arguments(kernel: loop.KernelOp, size: int, seed: int) -> list[Array]:
    """Random inputs; outputs and scratch hold NaN, so that an element left out shows."""
    rng = np.random.default_rng(seed)
    arrays: list[Array] = []
    for i, dims in enumerate(kernel.dims):
        shape = tuple(int(e.evaluate({SYMBOL: size})) for e in dims)
        is_input = i < kernel.group_sizes[0]
        arrays.append(
            rng.integers(-2, 3, shape).astype(np.float32) if is_input else np.full(shape, np.nan, np.float32)
        )
    return arrays


def _run(module: ModuleOp, kernel: loop.KernelOp, arrays: list[Array], size: int) -> None:
    target = host_target()
    code = compile_ir(emit_kernels(module, target), target, opt_level=1)
    library = load_objects([code], openmp_runtime().symbols)
    symbols = kernel.group_sizes[3]
    signature = [*[ctypes.c_void_p] * len(arrays), *[ctypes.c_int64] * symbols, ctypes.c_int32]
    function = ctypes.CFUNCTYPE(None, *signature)(library.get_function(kernel.sym_name.data))
    function(*(a.ctypes.data for a in arrays), *[size] * symbols, 2)
