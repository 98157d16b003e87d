"""One kernel of a program as a function of arrays: compiled, or taken from the cache."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, NoneAttr
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, product
from tilework.algebra.predicate import at_least
from tilework.algebra.requirement import Requirement
from tilework.analysis.accesses import memref_type
from tilework.analysis.program_targets import HOST, set_targets, target_of
from tilework.backends.element_types import bytes_of, dtype_name
from tilework.dialects import te
from tilework.dialects.loop import KernelOp
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.shapes import element_type
from tilework.dialects.support.source_parser import SourceParser
from tilework.dialects.te.bounds import sizes_for_reads
from tilework.driver.build_kernel import compile_kernel
from tilework.driver.canonical_text import renamed
from tilework.driver.kernels import Kernel, kernel_key, schedules_of
from tilework.runtime.cache import KernelCache
from tilework.runtime.function import Function, FunctionInfo
from tilework.runtime.tensor_spec import Dim, TensorSpec

ENTRY = "te_kernel"
"""The name in code, whatever the kernel's: `exp` would be taken for libm's."""


def kernel_function(kernel: Kernel, cache: KernelCache) -> Function:
    """A kernel of a module as a function of its inputs and outputs, in order."""
    schedule: SequenceOp | None = schedules_of(_module_of(kernel)).get(kernel)
    target = target_of(kernel)
    key = f"function {kernel_key(kernel, target, schedule)}"
    entry = cache.get(key)
    if entry is None:
        module = ModuleOp(renamed(kernel, schedule, ENTRY))
        set_targets(module, {HOST: target})
        entry = compile_kernel(module, ENTRY)
        cache.put(key, *entry)
    code, metadata = entry
    return Function(_info(kernel, declaration_in(metadata["declaration"]), str(target)), code)


def declaration_in(text: str) -> KernelOp:
    """The kernel without a body that comes with code."""
    [declaration] = SourceParser(make_context(), text, "cache").parse_module().ops
    assert isinstance(declaration, KernelOp)
    return declaration


def scratch_bytes(declaration: KernelOp) -> tuple[Dim, ...]:
    """The size of each buffer that the caller lends."""
    inputs, outputs, scratch, _ = declaration.group_sizes
    buffers = slice(inputs + outputs, inputs + outputs + scratch)
    types, dims = declaration.function_type.inputs.data[buffers], declaration.dims.data[buffers]
    return tuple(_dim(product(d.data) * bytes_of(element_type(t))) for t, d in zip(types, dims, strict=True))


def requirements_of(kernel: te.KernelOp) -> tuple[Requirement, ...]:
    """What the kernel asks of its symbols, as `FunctionInfo` says it."""
    return tuple(Requirement.of(at_least(size, 0), text) for size, text in sizes_for_reads(kernel).items())


def _info(kernel: Kernel, declaration: KernelOp, target: str) -> FunctionInfo:
    inputs, outputs, _, _ = declaration.group_sizes
    arguments = tuple(_spec(kernel, declaration, i, name) for i, name in enumerate(_names(kernel)))
    symbols = tuple(symbol.data for symbol in declaration.symbols)
    told = {dim for spec in arguments[:inputs] for dim in spec.shape}
    if untold := [symbol for symbol in symbols if symbol not in told]:
        raise CompileError(f"symbol {untold[0]} is by itself no dimension of an input, which would tell it", kernel)
    return FunctionInfo(
        kernel.sym_name.data,
        declaration.sym_name.data,
        arguments,
        tuple(range(inputs)),
        tuple(range(inputs, inputs + outputs)),
        symbols,
        scratch_bytes(declaration),
        target,
        requirements_of(kernel) if isinstance(kernel, te.KernelOp) else (),
    )


def _spec(kernel: Kernel, declaration: KernelOp, i: int, name: str) -> TensorSpec:
    type_ = memref_type(declaration.function_type.inputs.data[i])
    if not isinstance(type_.layout, NoneAttr):
        raise CompileError(f"'{name}' lies in memory with gaps, {type_}: an array for it has none", kernel)
    return TensorSpec(name, dtype_name(type_.element_type, kernel), tuple(map(_dim, declaration.dims.data[i].data)))


def _names(kernel: Kernel) -> list[str]:
    """What inputs and outputs are called: as their values are, each otherwise."""
    if isinstance(kernel, te.KernelOp):
        values: list[SSAValue] = [*kernel.body.block.args, *kernel.results_returned]
    else:
        values = [*kernel.inputs, *kernel.outputs]
    names: list[str] = []
    for i, value in enumerate(values):
        name = value.name_hint or f"arg{i}"
        names.append(f"{name}_{i}" if name in names else name)
    return names


def _module_of(kernel: Kernel) -> ModuleOp:
    module = kernel.parent_op()
    assert isinstance(module, ModuleOp)
    return module


def _dim(e: Expr) -> Dim:
    return str(e) if e.constant is None else e.constant
