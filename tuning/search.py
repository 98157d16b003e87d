"""The search for one kernel: propose, build, run, record, until the budget is spent."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from random import Random

from xdsl.utils.exceptions import VerifyException

from tilework.algebra.errors import TileworkError
from tilework.dialects.schedule import SequenceOp
from tilework.runtime.cache import source_hash
from tilework.tuning.budget import Budget
from tilework.tuning.candidate import Candidate
from tilework.tuning.explorers.base import Explorer
from tilework.tuning.explorers.registry import explorer_named
from tilework.tuning.measuring.base import Builder, Built, Runner
from tilework.tuning.measuring.outcome import Code, Failure, Outcome
from tilework.tuning.models.registry import model_named
from tilework.tuning.progress import Watcher
from tilework.tuning.ranker import Ranker
from tilework.tuning.records import DEFAULT, NOISE, Record, Records
from tilework.tuning.space import Space
from tilework.tuning.task import Task
from tilework.tuning.templates.ranking import KnobRanker
from tilework.tuning.templates.template import TemplateSpace
from tilework.tuning.text import schedule_text

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


@dataclass(frozen=True)
class Winner:
    """What a search ends with. seconds, default_seconds: measured in turns; None where the default does not run."""

    schedule: SequenceOp
    seconds: float
    default_seconds: float | None


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate that was measured; None stands for the default. code: where it was built here."""

    candidate: Candidate | None
    record: Record
    code: Code | None = None

    @property
    def seconds(self) -> float | None:
        """The least time of a run; None for one that failed."""
        return self.record.outcome.seconds


@dataclass(eq=False)
class Search:
    """The state of a search: the trials so far, and the fastest one.

    runner: one for the task, for as long as it lives. given_space: where it is not the task's own, which takes seconds
    to derive for some kernels and is therefore derived when it is asked for.
    """

    task: Task
    given_space: Space | None
    budget: Budget
    builder: Builder
    runner: Runner
    records: Records
    watcher: Watcher
    trials: list[Trial] = field(default_factory=list[Trial])
    history: dict[Candidate, float | None] = field(default_factory=dict[Candidate, float | None])
    winner: Winner | None = None
    _predicted: dict[Candidate, float] = field(default_factory=dict[Candidate, float])
    reference: Built | None = None
    note: str = ""
    """What the user must know about how results were checked."""

    @cached_property
    def space(self) -> Space:
        """What may be measured."""
        return self.task.space() if self.given_space is None else self.given_space

    @cached_property
    def explorer(self) -> Explorer:
        """What proposes candidates."""
        return explorer_named(self.budget.explorer)(self.space, Random(self.budget.seed), self.ranker)

    @cached_property
    def ranker(self) -> Ranker | KnobRanker | None:
        """What ranks candidates, where the explorer asks for that."""
        if not explorer_named(self.budget.explorer).IS_GUIDED:
            return None
        if isinstance(self.space, TemplateSpace):
            return KnobRanker(self.space)
        return Ranker(self.task, self.space, model_named(self.budget.model, self.task.target))

    def resume(self) -> None:
        """Take over the trials of the record file that are of this task and space."""
        for record in self.records.of(self.task.key, self.runner.threads):
            if record.outcome.failure is Failure.CONNECTION:
                continue  # a device that was lost says nothing about what it ran
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
            candidates = self._proposed(count)
            if not candidates:
                return
            self._measure(candidates, until)

    def _proposed(self, count: int) -> list[Candidate]:
        """The next candidates, and what the model thinks of them."""
        if self.ranker is not None:
            self.ranker.learn(self.history)
        candidates = self.explorer.propose(count, self.history)
        if self.ranker is not None and candidates:
            self._predicted |= dict(zip(candidates, map(float, self.ranker(candidates)), strict=True))
        return candidates

    def _start(self) -> None:
        """Run the kernel without a schedule, which says what is right, and the default."""
        schedules = [self.task.unscheduled] if self.reference is None else []
        schedules += [] if self.default is not None else [self.task.default]
        built = self.builder.build([self.task.text(schedule) for schedule in schedules], FIRST_SECONDS)
        if self.reference is None:
            self.reference, *built = built
        self._set_reference(*self.reference)
        for code, failed, taken in built:
            outcome = failed or self._timed(code, FIRST_SECONDS)
            self._keep(None, self.task.default, replace(outcome, build_seconds=taken), code)

    def _set_reference(self, code: Code | None, failed: Outcome | None, _: float) -> None:
        outcome = failed if code is None else self.runner.set_reference(code, FIRST_SECONDS)
        if outcome is not None and outcome.failure is not None:
            why = f"the kernel without a schedule could not be run ({outcome.message})"
            self.note = f"{why}: the first schedule that runs says what is right"

    def _timed(self, code: Code | None, seconds: float) -> Outcome:
        assert code is not None
        best = self.best
        return self.runner.measure(code, seconds, None if best is None else best.seconds)

    def _measure(self, candidates: Sequence[Candidate], until: float) -> None:
        schedules = {c: schedule for c in candidates if (schedule := self._instantiated(c)) is not None}
        left = max(1.0, until - time.monotonic())
        built = self.builder.build([self.task.text(s) for s in schedules.values()], min(BUILD_SECONDS, left))
        results = zip(schedules.items(), built, self._outcomes(built), strict=True)
        for (candidate, schedule), (code, _, taken), outcome in results:
            self._keep(candidate, schedule, replace(outcome, build_seconds=taken), code)

    def _outcomes(self, built: Sequence[Built]) -> Iterator[Outcome]:
        """What comes of candidates, in order. They run on as many devices at a time as there are."""
        if self.runner.slots == 1:
            yield from map(self._outcome, built)  # in this thread, which Ctrl-C ends at once
            return
        with ThreadPoolExecutor(self.runner.slots) as threads:
            yield from threads.map(self._outcome, built)

    def _outcome(self, built: Built) -> Outcome:
        code, failed, _ = built
        best = self.best
        limit = max(LEAST_RUN_SECONDS, PATIENCE * (best.seconds or 0.0) if best else FIRST_SECONDS)
        return failed or self._timed(code, limit)

    def _keep(self, candidate: Candidate | None, schedule: SequenceOp, outcome: Outcome, code: Code | None) -> None:
        record = self._recorded(candidate, schedule, outcome)
        self.records.append(record)
        self.trials.append(Trial(candidate, record, code))
        if candidate is not None:
            self.history[candidate] = outcome.seconds
        self.watcher.trial(self)  # pyright: ignore[reportArgumentType]  this file has two names for the checker

    def _recorded(
        self, candidate: Candidate | None, schedule: SequenceOp, outcome: Outcome, default: float | None = None
    ) -> Record:
        sketch = DEFAULT if candidate is None else self.space.sketches[candidate.sketch].name
        knobs: Mapping[str, int] = {} if candidate is None else self.space.values(candidate)
        where = str(self.task.target), source_hash(), self.runner.threads
        predicted = None if candidate is None else self._predicted.get(candidate)
        text = schedule_text(schedule)
        return Record(self.task.key, self.task.name, *where, sketch, knobs, text, outcome, default, predicted)

    def _instantiated(self, candidate: Candidate) -> SequenceOp | None:
        """The schedule of a candidate; None for one that its template refuses."""
        try:
            return self.space.schedule(candidate)
        except (TileworkError, VerifyException) as error:
            self._keep(candidate, self.task.unscheduled, Outcome(None, Failure.INSTANTIATION, str(error)), None)
            return None

    # -- the end

    def finish(self) -> Winner:
        """The schedule to take, once the fastest ones have run again, in turns with the default.

        It is the default where none is faster; else it is recorded together with the time of the default. Raises
        TileworkError where no candidate could be measured.
        """
        timed = sorted((t for t in self.trials if t.seconds is not None), key=lambda t: t.seconds or 0.0)
        default = self.default
        finalists = timed[:FINALISTS]
        if default in timed and default not in finalists:
            finalists.append(default)
        if not finalists:
            raise TileworkError(self._nothing_measured())
        seconds = self._in_turns(finalists)
        of_default = None if default is None else seconds.get(default)
        least = min(finalists, key=lambda t: seconds[t])
        if default is not None and of_default is not None and seconds[least] > of_default * (1 - NOISE):
            least = default
        if least is not default and of_default is not None:
            outcome = Outcome(seconds[least])
            self.records.append(self._recorded(least.candidate, self.schedule_of(least), outcome, of_default))
        self.winner = Winner(self.schedule_of(least), seconds[least], of_default)
        return self.winner

    def _in_turns(self, trials: Sequence[Trial]) -> dict[Trial, float]:
        """The least time of each, of several runs one after the other; one trial alone needs no other run."""
        if len(trials) == 1:
            return {trials[0]: trials[0].seconds or 0.0}
        lacking = [trial for trial in trials if trial.code is None]
        texts = [self.task.text(self.schedule_of(trial)) for trial in lacking]
        results = zip(lacking, self.builder.build(texts, FIRST_SECONDS), strict=True)
        built = {trial: code for trial, (code, _, _) in results}
        seconds = dict.fromkeys(trials, float("inf"))
        for _ in range(ROUNDS):
            for trial in trials:
                code = trial.code or built[trial]
                outcome = None if code is None else self.runner.measure(code, FIRST_SECONDS)
                if outcome is not None and outcome.seconds is not None:
                    seconds[trial] = min(outcome.seconds, seconds[trial])
        return seconds

    def schedule_of(self, trial: Trial) -> SequenceOp:
        """The schedule of a trial."""
        return self.task.default if trial.candidate is None else self.space.schedule(trial.candidate)

    def _nothing_measured(self) -> str:
        """Why a search has no result, in a line: how many failures of each kind there were, and the first message."""
        failures = [t.record.outcome for t in self.trials if t.record.outcome.failure is not None]
        counts = Counter(str(f.failure) for f in failures)
        first = {str(f.failure): f.message for f in reversed(failures)}
        told = "; ".join(f"{count} {kind} ({first[kind].partition(chr(10))[0]})" for kind, count in counts.items())
        what = f"none of {len(self.trials)} candidates for @{self.task.kernel.sym_name.data} could be measured"
        return f"{what}: {told}" if told else f"{what}: there was no time for any"


def search_for(
    task: Task,
    space: Space | None,
    builder: Builder,
    runner: Runner,
    records: Records,
    budget: Budget,
    watcher: Watcher,
) -> Search:
    """A search in the task's space, or in another one, that goes on where the records end."""
    search = Search(task, space, budget, builder, runner, records, watcher)
    search.resume()
    return search
