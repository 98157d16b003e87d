"""The search for one kernel: propose, build, run, record, until the budget is spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tilework.dialects.schedule import SequenceOp
from tilework.runtime.cache import source_hash
from tilework.tuning.candidate import Candidate
from tilework.tuning.explorers.base import Explorer
from tilework.tuning.measuring.builder import LocalBuilder
from tilework.tuning.measuring.outcome import Code, Outcome
from tilework.tuning.measuring.runner import LocalRunner
from tilework.tuning.records import DEFAULT, Record, Records
from tilework.tuning.space import Space
from tilework.tuning.task import Task

BATCH = 8
"""So many candidates are built and run before the next ones are proposed."""

BUILD_SECONDS = 12.0
"""So long a candidate may be compiled."""

LEAST_RUN_SECONDS = 1.0
"""So long every candidate may run; those of slow kernels, several times as long as the best one."""

PATIENCE = 20.0
"""So many times as long as the best one, with all its runs, a candidate may take."""

FIRST_SECONDS = 60.0
"""So long the default, and the kernel without a schedule, may run."""

FINALISTS = 3
"""So many of the fastest are run again at the end, in turns with the default."""

ROUNDS = 3
"""How often each of them is."""

NOISE = 0.01
"""A schedule that is faster by a smaller part than this is not taken for faster."""

OnTrial: TypeAlias = "Callable[[Search], None]"


@dataclass(frozen=True)
class Trial:
    """A candidate that was measured; None stands for the default."""

    candidate: Candidate | None
    record: Record

    @property
    def seconds(self) -> float | None:
        """The least time of a run; None for one that failed."""
        return self.record.outcome.seconds


@dataclass
class Search:
    """The state of a search: the trials so far, and the fastest one.

    threads: how many the code may use. on_trial: called after each trial.
    """

    task: Task
    space: Space
    explorer: Explorer
    builder: LocalBuilder
    runner: LocalRunner
    records: Records
    on_trial: OnTrial
    trials: list[Trial] = field(default_factory=list[Trial])
    history: dict[Candidate, float | None] = field(default_factory=dict[Candidate, float | None])
    note: str = ""
    """What the user must know about how results were checked."""

    def resume(self) -> None:
        """Take over the trials of the record file that are of this task and space."""
        for record in self.records.of(self.task.key, self.runner.threads):
            if record.sketch == DEFAULT:
                if self.default is None:
                    self.trials.append(Trial(None, record))
                continue
            candidate = self.space.candidate(record.sketch, record.knobs)
            if candidate is not None and candidate not in self.history:
                self.history[candidate] = record.outcome.seconds
                self.trials.append(Trial(candidate, record))

    @property
    def default(self) -> Trial | None:
        """The trial of the default schedule."""
        return next((t for t in self.trials if t.candidate is None), None)

    @property
    def best(self) -> Trial | None:
        """The trial with the least time."""
        timed = [t for t in self.trials if t.seconds is not None]
        return min(timed, key=lambda t: t.seconds or 0.0, default=None)

    def run(self, trials: int, until: float) -> None:
        """Go on until there are so many trials, or the clock of `time.monotonic` shows so much."""
        self._start()
        while len(self.trials) < trials and time.monotonic() < until and self.space.sketches:
            count = min(BATCH, trials - len(self.trials))
            candidates = self.explorer.propose(count, self.history)
            if not candidates:
                return
            self._measure(candidates, until)

    def _start(self) -> None:
        """Run the kernel without a schedule, which says what is right, and the default."""
        schedules = [self.task.unscheduled, *([] if self.default else [self.task.default])]
        built = self.builder.build([self.task.text(s) for s in schedules], FIRST_SECONDS)
        (reference, failure, _), *others = built
        if reference is not None:
            failure = self.runner.set_reference(reference, FIRST_SECONDS)
        if failure is not None and failure.failure is not None:
            self.note = f"the kernel without a schedule could not be run ({failure.message}): the default says what is right"
        for code, failed, taken in others:
            outcome = failed or self._timed(code, FIRST_SECONDS)
            self._keep(None, self.task.default, replace(outcome, build_seconds=taken))

    def _timed(self, code: Code | None, seconds: float) -> Outcome:
        assert code is not None
        best = self.best
        return self.runner.measure(code, seconds, None if best is None else best.seconds)

    def _measure(self, candidates: Sequence[Candidate], until: float) -> None:
        schedules = [self.space.schedule(candidate) for candidate in candidates]
        left = max(1.0, until - time.monotonic())
        built = self.builder.build([self.task.text(s) for s in schedules], min(BUILD_SECONDS, left))
        for candidate, schedule, (code, failed, taken) in zip(candidates, schedules, built, strict=True):
            best = self.best
            limit = max(LEAST_RUN_SECONDS, PATIENCE * (best.seconds or 0.0) if best else FIRST_SECONDS)
            outcome = failed or self._timed(code, limit)
            self._keep(candidate, schedule, replace(outcome, build_seconds=taken))

    def _keep(self, candidate: Candidate | None, schedule: SequenceOp, outcome: Outcome) -> None:
        sketch = DEFAULT if candidate is None else self.space.sketches[candidate.sketch].name
        knobs = {} if candidate is None else self.space.values(candidate)
        where = str(self.task.target), source_hash(), self.runner.threads
        record = Record(self.task.key, *where, sketch, knobs, str(schedule), outcome)
        self.records.append(record)
        self.trials.append(Trial(candidate, record))
        if candidate is not None:
            self.history[candidate] = outcome.seconds
        self.on_trial(self)

    # -- the end

    def winner(self) -> tuple[Trial | None, float | None, float | None]:
        """The trial to take, its seconds and those of the default, all run again in turns.

        It is the default's where none is faster; None where nothing has a time.
        """
        timed = sorted((t for t in self.trials if t.seconds is not None), key=lambda t: t.seconds or 0.0)
        default = self.default
        finalists = timed[:FINALISTS]
        if default is not None and default.seconds is not None and default not in finalists:
            finalists.append(default)
        if len(finalists) < 2:
            only = finalists[0] if finalists else None
            seconds = None if only is None else only.seconds
            return only, seconds, seconds if only is default else None
        seconds = self._in_turns(finalists)
        least = min(finalists, key=lambda t: seconds[id(t)])
        of_default = None if default is None else seconds.get(id(default))
        if default is not None and of_default is not None and seconds[id(least)] > of_default * (1 - NOISE):
            return default, of_default, of_default
        return least, seconds[id(least)], of_default

    def _in_turns(self, trials: Sequence[Trial]) -> dict[int, float]:
        texts = [self.task.text(self._schedule(trial)) for trial in trials]
        built = self.builder.build(texts, FIRST_SECONDS)
        seconds = {id(trial): float("inf") for trial in trials}
        for _ in range(ROUNDS):
            for trial, (code, _, _) in zip(trials, built, strict=True):
                outcome = None if code is None else self.runner.measure(code, FIRST_SECONDS)
                if outcome is not None and outcome.seconds is not None:
                    seconds[id(trial)] = min(seconds[id(trial)], outcome.seconds)
        return seconds

    def _schedule(self, trial: Trial) -> SequenceOp:
        return self.task.default if trial.candidate is None else self.space.schedule(trial.candidate)

    def schedule_of(self, trial: Trial) -> SequenceOp:
        """The schedule of a trial."""
        return self._schedule(trial)
