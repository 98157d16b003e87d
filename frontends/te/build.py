"""lower and build: a scheduled tensor expression as loops, and as a function."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr
from tilework.analysis.program_targets import HOST, TARGETS, set_targets
from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.dialects import te
from tilework.dialects.loop import KernelOp
from tilework.dialects.loop.annotations import CHECKS
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.unique_printer import UniquePrinter
from tilework.driver.build_kernel import compile_kernel
from tilework.driver.garbage import no_cyclic_gc
from tilework.driver.kernel_function import ENTRY, declaration_in, requirements_of, scratch_bytes
from tilework.driver.phases import kernel_passes, run_passes
from tilework.frontends.te.arguments import check_flag, check_text
from tilework.frontends.te.errors import errors_for_python
from tilework.frontends.te.extern import ExternOp
from tilework.frontends.te.packed_function import CompiledKernel, PackedFunction
from tilework.frontends.te.schedule import KernelProgram, Schedule, check_schedule
from tilework.frontends.te.tensor import Argument
from tilework.frontends.te.text import LoweredModule
from tilework.lowering.schedule_to_loop import ScheduleToLoop
from tilework.runtime.cache import KernelCache, cache_for, source_hash
from tilework.runtime.function import Function, FunctionInfo
from tilework.runtime.tensor_spec import Dim, TensorSpec
from tilework.targets import Target, parse_target, target_to_compile_for
from tilework.transforms.loop.simplify import Simplify
from tilework.transforms.schedule.apply_dataflow import ApplyDataflow


def lower(
    s: Schedule, args: Sequence[Argument], name: str = "main", simple_mode: bool = False, target: str = "llvm"
) -> LoweredModule:
    """Do what `tilework.lower` says."""
    check_flag(simple_mode, "simple_mode")
    machine = parse_target(target)
    passes = SIMPLE if simple_mode else kernel_passes(machine)
    with no_cyclic_gc(), errors_for_python():
        modules = [part.module for part in _programs(s, args, name) if isinstance(part, KernelProgram)]
        for module in modules:
            set_targets(module, {HOST: machine})
            run_passes(passes, make_context(), module)
            del module.attributes[TARGETS]
    whole = ModuleOp([])
    for op in [op for module in modules for op in module.ops]:
        op.detach()
        whole.body.block.add_op(op)
    return LoweredModule(whole)


SIMPLE = (ApplyDataflow(), ScheduleToLoop(), Simplify())
"""What makes loops of a schedule, as it says."""


def loops_of(module: ModuleOp) -> LoweredModule:
    """The loops of a module of te as its schedule says, for no machine; the module is consumed."""
    with no_cyclic_gc(), errors_for_python():
        set_targets(module, {HOST: parse_target("llvm")})
        run_passes(SIMPLE, make_context(), module)
        del module.attributes[TARGETS]
    return LoweredModule(module)


def build(
    s: Schedule,
    args: Sequence[Argument],
    target: str = "llvm",
    name: str = "default_function",
    cache: KernelCache | None = None,
    checked: bool = False,
) -> Function | PackedFunction:
    """Do what `tilework.build` says."""
    check_text(name, "the name of a function")
    check_flag(checked, "checked")
    machine = target_to_compile_for(target)
    kept = cache_for(cache)
    with no_cyclic_gc(), errors_for_python():
        programs = _programs(s, args, ENTRY)
    steps: list[CompiledKernel | ExternOp] = []
    for program in programs:
        if isinstance(program, KernelProgram):
            label = name if len(programs) == 1 else f"{name}_{len(steps)}"
            steps.append(CompiledKernel(_compile(s, program, machine, label, kept, checked), program.arguments))
        else:
            steps.append(program)
    match steps:
        case [CompiledKernel(function=function)]:
            return function
        case _:
            return PackedFunction(name, s.arguments(args)[0], steps)


def _compile(
    s: Schedule, program: KernelProgram, machine: Target, name: str, cache: KernelCache, checked: bool
) -> Function:
    """The function of one kernel."""
    module = program.module
    _check_symbols(s, program)
    set_targets(module, {HOST: machine})
    [kernel] = (op for op in module.ops if isinstance(op, te.KernelOp))
    key, requirements = _key(module, checked), requirements_of(kernel)
    entry = cache.get(key)
    if entry is None:
        with no_cyclic_gc(), errors_for_python():
            entry = compile_kernel(module, kernel.sym_name.data, checked=checked)
        cache.put(key, *entry)
    object_code, metadata = entry
    declaration = declaration_in(metadata["declaration"])
    info = _info(s, program, name, declaration, str(machine))
    return Function(replace(info, requirements=requirements), object_code)


def _programs(s: Schedule, args: Sequence[Argument], name: str) -> list[KernelProgram | ExternOp]:
    check_schedule(s)
    if args is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise UsageError("arguments are a list of tensors; none is given")
    programs = s.programs(name, args)
    for program in programs:
        if isinstance(program, KernelProgram):
            verify(program.module)
            refuse_out_of_bounds(program.module)
    return programs


def _key(module: ModuleOp, checked: bool) -> str:
    """What the code depends on: the text of the kernel, schedule and target, checks, the compiler itself."""
    text = StringIO()
    UniquePrinter(text, print_generic_format=True, print_debuginfo=False).print_op(module)
    return hashlib.sha256("\n".join([text.getvalue(), f"checked {checked}", source_hash()]).encode()).hexdigest()


def _info(s: Schedule, program: KernelProgram, name: str, declaration: KernelOp, target: str) -> FunctionInfo:
    args = program.arguments
    read = tuple(i for i, t in enumerate(args) if t not in program.makes)
    written = tuple(i for i in range(len(args)) if i not in read)
    specs = tuple(
        TensorSpec(s.names.stages.get(t.op, t.name), t.dtype, tuple(_dim(s.dim(e)) for e in t.dims)) for t in args
    )
    symbols = tuple(symbol.data for symbol in declaration.symbols)
    entry, checks = declaration.sym_name.data, _checks(declaration)
    sizes = scratch_bytes(declaration)
    return FunctionInfo(name, entry, specs, read, written, symbols, sizes, target, checks=checks)


def _checks(declaration: KernelOp) -> tuple[str, ...]:
    """What the kernel reports of subscripts."""
    texts = declaration.attributes.get(CHECKS)
    listed = cast("ArrayAttr[StringAttr]", texts).data if isinstance(texts, ArrayAttr) else ()
    return tuple(text.data for text in listed)


def _check_symbols(s: Schedule, program: KernelProgram) -> None:
    """Every symbol is somewhere a dimension by itself, which tells its value at a call."""
    told = {dim.as_var for tensor in program.arguments if tensor not in program.makes for dim in tensor.dims}
    for key, name in s.names.symbols.items():
        if key not in told:
            raise UsageError(
                f"te.var '{name}' is by itself no dimension of an argument that is read: add a tensor of it"
            )


def _dim(e: Expr) -> Dim:
    return str(e) if e.constant is None else e.constant
