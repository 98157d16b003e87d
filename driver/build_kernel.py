"""One kernel from text to object code: what a compile worker runs."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import UsageError
from tilework.analysis.program_targets import target_of
from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.backends.base import refuse_unaccepted
from tilework.backends.registry import backend_for
from tilework.dialects import te
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.checked_bounds import with_checked_bounds
from tilework.driver.declarations import declaration_of
from tilework.driver.pass_manager import PassManager, Pipeline
from tilework.driver.phases import kernel_passes
from tilework.driver.read_program import kernels_of


def build_kernel(text: str, kernel_name: str) -> tuple[bytes, dict[str, Any]]:
    """Lower and compile the kernel of a module's text, for the target that the module names.

    text: a module with a `te.kernel` and perhaps its `schedule.sequence`, or with a `loop.kernel`. Returns the code and
    `{"declaration": text}`: the `loop.kernel` without a body, with its scratch and its in-place pairs. Raises what the
    passes and the back end raise, UsageError for a kernel that is not there.
    """
    module = SourceParser(make_context(), text, kernel_name).parse_module()
    verify(module)
    refuse_out_of_bounds(module)
    return compile_kernel(module, kernel_name)


def compile_kernel(module: ModuleOp, kernel_name: str, *, checked: bool = False) -> tuple[bytes, dict[str, Any]]:
    """Do what `build_kernel` does, from a module, which is consumed. checked: with checks of subscripts
    (`loop-check-bounds`)."""
    target = target_of(module)
    backend = backend_for(target)
    pipeline = Pipeline(ModuleOp.name, kernel_passes(target))
    kernel = _find(module, kernel_name)
    declared = declaration_of(kernel) if backend.functions else None  # no kernel is left then
    PassManager(with_checked_bounds(pipeline) if checked else pipeline).run(make_context(), module)
    declared = declared or declaration_of(_find(module, kernel_name))
    refuse_unaccepted(backend, module, target)
    return backend.compile_kernels(module, target), {"declaration": str(declared)}


def _find(module: ModuleOp, name: str) -> te.KernelOp | KernelOp:
    kernels = kernels_of(module)
    if name in kernels:
        return kernels[name]
    there = ", ".join(f"'{kernel}'" for kernel in kernels) or "none"
    raise UsageError(f"no kernel '{name}' to compile; the module's kernels: {there}")
