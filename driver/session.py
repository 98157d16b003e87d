"""What one compilation of a program has at hand: target, cache, worker processes, who watches, what is reported."""

from __future__ import annotations

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


def silent(phase: str, done: int, total: int) -> None:
    """No progress is shown."""


@dataclass(frozen=True)
class Session:
    """One compilation. `instrumentations` watch the passes over the whole module.

    tuned: schedules that a search found, as `bring_schedules` takes them; None where no search was asked for.
    """

    cache: KernelCache
    pool: CompilePool
    precision: str = "default"
    instrumentations: Sequence[Instrumentation] = ()
    progress: Progress = silent
    report: CompileReport = field(default_factory=CompileReport)
    context: Context = field(default_factory=make_context)
    tuned: Mapping[str, str] | None = None

    def run(self, phase: str, module: ModuleOp, **options: str) -> None:
        """Run one phase over the module, in place. Raises what its passes raise."""
        run_phase(phase, self.context, module, self.instrumentations, **options)
