"""The kernels of a program: looked up in the cache, compiled once each, and declared in its module."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr

from tilework.analysis.program_targets import HOST, device_of, set_targets, target_of
from tilework.dialects import loop, te
from tilework.dialects.schedule import SequenceOp, TensorizeOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.dialects.te.intrinsics import declaration_of
from tilework.driver.canonical_text import canonical_text, nameless_text, renamed
from tilework.driver.read_program import kernels_of
from tilework.driver.session import Session
from tilework.driver.worker import CompiledKernel, FailedKernel, KernelJob, Outcome, raise_failure
from tilework.runtime.cache import source_hash
from tilework.targets import Target

Kernel: TypeAlias = te.KernelOp | loop.KernelOp


@dataclass(frozen=True)
class KernelUse:
    """A kernel of a program: what it is called there, the key of its code in the cache, the device that runs it."""

    name: str
    key: str
    device: str


@dataclass(frozen=True)
class ProgramCode:
    """Pieces of code for the host, its function the last one; for each other device the code of its kernels by name.

    uses: the kernels of the program, also those whose code is the same.
    """

    uses: Sequence[KernelUse]
    host: Sequence[bytes]
    devices: Mapping[str, Mapping[str, bytes]]


def compile_kernels(module: ModuleOp, session: Session) -> tuple[list[KernelUse], dict[str, bytes]]:
    """The kernels of a program and their code by its key; each becomes a declaration under the name that its code has.

    A kernel may be at te, also with a schedule beside it, or at loop.
    """
    kernels, schedules = list(kernels_of(module).values()), schedules_of(module)
    keys = {kernel: kernel_key(kernel, target_of(kernel), schedules.get(kernel)) for kernel in kernels}
    compiled: dict[str, tuple[bytes, dict[str, Any]]] = {}
    missing: dict[str, Kernel] = {}
    for kernel, key in keys.items():
        session.report.kernels.append(kernel.sym_name.data)
        entry = session.cache.get(key)
        if entry is None:
            missing[key] = kernel
        else:
            session.report.cached.append(kernel.sym_name.data)
            compiled[key] = entry
    jobs = [_job(kernel, schedules.get(kernel), symbol_name(key)) for key, kernel in missing.items()]
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
    for schedule in schedules.values():
        schedule.detach()
    uses = [KernelUse(kernel.sym_name.data, key, device_of(kernel)) for kernel, key in keys.items()]
    _declare(module, keys, compiled)
    return uses, {key: code for key, (code, _) in compiled.items()}


def code_of(uses: Sequence[KernelUse], codes: Mapping[str, bytes], host: bytes) -> ProgramCode:
    """The code of a program: that of its kernels by key, and of its host function."""
    kernels = {use.key: codes[use.key] for use in uses if use.device == HOST}
    devices: dict[str, dict[str, bytes]] = {}
    for use in uses:
        if use.device != HOST:
            devices.setdefault(use.device, {})[symbol_name(use.key)] = codes[use.key]
    return ProgramCode(uses, [*kernels.values(), host], devices)


def schedules_of(module: ModuleOp) -> dict[Kernel, SequenceOp]:
    """The schedules that kernels bring along. Raises CompileError for one whose kernel is not there."""
    kernels, found = kernels_of(module), dict[Kernel, SequenceOp]()
    for schedule in (op for op in module.ops if isinstance(op, SequenceOp)):
        kernel = kernels.get(schedule.kernel_name)
        if not isinstance(kernel, te.KernelOp):
            there = ", ".join(f"@{name}" for name, k in kernels.items() if isinstance(k, te.KernelOp)) or "none"
            message = f"a schedule is for @{schedule.kernel_name}; the program's kernels without loops are {there}"
            raise CompileError(message, schedule)
        if kernel in found:
            raise CompileError(f"there are two schedules for @{schedule.kernel_name}: take one out", schedule)
        for op in schedule.walk():
            if isinstance(op, TensorizeOp):
                declaration_of(op, op.intrinsic)  # here, where all declarations of the program are known
        found[kernel] = schedule
    return found


def kernel_key(kernel: Kernel, target: Target, schedule: SequenceOp | None = None) -> str:
    """What the code of a kernel depends on: its text, a schedule that it brings, the target, the compiler itself."""
    content = "\n".join([canonical_text(kernel, schedule), str(target), source_hash()])
    return hashlib.sha256(content.encode()).hexdigest()


def symbol_name(key: str) -> str:
    """The name of a kernel's function in its code."""
    return f"tw_{key[:24]}"


def _job(kernel: Kernel, schedule: SequenceOp | None, name: str) -> KernelJob:
    """The job that compiles a kernel under that name, for its target; the device's own name is not in it."""
    module = ModuleOp(renamed(kernel, schedule, name))
    set_targets(module, {HOST: target_of(kernel)})
    return KernelJob(nameless_text(module), name, cost=_work(kernel))


def _work(kernel: Kernel) -> float:
    """How long compiling may take, roughly: stages and reductions make code."""
    if isinstance(kernel, loop.KernelOp):
        return sum(1 for _ in kernel.body.walk())
    return sum(len(list(c.body.walk())) * (3 if c.reduction else 1) for c in kernel.computes)


def _declare(
    module: ModuleOp, keys: Mapping[Kernel, str], compiled: Mapping[str, tuple[bytes, dict[str, Any]]]
) -> None:
    """Replace kernels by declarations of their code, and point the calls at them."""
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
