"""lower and build: a scheduled tensor expression as loops, and as a function."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.printer import Printer

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr
from tilework.analysis.program_targets import HOST, TARGETS, set_targets
from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.dialects import te
from tilework.dialects.loop import KernelOp
from tilework.dialects.loop.annotations import CHECKS
from tilework.dialects.support.registration import make_context
from tilework.driver.build_kernel import compile_kernel
from tilework.driver.garbage import no_cyclic_gc
from tilework.driver.kernel_function import ENTRY, declaration_in, requirements_of, scratch_bytes
from tilework.driver.phases import kernel_passes, run_passes
from tilework.frontends.te.arguments import check_flag, check_text
from tilework.frontends.te.errors import errors_for_python
from tilework.frontends.te.schedule import Schedule, check_schedule
from tilework.frontends.te.tensor import PlaceholderOp, Tensor
from tilework.frontends.te.text import LoweredModule
from tilework.lowering.schedule_to_loop import ScheduleToLoop
from tilework.runtime.cache import KernelCache, cache_for, source_hash
from tilework.runtime.function import Function, FunctionInfo
from tilework.runtime.tensor_spec import Dim, TensorSpec
from tilework.targets import parse_target, target_to_compile_for
from tilework.transforms.loop.simplify import Simplify
from tilework.transforms.schedule.apply_dataflow import ApplyDataflow


def lower(
    s: Schedule, args: Sequence[Tensor], name: str = "main", simple_mode: bool = False, target: str = "llvm"
) -> LoweredModule:
    """Do what `tilework.lower` says."""
    check_flag(simple_mode, "simple_mode")
    simple = (ApplyDataflow(), ScheduleToLoop(), Simplify())
    machine = parse_target(target)
    passes = simple if simple_mode else kernel_passes(machine)
    with no_cyclic_gc(), errors_for_python():
        module = _module(s, args, name)
        set_targets(module, {HOST: machine})
        run_passes(passes, make_context(), module)
        del module.attributes[TARGETS]
    return LoweredModule(module)


def build(
    s: Schedule,
    args: Sequence[Tensor],
    target: str = "llvm",
    name: str = "default_function",
    cache: KernelCache | None = None,
    checked: bool = False,
) -> Function:
    """Do what `tilework.build` says."""
    check_text(name, "the name of a function")
    check_flag(checked, "checked")
    machine = target_to_compile_for(target)
    kept = cache_for(cache)
    with no_cyclic_gc(), errors_for_python():
        module = _module(s, args, ENTRY)
    _check_symbols(s, args)
    set_targets(module, {HOST: machine})
    [kernel] = (op for op in module.ops if isinstance(op, te.KernelOp))
    key, requirements = _key(module, checked), requirements_of(kernel)
    entry = kept.get(key)
    if entry is None:
        with no_cyclic_gc(), errors_for_python():
            entry = compile_kernel(module, ENTRY, checked=checked)
        kept.put(key, *entry)
    object_code, metadata = entry
    declaration = declaration_in(metadata["declaration"])
    return Function(replace(_info(s, args, name, declaration, str(machine)), requirements=requirements), object_code)


def _module(s: Schedule, args: Sequence[Tensor], name: str) -> ModuleOp:
    check_schedule(s)
    if args is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise UsageError("arguments are a list of tensors; none is given")
    module = s.module(name, args)
    verify(module)
    refuse_out_of_bounds(module)
    return module


def _key(module: ModuleOp, checked: bool) -> str:
    """What the code depends on: the text of the kernel, schedule and target, checks, the compiler itself."""
    text = StringIO()
    Printer(text, print_generic_format=True, print_debuginfo=False).print_op(module)
    return hashlib.sha256("\n".join([text.getvalue(), f"checked {checked}", source_hash()]).encode()).hexdigest()


def _info(s: Schedule, args: Sequence[Tensor], name: str, declaration: KernelOp, target: str) -> FunctionInfo:
    read = tuple(i for i, t in enumerate(args) if isinstance(t.op, PlaceholderOp))
    written = tuple(i for i in range(len(args)) if i not in read)
    specs = tuple(TensorSpec(s.names.stages[t.op], t.dtype, tuple(_dim(s.dim(e)) for e in t.dims)) for t in args)
    symbols = tuple(symbol.data for symbol in declaration.symbols)
    entry, checks = declaration.sym_name.data, _checks(declaration)
    sizes = scratch_bytes(declaration)
    return FunctionInfo(name, entry, specs, read, written, symbols, sizes, target, checks=checks)


def _checks(declaration: KernelOp) -> tuple[str, ...]:
    """What the kernel reports of subscripts."""
    texts = declaration.attributes.get(CHECKS)
    listed = cast("ArrayAttr[StringAttr]", texts).data if isinstance(texts, ArrayAttr) else ()
    return tuple(text.data for text in listed)


def _check_symbols(s: Schedule, args: Sequence[Tensor]) -> None:
    """Every symbol is somewhere a dimension by itself, which tells its value at a call."""
    told = {dim.as_var for tensor in args if isinstance(tensor.op, PlaceholderOp) for dim in tensor.dims}
    for key, name in s.names.symbols.items():
        if key not in told:
            raise UsageError(
                f"te.var '{name}' is by itself no dimension of an argument that is read: add a tensor of it"
            )


def _dim(e: Expr) -> Dim:
    return str(e) if e.constant is None else e.constant
