"""Fixtures that several test files share."""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.verification import verify
from tilework.backends.llvm.compile import compile_ir
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects.loop import KernelOp
from tilework.dialects.registration import make_context
from tilework.dialects.source_parser import SourceParser
from tilework.runtime.native import load_objects
from tilework.targets.host import host_target

# A shell's background job is started with Ctrl-C ignored, and so would be the processes that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _parse(text: str) -> ModuleOp:
    module = SourceParser(make_context(), text, "<test>").parse_module()
    verify(module)
    return module


def _compile_kernel(text: str) -> Callable[..., None]:
    module = _parse(text)
    (kernel,) = (op for op in module.body.block.ops if isinstance(op, KernelOp))
    buffers, symbols = sum(kernel.group_sizes[:3]), kernel.group_sizes[3]
    library = load_objects([compile_ir(emit_kernels(module, host_target()), host_target())])
    signature = [ctypes.c_void_p] * buffers + [ctypes.c_int64] * symbols + [ctypes.c_int32]
    function = ctypes.CFUNCTYPE(None, *signature)(library.get_function(kernel.sym_name.data))

    def call(*arguments: np.ndarray | int, threads: int = 1) -> None:
        assert len(arguments) == buffers + symbols and library is not None  # the library keeps the code alive
        function(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments), threads)

    return call


@pytest.fixture(scope="session")
def parse_module() -> Callable[[str], ModuleOp]:
    """Reads and verifies the text of a module."""
    return _parse


@pytest.fixture(scope="session")
def compile_kernel() -> Callable[[str], Callable[..., None]]:
    """Compiles the one kernel of a text to `f(*arrays, *symbols, threads=1)`, which writes outputs in place."""
    return _compile_kernel
