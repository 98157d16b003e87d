"""`tilework.tune`: the fastest schedule that a search finds."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from random import Random

from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import TileworkError, UsageError
from tilework.analysis.program_targets import HOST, set_targets
from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.dialects.te import KernelOp
from tilework.driver.kernel_function import kernel_function
from tilework.frontends.te.arguments import check_integer
from tilework.frontends.te.errors import errors_for_python
from tilework.frontends.te.schedule import create_schedule
from tilework.frontends.te.tensor import StagedOp, Tensor, tensors_of
from tilework.runtime.cache import cache_for
from tilework.runtime.function import Function
from tilework.runtime.threads import get_num_threads
from tilework.targets import Target, target_to_compile_for
from tilework.targets.cpu.host import physical_cores
from tilework.tuning.explorers.genetic import GeneticExplorer
from tilework.tuning.measuring.builder import LocalBuilder
from tilework.tuning.measuring.runner import LocalRunner
from tilework.tuning.records import Records
from tilework.tuning.search import Search, Trial
from tilework.tuning.sketches.derive import sketches_of
from tilework.tuning.space import Space
from tilework.tuning.task import Task, check_sizes


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    function: called as what `tilework.build` makes is. schedule: its schedule, as `.mlir`. best_seconds: how long a
    call takes; default_seconds: the same with the default schedule, which was run in turns with the best one.
    """

    function: Function
    schedule: str
    best_seconds: float
    default_seconds: float | None
    trials: Sequence[Trial]


def tune(
    program: Sequence[Tensor],
    target: str = "host",
    trials: int = 64,
    seconds: float = 60.0,
    records: str | PathLike[str] | None = None,
    seed: int = 0,
    rules: bool = True,
) -> Tuned:
    """Search for the fastest schedule of a te program, within so many trials and seconds.

    program: the arguments of a te program, results last, as for `tilework.build`. Trial 0 is the schedule of the
    target's rules, or without `rules` no schedule at all; the result is never slower. records: a file of trials: the
    same search goes on where it ends. Raises UsageError for a program with symbolic sizes, TileworkError where no
    candidate could be measured.
    """
    check_integer(trials, "trials")
    machine = target_to_compile_for(target)
    task = Task(_kernel_of(program), machine, rules, seed)
    check_sizes(task.kernel)
    threads = get_num_threads()
    space = Space(sketches_of(task.kernel, machine))
    explorer = GeneticExplorer(space, Random(seed))
    until = time.monotonic() + seconds
    with LocalBuilder(task, physical_cores()) as builder, LocalRunner(task, threads) as runner:
        search = Search(task, space, explorer, builder, runner, Records(records), lambda _: None)
        search.resume()
        search.run(trials, until)
        winner, best, default = search.winner()
    if winner is None or best is None:
        raise TileworkError(_nothing_measured(search))
    schedule = search.schedule_of(winner)
    return Tuned(_function(task, schedule), str(schedule), best, default, search.trials)


def _kernel_of(program: Sequence[Tensor]) -> KernelOp:
    tensors = tensors_of(program, "the program to tune")
    outputs = [t for t in tensors if isinstance(t.op, StagedOp)]
    if not outputs:
        raise UsageError("the program to tune has no result: give its tensors, results last, as for tilework.build")
    with errors_for_python():
        module = create_schedule([t.op for t in outputs]).module("main", tensors)
        verify(module)
        refuse_out_of_bounds(module)
    [kernel] = (op for op in module.ops if isinstance(op, KernelOp))
    return kernel


def _function(task: Task, schedule) -> Function:
    module = ModuleOp([task.kernel.clone(), schedule.clone()])
    set_targets(module, {HOST: task.target})
    [kernel] = (op for op in module.ops if isinstance(op, KernelOp))
    return kernel_function(kernel, cache_for(None))


def _nothing_measured(search: Search) -> str:
    """Why a search has no result, in a line."""
    failures = [t.record.outcome for t in search.trials if t.record.outcome.failure is not None]
    counts = Counter(str(f.failure) for f in failures)
    first = {str(f.failure): f.message for f in reversed(failures)}
    told = "; ".join(f"{count} {kind} ({first[kind].splitlines()[0]})" for kind, count in counts.items())
    return f"none of {len(search.trials)} trials of @{search.task.kernel.sym_name.data} could be measured: {told}"
