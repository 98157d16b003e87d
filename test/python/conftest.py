"""Fixtures that several test files share."""

from __future__ import annotations

import ctypes
import gc
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from programs import apply_phase
from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.verification import verify
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects.loop import KernelOp
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.dialects.te import KernelOp as TeKernelOp
from tilework.frontends.te.build import build
from tilework.frontends.te.schedule import Schedule
from tilework.frontends.te.tensor import PlaceholderOp, Tensor
from tilework.frontends.te.text import module_text
from tilework.interpreters.buffers import memref_dtype
from tilework.interpreters.loop import run_loop_kernel
from tilework.interpreters.te import kernel_symbols, run_kernel
from tilework.runtime.arrays import dtype_named
from tilework.runtime.cache import KernelCache
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.devices.llvm.native import load_objects
from tilework.scheduling.dataflow.apply import apply_dataflow
from tilework.scheduling.state import read_schedule
from tilework.targets import Target
from tilework.targets.cpu.host import host_target

# A shell's background job is started with Ctrl-C ignored, and so would be the processes that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Keep the million objects that are there before the first test from the collector, which would walk them often."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def compile_in_this_process() -> Iterator[None]:
    """Lets `tw.compile` start no workers unless it is told how many: small models take less time than starting one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tilework.driver.pool.physical_cores", lambda: 1)
        yield


def _parse(text: str) -> ModuleOp:
    module = SourceParser(make_context(), text, "<test>").parse_module()
    verify(module)
    return module


def _compile_kernel(text: str, like: str | None = None) -> Callable[..., None]:
    module = _parse(text)
    (kernel,) = (op for op in module.body.block.ops if isinstance(op, KernelOp))
    return _native_function(module, kernel, replace(host_target(), cpu=like or host_target().cpu))


def _native_function(module: ModuleOp, kernel: KernelOp, target: Target) -> Callable[..., None]:
    buffers, symbols = sum(kernel.group_sizes[:3]), kernel.group_sizes[3]
    code = compile_ir(emit_kernels(module, target), host_target())
    library = load_objects([code])
    signature = [ctypes.c_void_p] * buffers + [ctypes.c_int64] * symbols + [ctypes.c_int32]
    function = ctypes.CFUNCTYPE(None, *signature)(library.get_function(kernel.sym_name.data))

    def call(*arguments: np.ndarray | int, threads: int = 1) -> None:
        assert len(arguments) == buffers + symbols and library is not None  # the library keeps the code alive
        function(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments), threads)

    return call


def _run_kernel_everywhere(
    kernel: TeKernelOp,
    inputs: Sequence[np.ndarray],
    sequence: SequenceOp | None = None,
    rtol: float = 0.0,
) -> list[np.ndarray]:
    """The results by te's interpreter, once its loops, interpreted and compiled, are found to give the same."""
    expected = run_kernel(kernel, inputs)
    module = ModuleOp([kernel.clone(), *([] if sequence is None else [sequence.clone()])])
    verify(module)
    apply_phase("compile-kernel", module)
    (lowered,) = (op for op in module.ops if isinstance(op, KernelOp))
    symbols = [int(v) for v in kernel_symbols(kernel, inputs).values()]
    outputs = [np.empty_like(e) for e in expected]
    run_loop_kernel(lowered, inputs, outputs, symbols=symbols)
    scratch = [
        np.zeros([int(d.evaluate(kernel_symbols(kernel, inputs))) for d in dims], memref_dtype(type_))
        for dims, type_ in list(zip(lowered.dims, lowered.function_type.inputs, strict=False))[
            len(inputs) + len(outputs) :
        ]
    ]
    native = [np.empty_like(e) for e in expected]
    _native_function(module, lowered, host_target())(*inputs, *native, *scratch, *symbols, threads=2)
    for found in (outputs, native):
        for got, wanted in zip(found, expected, strict=True):
            if rtol:
                np.testing.assert_allclose(got, wanted, rtol=rtol)
            else:
                np.testing.assert_array_equal(got, wanted)
    return expected


@pytest.fixture(scope="session")
def run_kernel_everywhere() -> Callable[..., list[np.ndarray]]:
    """Runs a te kernel, scheduled or by the default rule, on all levels: `f(kernel, arrays, sequence, rtol)`."""
    return _run_kernel_everywhere


@pytest.fixture(scope="session")
def parse_module() -> Callable[[str], ModuleOp]:
    """Reads and verifies the text of a module."""
    return _parse


@pytest.fixture(scope="session")
def compile_kernel() -> Callable[..., Callable[..., None]]:
    """Compiles the one kernel of a text to `f(*arrays, *symbols, threads=1)`, which writes outputs in place.

    like: a processor that the emitter takes this one for; it has no other instructions than this one.
    """
    return _compile_kernel


def _check_stages(s: Schedule, module: ModuleOp) -> None:
    """The stages and loops that Python shows are those that the primitives make."""
    kernel, sequence = module.ops
    assert isinstance(kernel, TeKernelOp) and isinstance(sequence, SequenceOp)
    apply_dataflow(kernel, sequence)
    made = {n: [a.name for a in stage.leaves] for n, stage in read_schedule(kernel, sequence).stages.items()}
    shown = {stage.name: s.primitives.texts(stage.leaf_iter_vars) for stage in s.stages}
    for name, leaves in made.items():
        assert shown[name] == leaves, name


@pytest.fixture(scope="session")
def run_te(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Compiles a te schedule and runs it: `f(s, args, *inputs, shapes=())`, the result or a list of results.

    shapes: those of the results, where they are symbolic. The module as printed is read again, and the te interpreter
    must give the same results. The loops that the schedule shows in Python must be those of the replayed primitives.
    """
    cache = KernelCache(tmp_path_factory.mktemp("cache"))

    def run(s: Schedule, args: Sequence[Tensor], *inputs: np.ndarray, shapes: Sequence[tuple[int, ...]] = ()) -> Any:
        given, made = iter(inputs), iter(shapes)
        arrays = [
            next(given)
            if isinstance(t.op, PlaceholderOp)
            else np.ones(next(made) if shapes else t.shape, dtype_named(t.dtype))
            for t in args
        ]
        build(s, args, cache=cache)(*arrays)
        results = [a for a, t in zip(arrays, args, strict=True) if not isinstance(t.op, PlaceholderOp)]
        module = _parse(module_text(s.module("main", args)))
        _check_stages(s, module.clone())
        (kernel,) = (op for op in module.ops if isinstance(op, TeKernelOp))
        for result, expected in zip(results, run_kernel(kernel, inputs), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
        return results[0] if len(results) == 1 else results

    return run
