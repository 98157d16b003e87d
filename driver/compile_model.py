"""A graph module to object code: graph passes, kernels compiled once each and kept in the cache, the host function."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr

from tilework.algebra.requirement import Requirement
from tilework.analysis.parameters import DEFAULTS, FIXED_DEFAULTS, PREPARE, graph_functions
from tilework.backends.host_signature import HostInfo
from tilework.backends.llvm.emit_host import emit_host
from tilework.dialects import loop, te
from tilework.dialects.graph.require import RequireOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.canonical_text import CANONICAL_NAME, canonical_text
from tilework.driver.garbage import no_cyclic_gc
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.options import with_options
from tilework.driver.pass_manager import PassManager, Pipeline
from tilework.driver.pool import CompilePool
from tilework.driver.price_ahead import price_ahead
from tilework.driver.replaceable import Replaceable, defaults_of
from tilework.driver.worker import CompiledKernel, FailedKernel, KernelJob, Outcome, raise_failure
from tilework.interpreters.graph import find_function, prepare_parameters
from tilework.lowering.pipelines import PIPELINES
from tilework.runtime.cache import KernelCache, source_hash
from tilework.runtime.compile_report import CompileReport
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.targets import Target

Array: TypeAlias = NDArray[Any]
Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a phase, how much of it is done and how much there is."""


@dataclass(frozen=True)
class CompiledModel:
    """Object files that together define `info.entry`, and the parameters that it takes."""

    objects: list[bytes]
    info: HostInfo
    parameters: dict[str, Array]
    report: CompileReport
    requirements: tuple[Requirement, ...]
    """What symbols must be; the entry asks too."""
    replaceable: Replaceable


def compile_module(
    module: ModuleOp,
    parameters: Mapping[str, Array],
    target: Target,
    cache: KernelCache,
    processes: int | None = None,
    instrumentations: Sequence[Instrumentation] = (),
    progress: Progress | None = None,
    precision: str = "default",
) -> CompiledModel:
    """Compile `func @main` of a graph module, which is consumed.

    Kernels are priced and compiled in `processes` processes, those in the cache not at all. `instrumentations` watch
    the passes over the whole module. Raises what passes raise, and CompileError for what the backend cannot express.
    """
    report = CompileReport()
    context = make_context()
    progress = progress or _silent

    def run(name: str) -> None:
        passes = with_options(PIPELINES[name], target=str(target), precision=precision)
        PassManager(Pipeline(ModuleOp.name, passes), instrumentations).run(context, module)

    defaults, fixed = (defaults_of(module, kind) for kind in (DEFAULTS, FIXED_DEFAULTS))
    with no_cyclic_gc(), CompilePool(processes) as pool:
        progress("graph passes", 0, 1)
        with report.phase("graph"):
            run("optimize-graph")
            requirements = tuple(op.requirement for op in module.walk() if isinstance(op, RequireOp))
            for function in graph_functions(module):
                price_ahead(function, target, precision, cache, pool)
            run("apply-rules")
        with report.phase("parameters"):
            prepared = prepare_parameters(module, parameters)
            replaceable = Replaceable.of(module, defaults, fixed, parameters)
            drop_prepare(module)
        with report.phase("te"):
            run("lower-to-te")
        with report.phase("kernels"):
            objects = _compile_kernels(module, target, cache, pool, report, progress)
        with report.phase("host"):
            run("plan-host")
            text, info = emit_host(module, target)
            # it does nothing but call kernels, and may be one block of thousands of calls
            objects.append(compile_ir(text, target, opt_level=1, codegen_level=0))
    used = {p.name: np.asarray(prepared[p.name], order="C") for p in info.parameters}
    return CompiledModel(objects, info, used, report, requirements, replaceable)


def _silent(phase: str, done: int, total: int) -> None:
    """No progress bar."""


def drop_prepare(module: ModuleOp) -> None:
    """Remove @prepare, once it has run: its results are parameters then."""
    prepare = find_function(module, PREPARE)
    if prepare is not None:
        prepare.detach()
        prepare.erase()


# -- kernels


def _compile_kernels(
    module: ModuleOp,
    target: Target,
    cache: KernelCache,
    pool: CompilePool,
    report: CompileReport,
    progress: Progress,
) -> list[bytes]:
    """Object code of every te kernel, which becomes a declaration under the name that its code has."""
    kernels = [op for op in module.ops if isinstance(op, te.KernelOp)]
    keys = {kernel: kernel_key(kernel, target) for kernel in kernels}
    compiled: dict[str, tuple[bytes, dict[str, Any]]] = {}
    missing: dict[str, te.KernelOp] = {}
    for kernel, key in keys.items():
        report.kernels.append(kernel.sym_name.data)
        entry = cache.get(key)
        if entry is None:
            missing[key] = kernel
        else:
            report.cached.append(kernel.sym_name.data)
            compiled[key] = entry
    jobs = [KernelJob(_job_text(k, key), symbol_name(key), str(target), cost=_work(k)) for key, k in missing.items()]
    waiting = list(missing)
    distinct = len(compiled) + len(missing)
    progress("kernels", len(compiled), distinct)

    def on_done(index: int, outcome: Outcome) -> None:
        if isinstance(outcome, FailedKernel):
            raise_failure(outcome)
        assert isinstance(outcome, CompiledKernel)
        key = waiting[index]
        compiled[key] = outcome.object_code, outcome.metadata
        cache.put(key, outcome.object_code, outcome.metadata)
        progress("kernels", len(compiled), distinct)

    pool.run(jobs, on_done)
    _declare(module, keys, compiled)
    return [compiled[key][0] for key in dict.fromkeys(keys.values())]


def kernel_key(kernel: te.KernelOp, target: Target) -> str:
    """What the code of a kernel depends on: its text, the target, the compiler itself."""
    content = "\n".join([canonical_text(kernel), str(target), source_hash()])
    return hashlib.sha256(content.encode()).hexdigest()


def symbol_name(key: str) -> str:
    """The name of a kernel's function in its object file."""
    return f"tw_{key[:24]}"


def _job_text(kernel: te.KernelOp, key: str) -> str:
    return canonical_text(kernel).replace(f'sym_name = "{CANONICAL_NAME}"', f'sym_name = "{symbol_name(key)}"', 1)


def _work(kernel: te.KernelOp) -> float:
    """How long compiling may take, roughly: stages and reductions make code."""
    return sum(len(list(c.body.walk())) * (3 if c.reduction else 1) for c in kernel.computes)


def _declare(
    module: ModuleOp, keys: Mapping[te.KernelOp, str], compiled: Mapping[str, tuple[bytes, dict[str, Any]]]
) -> None:
    """Replace te kernels by declarations of their code, and point the calls at them."""
    context = make_context()
    names = {kernel.sym_name.data: symbol_name(key) for kernel, key in keys.items()}
    for op in module.walk():
        if isinstance(op, loop.CallOp):
            op.properties["callee"] = SymbolRefAttr(names[op.kernel_name])
    declared: set[str] = set()
    for kernel, key in keys.items():
        if key not in declared:
            declared.add(key)
            [declaration] = SourceParser(context, compiled[key][1]["declaration"], "cache").parse_module().ops
            declaration.detach()
            module.body.block.insert_op_before(declaration, kernel)
        kernel.detach()
        kernel.erase()
