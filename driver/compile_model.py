"""A whole program to code: graph passes, kernels compiled once each and kept in the cache, the host function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.memref import GlobalOp
from xdsl.ir import Operation

from tilework.algebra.errors import TileworkError
from tilework.algebra.requirement import Requirement
from tilework.analysis.bound_symbols import told_by_inputs
from tilework.analysis.host_symbols import ARENA_BYTES, parameter_of
from tilework.analysis.parameters import DEFAULTS, FIXED_DEFAULTS, PREPARE, graph_functions
from tilework.analysis.program_targets import target_of
from tilework.backends.base import refuse_as_host, refuse_unaccepted
from tilework.backends.host_signature import HostInfo
from tilework.backends.registry import backend_for
from tilework.dialects.graph.require import RequireOp
from tilework.dialects.graph.structure import DefineParameterOp, ParameterOp
from tilework.driver.compiled_model import CompiledModel
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.driver.kernels import KernelUse, code_of, compile_kernels, symbol_name
from tilework.driver.known_programs import keep_program, known_program, program_key
from tilework.driver.price_ahead import price_ahead
from tilework.driver.read_program import level_of
from tilework.driver.replaceable import Replaceable, defaults_of
from tilework.driver.session import Session
from tilework.driver.tuned_schedules import bring_schedules
from tilework.interpreters.graph import find_function, prepare_parameters
from tilework.runtime.manifest import DeviceUse

Array: TypeAlias = NDArray[Any]


def compile_module(module: ModuleOp, parameters: Mapping[str, Array], session: Session) -> CompiledModel:
    """Compile `func @main` of a module, which is consumed, for the targets that the module names.

    The module may be at graph; at te or at loop, which is a function on buffers that calls kernels; and kernels may
    bring schedules. Kernels are priced and compiled in the processes of the session's pool, those in its cache not at
    all. Raises what passes raise, CompileError for what the back end cannot express, TileworkError for a parameter
    that has no data.
    """
    key = program_key(module, session)
    if key is not None:
        check_program(module, parameters)
        known = known_program(key, parameters, session)
        if known is not None:
            return known
    compiled = _compile(module, parameters, session)
    if key is not None:
        keep_program(key, compiled, session)
    return compiled


def _compile(module: ModuleOp, parameters: Mapping[str, Array], session: Session) -> CompiledModel:
    """Compile a program that is not known."""
    lowered = lower_to_kernels(module, parameters, session)
    report = session.report
    with report.phase("kernels"):
        uses, codes = compile_kernels(module, session)
    with report.phase("host"):
        if not is_planned(module):
            session.run("plan-host", module)
        host, info = compile_host(module)
    replaceable = lowered.replaceable
    manifest = replace(
        info.manifest(str(target_of(module)), lowered.requirements, replaceable.defaults(), replaceable.prepare),
        devices=tuple(_labelled(use, uses) for use in info.devices),
    )
    used = {p.name: np.asarray(lowered.parameters[p.name], order="C") for p in info.parameters}
    return CompiledModel(code_of(uses, codes, host), manifest, used, replaceable.parameters, report, lowered.prepare)


@dataclass(frozen=True)
class Lowered:
    """What is known of a program besides its module once that is a host function and kernels.

    parameters: those that it reads, and that @prepare computes. requirements: what symbols must be; the entry asks too.
    prepare: as in `CompiledModel`.
    """

    parameters: Mapping[str, Array]
    requirements: tuple[Requirement, ...]
    replaceable: Replaceable
    prepare: str = ""


def lower_to_kernels(module: ModuleOp, parameters: Mapping[str, Array], session: Session) -> Lowered:
    """Make of a program, in place, a function on buffers that calls kernels at te or at loop.

    Kernels bring the schedules that the session has for them. Raises as `compile_module` does.
    """
    check_program(module, parameters)
    lowered = Lowered(parameters, (), Replaceable({}, {}, {}, ""))
    if level_of(module) == "graph":
        lowered = _lower_graph(module, parameters, session)
    if session.tuned is not None:
        bring_schedules(module, session.tuned, session.report)
    return lowered


def check_program(module: ModuleOp, parameters: Mapping[str, Array]) -> None:
    """Raise TileworkError for a program without a model, a host that cannot be one, and parameters without data."""
    if level_of(module) == "kernels":
        raise TileworkError("the program has kernels and no function @main, which would be the model: run one of them")
    refuse_as_host(backend_for(target_of(module)), module)
    check_parameters(module, parameters)


def _lower_graph(module: ModuleOp, parameters: Mapping[str, Array], session: Session) -> Lowered:
    """Lower a graph, in place."""
    report = session.report
    defaults, fixed = (defaults_of(module, kind) for kind in (DEFAULTS, FIXED_DEFAULTS))
    session.progress("graph passes", 0, 1)
    with report.phase("graph"):
        session.run("optimize-graph", module, precision=session.precision)
        for function in graph_functions(module):
            price_ahead(function, session)
        session.run("apply-rules", module, precision=session.precision)
        requirements = tuple(op.requirement for op in module.walk() if _is_told_by_inputs(op))
    with report.phase("parameters"):
        prepared = prepare_parameters(module, parameters)
        replaceable = Replaceable.of(module, defaults, fixed, parameters)
        prepare = prepare_text(module)
        drop_prepare(module)
    with report.phase("te"):
        session.run("lower-to-te", module)
        session.run("order-calls", module)
    return Lowered(prepared, requirements, replaceable, prepare)


def _is_told_by_inputs(op: Operation) -> TypeGuard[RequireOp]:
    """Whether an operation is a requirement that a caller can check before a call."""
    return isinstance(op, RequireOp) and told_by_inputs(op) >= set(op.requirement.variables())


def check_parameters(module: ModuleOp, given: Mapping[str, Array]) -> None:
    """Raise TileworkError that names the parameters of a program for which no data are given."""
    read = [op.sym_name.data for op in module.walk() if isinstance(op, ParameterOp)]
    read += [parameter_of(op) for op in module.ops if isinstance(op, GlobalOp) and op.initial_value == UnitAttr()]
    known = {*given, *(op.sym_name.data for op in module.walk() if isinstance(op, DefineParameterOp))}
    if missing := [f"@{name}" for name in dict.fromkeys(read) if name not in known]:
        raise TileworkError(
            f"there are no data for {', '.join(missing)}: give them in Python, as in tilework.compile(..., "
            "parameters={...}), or make them arguments of @main"
        )


def _labelled(device: DeviceUse, uses: Sequence[KernelUse]) -> DeviceUse:
    """What the host asks of a device, its kernels called as the program calls them; of several alike, as the first."""
    labels = {symbol_name(use.key): use.name for use in reversed(uses)}
    return replace(device, kernels=tuple(replace(kernel, label=labels[kernel.name]) for kernel in device.kernels))


def is_planned(module: ModuleOp) -> bool:
    """Whether the host function has its arena already."""
    main = find_function(module, "main")
    return main is not None and ARENA_BYTES in main.attributes


def compile_host(module: ModuleOp) -> tuple[bytes, HostInfo]:
    """The code of the host function, and how it is called."""
    target = target_of(module)
    backend = backend_for(target)
    refuse_unaccepted(backend, module, target)
    return backend.compile_host(module, target)


def prepare_text(module: ModuleOp) -> str:
    """@prepare in a module of its own; empty where there is none."""
    prepare = find_function(module, PREPARE)
    return "" if prepare is None else ir_text(ModuleOp([prepare.clone()]), PrintingOptions())


def drop_prepare(module: ModuleOp) -> None:
    """Remove @prepare, once it has run: its results are parameters then."""
    prepare = find_function(module, PREPARE)
    if prepare is not None:
        prepare.detach()
        prepare.erase()
