"""Tuning the kernels of a network."""

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
from tilework.driver.pool import CompilePool
from tilework.driver.session import Session
from tilework.runtime.cache import cache_for
from tilework.runtime.threads import get_num_threads
from tilework.targets.cpu.host import physical_cores
from tilework.tuning.budget import Budget
from tilework.tuning.measuring.builder import LocalBuilder
from tilework.tuning.measuring.runner import LocalRunner
from tilework.tuning.progress import Watcher
from tilework.tuning.records import Records
from tilework.tuning.scheduler import TaskScheduler
from tilework.tuning.search import BATCH, Search, search_for
from tilework.tuning.task import Task


def tune_network(
    module: ModuleOp,
    parameters: Mapping[str, NDArray[Any]],
    precision: str,
    budget: Budget,
    records: Records,
    watcher: Watcher,
) -> list[Search]:
    """Search for schedules of the kernels of a program with its targets, which is consumed; records keep what is found.

    Kernels on other devices than the host, with symbolic sizes, or that no sketch is derived for, stay as they are.
    """
    with no_cyclic_gc(), CompilePool() as pool:
        lower_to_kernels(module, parameters, Session(cache_for(None), pool, precision))
    weights = _tasks(module, budget.seed)
    if not weights:
        raise TileworkError("the model has no kernel to tune: on the host, with sizes that are numbers")
    first = next(iter(weights))
    with LocalBuilder(first, physical_cores()) as builder:
        searches = [_search(task, builder, records, budget, watcher) for task in weights]
        scheduler = TaskScheduler(searches, list(weights.values()))
        watcher.begin(searches, list(weights.values()))
        _spend(scheduler, budget)
        for search in searches:
            if search.history:
                builder.task = search.task
                with LocalRunner(search.task, get_num_threads()) as search.runner:
                    search.finish()
    return searches


def _tasks(module: ModuleOp, seed: int) -> dict[Task, int]:
    """What is to be tuned, and how often it is called in a run."""
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
    return {task: calls[key] for key, task in tasks.items()}


def _search(task: Task, builder: LocalBuilder, records: Records, budget: Budget, watcher: Watcher) -> Search:
    return search_for(task, builder, LocalRunner(task, get_num_threads()), records, budget, watcher)


def _spend(scheduler: TaskScheduler, budget: Budget) -> None:
    """Give searches their turns until the budget is spent, or none has anything left to measure."""
    while (spent := sum(len(s.trials) for s in scheduler.searches)) < budget.trials and not budget.is_over:
        search = scheduler.next()
        if search is None:
            return
        had, best = len(search.trials), search.best
        search.builder.task = search.task
        with LocalRunner(search.task, get_num_threads()) as search.runner:
            search.run(min(had + BATCH, had + budget.trials - spent), budget.until)
        scheduler.ran(search, None if best is None else best.seconds, len(search.trials) - had)
