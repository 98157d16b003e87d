"""Tuning many kernels at once: those of a network, or of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import TileworkError
from tilework.analysis.program_targets import is_on_host, target_of
from tilework.dialects.loop import CallOp
from tilework.dialects.te import KernelOp
from tilework.driver.compile_model import lower_to_kernels
from tilework.driver.garbage import no_cyclic_gc
from tilework.driver.kernels import schedules_of
from tilework.driver.pool import CompilePool
from tilework.driver.session import Session
from tilework.runtime.cache import cache_for
from tilework.tuning.budget import Budget
from tilework.tuning.measuring.base import Site
from tilework.tuning.progress import Watcher
from tilework.tuning.records import Records
from tilework.tuning.scheduler import TaskScheduler
from tilework.tuning.search import BATCH, Search, search_for
from tilework.tuning.task import Task, refuse_symbols


def tasks_of_network(
    module: ModuleOp, parameters: Mapping[str, NDArray[Any]], precision: str, seed: int
) -> dict[Task, int]:
    """The kernels of a program, which is consumed, and how often a run of it calls them.

    Kernels on other devices than the host, or with symbolic sizes, are not among them. Raises as `tilework.compile`.
    """
    with no_cyclic_gc(), CompilePool() as pool:
        lower_to_kernels(module, parameters, Session(cache_for(None), pool, precision))
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)}
    tasks: dict[str, Task] = {}
    calls: dict[str, int] = {}
    for call in (op for op in module.walk() if isinstance(op, CallOp)):
        kernel = kernels.get(call.kernel_name)
        if kernel is None or kernel.symbols or not is_on_host(kernel):
            continue
        task = Task(kernel, target_of(kernel), seed=seed)
        tasks.setdefault(task.key, task)
        calls[task.key] = calls.get(task.key, 0) + 1
    if not tasks:
        symbols = dict.fromkeys(s for kernel in kernels.values() for s in kernel.symbols)
        open_ = f"its sizes {', '.join(symbols)} are symbols: export it with numbers for these"
        why = open_ if symbols else "none runs on the host"
        raise TileworkError(f"the model has no kernel to tune: {why}")
    return {task: calls[key] for key, task in tasks.items()}


def tasks_of_kernels(module: ModuleOp, seed: int) -> dict[Task, int]:
    """The kernels at te in a module without @main, each once; one that brings a schedule, with its knobs.

    Raises UsageError for symbolic sizes, TileworkError where there is none.
    """
    schedules = schedules_of(module)
    kernels = [op for op in module.ops if isinstance(op, KernelOp)]
    for kernel in kernels:
        refuse_symbols(kernel)
    if not kernels:
        raise TileworkError("the program has no te.kernel to tune")
    return {Task(kernel, target_of(kernel), True, seed, schedules.get(kernel)): 1 for kernel in kernels}


def tune_all(tasks: Mapping[Task, int], budget: Budget, records: Records, watcher: Watcher, site: Site) -> list[Search]:
    """Search for schedules of kernels that are called so often; records keep what is found.

    Raises TileworkError where nothing could be measured.
    """
    with site.builder(next(iter(tasks))) as builder:
        searches = [search_for(task, None, builder, site.runner(task), records, budget, watcher) for task in tasks]
        scheduler = TaskScheduler(searches, list(tasks.values()))
        watcher.begin(searches, list(tasks.values()))
        _spend(scheduler, budget, site)
        for search in searches:
            builder.task = search.task
            with site.runner(search.task) as search.runner:
                if search.trials or len(searches) == 1:
                    search.finish()
    return searches


def _spend(scheduler: TaskScheduler, budget: Budget, site: Site) -> None:
    """Give searches their turns until the budget is spent, or none has anything left to measure."""
    while (spent := sum(len(s.trials) for s in scheduler.searches)) < budget.trials and not budget.is_over:
        search = scheduler.next()
        if search is None:
            return
        had, best = len(search.trials), search.best
        search.builder.task = search.task
        with site.runner(search.task) as search.runner:
            search.run(min(had + BATCH, had + budget.trials - spent), budget.until)
        scheduler.ran(search, None if best is None else best.seconds, len(search.trials) - had)
