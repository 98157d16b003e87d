"""One kernel from text to object code: what a compile worker runs."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region

from tilework.algebra.errors import UsageError
from tilework.analysis.in_place import in_place_pairs
from tilework.analysis.program_targets import target_of
from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.backends.base import refuse_unaccepted
from tilework.backends.registry import backend_for
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.checked_bounds import with_checked_bounds
from tilework.driver.pass_manager import PassManager, Pipeline
from tilework.driver.phases import kernel_passes


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
    """As `build_kernel`, from a module, which is consumed. checked: with checks of subscripts (`loop-check-bounds`)."""
    target = target_of(module)
    pipeline = Pipeline(ModuleOp.name, kernel_passes(target))
    PassManager(with_checked_bounds(pipeline) if checked else pipeline).run(make_context(), module)
    kernel = _find(module, kernel_name)
    backend = backend_for(target)
    refuse_unaccepted(backend, module, target)
    return backend.compile_kernels(module, target), {"declaration": str(declaration_of(kernel))}


def declaration_of(kernel: KernelOp) -> KernelOp:
    """The kernel without its body: what a caller must know, including which outputs may overwrite which inputs."""
    inputs, outputs, scratch, _ = kernel.group_sizes
    declared = KernelOp(
        kernel.sym_name.data,
        (inputs, outputs, scratch),
        kernel.function_type.inputs.data[: len(kernel.dims)],
        [dims.data for dims in kernel.dims],
        [symbol.data for symbol in kernel.symbols],
        Region(),
        in_place_pairs(kernel),
    )
    declared.attributes |= kernel.attributes
    return declared


def _find(module: ModuleOp, name: str) -> KernelOp:
    kernels = [op for op in module.body.block.ops if isinstance(op, KernelOp) and not op.is_declaration]
    for kernel in kernels:
        if kernel.sym_name.data == name:
            return kernel
    there = ", ".join(f"'{kernel.sym_name.data}'" for kernel in kernels) or "none"
    raise UsageError(f"no kernel '{name}' to compile; the module's kernels: {there}")
