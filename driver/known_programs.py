"""Programs that were compiled before, kept in the cache: who compiles one again runs no pass and no rule."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.compiled_model import CompiledModel
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.driver.kernels import KernelUse, code_of
from tilework.driver.session import Session
from tilework.interpreters.graph import defined_parameters
from tilework.runtime.cache import source_hash
from tilework.runtime.manifest import Manifest

Array = NDArray[Any]

LOCATED = PrintingOptions(locations=True)
"""How a program is written for its key: errors at run time tell its nodes by the names in locations."""


def program_key(module: ModuleOp, session: Session) -> str | None:
    """What the code of a program depends on: its text, targets, the precision, the compiler itself.

    None where it has to be compiled in any case: somebody watches the passes, or a search brings schedules.
    """
    if session.instrumentations or session.tuned is not None:
        return None
    content = "\n".join(["program", ir_text(module, LOCATED), session.precision, source_hash()])
    return hashlib.sha256(content.encode()).hexdigest()


def keep_program(key: str, compiled: CompiledModel, session: Session) -> None:
    """Put all but the data of parameters and the code of kernels, which the cache has anyway, under that key."""
    [*_, host] = compiled.code.host
    session.cache.put(
        key,
        host,
        {
            "manifest": compiled.manifest.to_json(),
            "kernels": [[use.name, use.key, use.device] for use in compiled.code.uses],
            "weights": list(compiled.weights),
            "prepare": compiled.prepare,
        },
    )


def known_program(key: str, parameters: Mapping[str, Array], session: Session) -> CompiledModel | None:
    """The program of that key, with parameters computed from these; None where the cache lacks any of its code."""
    report = session.report
    with report.phase("cache"):
        entry = session.cache.get(key)
        if entry is None:
            return None
        host, kept = entry
        uses = [KernelUse(*use) for use in kept["kernels"]]
        found = {use.key: session.cache.get(use.key) for use in uses}
        codes = {key: kernel[0] for key, kernel in found.items() if kernel is not None}
        if len(codes) < len(found):
            return None
        manifest = Manifest.from_json(kept["manifest"])
    with report.phase("parameters"):
        prepare = SourceParser(session.context, kept["prepare"], "prepare").parse_module()
        prepared = {**parameters, **defined_parameters(prepare, parameters)}
    names = [use.name for use in uses]
    report.kernels.extend(names)
    report.cached.extend(names)
    session.progress("kernels", len(codes), len(codes))
    used = {p.name: prepared[p.name] for p in manifest.parameters}
    weights = {name: parameters[name] for name in kept["weights"]}
    return CompiledModel(code_of(uses, codes, host), manifest, used, weights, report, kept["prepare"])
