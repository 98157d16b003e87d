"""The kernels of a program: looked up in the cache, compiled once each, and declared in its module."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr

from tilework.analysis.program_targets import DEVICE, HOST, set_targets, target_of
from tilework.dialects import loop, te
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.canonical_text import canonical_text, nameless_text
from tilework.driver.session import Session
from tilework.driver.worker import CompiledKernel, FailedKernel, KernelJob, Outcome, raise_failure
from tilework.runtime.cache import source_hash
from tilework.targets import Target


def compile_kernels(module: ModuleOp, session: Session) -> list[bytes]:
    """The code of every te kernel, which becomes a declaration under the name that its code has."""
    kernels = [op for op in module.ops if isinstance(op, te.KernelOp)]
    keys = {kernel: kernel_key(kernel, target_of(kernel)) for kernel in kernels}
    compiled: dict[str, tuple[bytes, dict[str, Any]]] = {}
    missing: dict[str, te.KernelOp] = {}
    for kernel, key in keys.items():
        session.report.kernels.append(kernel.sym_name.data)
        entry = session.cache.get(key)
        if entry is None:
            missing[key] = kernel
        else:
            session.report.cached.append(kernel.sym_name.data)
            compiled[key] = entry
    jobs = [KernelJob(_job_text(k, symbol_name(key)), symbol_name(key), cost=_work(k)) for key, k in missing.items()]
    waiting = list(missing)
    distinct = len(compiled) + len(missing)
    session.progress("kernels", len(compiled), distinct)

    def on_done(index: int, outcome: Outcome) -> None:
        if isinstance(outcome, FailedKernel):
            raise_failure(outcome)
        assert isinstance(outcome, CompiledKernel)
        key = waiting[index]
        compiled[key] = outcome.object_code, outcome.metadata
        session.cache.put(key, outcome.object_code, outcome.metadata)
        session.progress("kernels", len(compiled), distinct)

    session.pool.run(jobs, on_done)
    _declare(module, keys, compiled)
    return [compiled[key][0] for key in dict.fromkeys(keys.values())]


def kernel_key(kernel: te.KernelOp, target: Target) -> str:
    """What the code of a kernel depends on: its text, the target, the compiler itself."""
    content = "\n".join([canonical_text(kernel), str(target), source_hash()])
    return hashlib.sha256(content.encode()).hexdigest()


def symbol_name(key: str) -> str:
    """The name of a kernel's function in its code."""
    return f"tw_{key[:24]}"


def _job_text(kernel: te.KernelOp, name: str) -> str:
    """A module with the kernel under that name, on a machine like the one that it is for."""
    copy = kernel.clone()
    copy.properties["sym_name"] = StringAttr(name)
    copy.attributes.pop(DEVICE, None)
    module = ModuleOp([copy])
    set_targets(module, {HOST: target_of(kernel)})
    return nameless_text(module)


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
