"""What one compilation of a program has at hand: target, cache, worker processes, who watches, what is reported."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilework.dialects.support.registration import make_context
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.phases import run_phase
from tilework.driver.pool import CompilePool
from tilework.runtime.cache import KernelCache
from tilework.runtime.compile_report import CompileReport

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a phase, how much of it is done and how much there is."""


_log = logging.getLogger("tilework")


def logged(progress: Progress | None) -> Progress:
    """A callback that logs every phase when it begins, and tells `progress` of every step."""
    phases: list[str] = []

    def log(phase: str, done: int, total: int) -> None:
        if phase not in phases:
            phases.append(phase)
            _log.info("phase %s begins: %d of %d steps are to do", phase, total - done, total)
        if progress is not None:
            progress(phase, done, total)

    return log


def log_report(report: CompileReport) -> None:
    """Log how a program was compiled, once it is."""
    seconds = ", ".join(f"{phase} {spent:.2f} s" for phase, spent in report.seconds.items())
    _log.info("compiled %d kernels, %d of them from the cache: %s", len(report.kernels), len(report.cached), seconds)


@dataclass(frozen=True)
class Session:
    """One compilation. `instrumentations` watch the passes over the whole module.

    tuned: schedules that a search found, as `bring_schedules` takes them; None where no search was asked for.
    """

    cache: KernelCache
    pool: CompilePool
    precision: str = "default"
    instrumentations: Sequence[Instrumentation] = ()
    progress: Progress = field(default_factory=lambda: logged(None))
    report: CompileReport = field(default_factory=CompileReport)
    context: Context = field(default_factory=make_context)
    tuned: Mapping[str, str] | None = None

    def run(self, phase: str, module: ModuleOp, **options: str) -> None:
        """Run one phase over the module, in place. Raises what its passes raise."""
        run_phase(phase, self.context, module, self.instrumentations, **options)
