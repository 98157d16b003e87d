"""Tuning te programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import UsageError
from tilework.analysis.program_targets import HOST, set_targets
from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te import KernelOp
from tilework.driver.kernel_function import kernel_function
from tilework.frontends.te.errors import errors_for_python
from tilework.frontends.te.schedule import Schedule, create_schedule
from tilework.frontends.te.tensor import StagedOp, Tensor, tensors_of
from tilework.runtime.cache import cache_for
from tilework.runtime.function import Function
from tilework.targets import Target
from tilework.tuning.budget import Budget
from tilework.tuning.measuring.base import Site
from tilework.tuning.progress import Watcher
from tilework.tuning.records import Records
from tilework.tuning.search import Trial, search_for
from tilework.tuning.task import Task, refuse_symbols
from tilework.tuning.templates.config import Config
from tilework.tuning.templates.template import TemplateProgram, TemplateSpace
from tilework.tuning.text import schedule_text


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    function: called as what `tilework.build` makes is. schedule: its schedule, as `.mlir`. best_seconds: how long a
    call takes; default_seconds: the same with the default schedule, which was run in turns with the best one, None
    where it does not run. trials: in order, those of the records file among them. task, sequence: the kernel, and the
    schedule as operations.
    """

    function: Function
    schedule: str
    best_seconds: float
    default_seconds: float | None
    trials: Sequence[Trial]
    task: Task
    sequence: SequenceOp


def tune_program(
    program: Sequence[Tensor] | TemplateProgram,
    schedule: Schedule | None,
    machine: Target,
    budget: Budget,
    records: Records,
    rules: bool,
    watcher: Watcher,
    site: Site,
) -> Tuned:
    """Do what `tilework.tune` does for a te program, perhaps with a schedule that has knobs, or for a template."""
    if isinstance(program, TemplateProgram):
        task, space = _of_template(program, machine, rules, budget.seed)
    else:
        space = None
        kernel, own = kernel_of(program, schedule)
        task = Task(kernel, machine, rules, budget.seed, own)
        refuse_symbols(task.kernel)
    with site.builder(task) as builder, site.runner(task) as runner:
        search = search_for(task, space, builder, runner, records, budget, watcher)
        watcher.begin([search], [1])
        search.run(budget.trials, budget.until)
        winner = search.finish()
    function, text = _function(task, winner.schedule), schedule_text(winner.schedule)
    return Tuned(function, text, winner.seconds, winner.default_seconds, search.trials, task, winner.schedule)


def _of_template(program: TemplateProgram, machine: Target, rules: bool, seed: int) -> tuple[Task, TemplateSpace]:
    """What a template computes, and its configurations."""
    config = Config()
    s, tensors = program.instantiate(config)
    kernel, sequence = kernel_of(tensors, s)
    assert sequence is not None
    task = Task(kernel, machine, rules, seed)
    refuse_symbols(kernel)
    return task, TemplateSpace(program, sequence, config)


def kernel_of(program: Sequence[Tensor], schedule: Schedule | None) -> tuple[KernelOp, SequenceOp | None]:
    """The kernel, and its schedule if one is given."""
    tensors = tensors_of(program, "the program to tune")
    outputs = [t for t in tensors if isinstance(t.op, StagedOp)]
    if not outputs:
        raise UsageError("the program to tune has no result: give its tensors, results last, as for tilework.build")
    with errors_for_python():
        s = create_schedule([t.op for t in outputs]) if schedule is None else schedule
        module = s.module("main", tensors)
        verify(module)
        refuse_out_of_bounds(module)
    [kernel] = (op for op in module.ops if isinstance(op, KernelOp))
    [own] = (op for op in module.ops if isinstance(op, SequenceOp))
    return kernel, own if schedule is not None else None


def _function(task: Task, schedule: SequenceOp) -> Function:
    module = ModuleOp([task.kernel.clone(), schedule.clone()])
    set_targets(module, {HOST: task.target})
    [kernel] = (op for op in module.ops if isinstance(op, KernelOp))
    return kernel_function(kernel, cache_for(None))
