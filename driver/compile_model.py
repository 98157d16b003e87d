"""A graph module to object code: graph passes, kernels compiled once each and kept in the cache, the host function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.requirement import Requirement
from tilework.analysis.parameters import DEFAULTS, FIXED_DEFAULTS, PREPARE, graph_functions
from tilework.analysis.program_targets import target_of
from tilework.backends.base import refuse_unknown
from tilework.backends.registry import backend_for
from tilework.dialects.graph.require import RequireOp
from tilework.driver.kernels import compile_kernels
from tilework.driver.price_ahead import price_ahead
from tilework.driver.replaceable import Replaceable, defaults_of
from tilework.driver.session import Session
from tilework.interpreters.graph import find_function, prepare_parameters
from tilework.runtime.compile_report import CompileReport

if TYPE_CHECKING:
    from tilework.backends.host_signature import HostInfo

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class CompiledModel:
    """Pieces of code that together define `info.entry`, and the parameters that it takes."""

    objects: list[bytes]
    info: HostInfo
    parameters: dict[str, Array]
    report: CompileReport
    requirements: tuple[Requirement, ...]
    """What symbols must be; the entry asks too."""
    replaceable: Replaceable


def compile_module(module: ModuleOp, parameters: Mapping[str, Array], session: Session) -> CompiledModel:
    """Compile `func @main` of a graph module, which is consumed, for the targets that the module names.

    Kernels are priced and compiled in the processes of the session's pool, those in its cache not at all. Raises what
    passes raise, and CompileError for what the back end cannot express.
    """
    report, progress = session.report, session.progress
    defaults, fixed = (defaults_of(module, kind) for kind in (DEFAULTS, FIXED_DEFAULTS))
    progress("graph passes", 0, 1)
    with report.phase("graph"):
        session.run("optimize-graph", module)
        requirements = tuple(op.requirement for op in module.walk() if isinstance(op, RequireOp))
        for function in graph_functions(module):
            price_ahead(function, session)
        session.run("apply-rules", module, precision=session.precision)
    with report.phase("parameters"):
        prepared = prepare_parameters(module, parameters)
        replaceable = Replaceable.of(module, defaults, fixed, parameters)
        drop_prepare(module)
    with report.phase("te"):
        session.run("lower-to-te", module)
        session.run("order-calls", module)
    with report.phase("kernels"):
        code = compile_kernels(module, session)
    with report.phase("host"):
        session.run("plan-host", module)
        host, info = compile_host(module)
        code.append(host)
    used = {p.name: np.asarray(prepared[p.name], order="C") for p in info.parameters}
    return CompiledModel(code, info, used, report, requirements, replaceable)


def compile_host(module: ModuleOp) -> tuple[bytes, HostInfo]:
    """The code of the host function, and how it is called."""
    target = target_of(module)
    backend = backend_for(target)
    refuse_unknown(backend, module, target)
    return backend.compile_host(module, target)


def drop_prepare(module: ModuleOp) -> None:
    """Remove @prepare, once it has run: its results are parameters then."""
    prepare = find_function(module, PREPARE)
    if prepare is not None:
        prepare.detach()
        prepare.erase()
