"""Host functions that call each other keep their temporaries in frames, which lie one behind the other in one arena."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tilework.analysis.calls import reachable
from tilework.backends.host_signature import HOST_FUNCTION, HostSignature
from tilework.dialects.support.diagnostics import CompileError

STACK_BYTES = 64 << 20
"""The room for the frames of functions that are called, behind the frame of the entry."""

LEAST_FRAME = 64 << 10
"""No frame takes fewer bytes, so that calls end where there is no room long before the processor's stack is full."""

TOO_DEEP = "a function has called itself too often: there is no room left for its temporaries"


def refuse_as_callee(signature: HostSignature) -> None:
    """Raise CompileError for a function that cannot be called by others."""
    name = signature.function.sym_name.data
    if signature.devices:
        raise CompileError(f"@{name} is called and has kernels on {signature.devices[0]}", signature.function)


def invoked_functions(module: ModuleOp) -> Mapping[str, HostSignature]:
    """The functions that the entry calls, by way of others too, by name."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration}
    if HOST_FUNCTION not in functions:
        return {}
    return {name: HostSignature.of_function(functions[name], module) for name in reachable(HOST_FUNCTION, functions)}
