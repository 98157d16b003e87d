"""How far a search is: a bar on a terminal with the time left, a line every few trials elsewhere; and its table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tilework.tuning.search import Search

LINE_SECONDS = 10.0
"""Where there is no terminal, a line is written so often."""


@contextmanager
def shown_search(title: str, trials: int, seconds: float) -> Generator[SearchProgress]:
    """A watcher for `tilework.tune` that shows trials on stderr for the duration of the block.

    Where the user interrupts the block, the table of what has been found so far is shown there too.
    """
    console = Console(stderr=True, soft_wrap=True, markup=False, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) if console.is_terminal else nullcontext() as bars:
        progress = SearchProgress(title, trials, seconds, console, bars)
        try:
            yield progress
        except KeyboardInterrupt:
            for line in search_table(progress.searches, progress.weights):
                console.print(line)
            raise


class SearchProgress:
    """Told of every trial; keeps the searches, for the table at the end."""

    def __init__(self, title: str, trials: int, seconds: float, console: Console, bars: Progress | None):
        self.searches: list[Search] = []
        self.weights: list[int] = []
        self._title, self._trials, self._seconds = title, trials, seconds
        self._console, self._bars = console, bars
        self._started = self._line = time.monotonic()
        self._new = 0
        self._bar = None if bars is None else bars.add_task(title, total=trials)

    def begin(self, searches: list[Search], weights: list[int]) -> None:
        """Show how many kernels there are, and how many trials the records had."""
        self.searches, self.weights = searches, weights
        known = sum(len(search.trials) for search in searches)
        begun = f", {known} trials are in the records" if known else ""
        self._console.print(f"{self._title}: {len(searches)} kernel{'s' if len(searches) > 1 else ''}{begun}")

    def trial(self, search: Search) -> None:
        """Show the trial."""
        self._new += 1
        done = sum(len(search.trials) for search in self.searches)
        text = f"{self._title}: {done} of {self._trials} trials, about {self._left(done):.0f} s left; {_told(search)}"
        if self._bars is not None and self._bar is not None:
            self._bars.update(self._bar, description=text, completed=done)
        elif time.monotonic() - self._line >= LINE_SECONDS:
            self._line = time.monotonic()
            self._console.print(text)

    def _left(self, done: int) -> float:
        """How many seconds the search still takes, as long as trials take as long as they did."""
        taken = time.monotonic() - self._started
        return max(0.0, min((self._trials - done) * taken / self._new, self._seconds - taken))


def _told(search: Search) -> str:
    best, default = search.best, search.default
    if best is None or best.seconds is None:
        return search.task.name
    gained = f", {default.seconds / best.seconds:.2f} x" if default is not None and default.seconds else ""
    return f"{search.task.name} {best.seconds * 1e3:.3g} ms{gained}"


def search_table(searches: Sequence[Search], weights: Sequence[int]) -> list[str]:
    """A line for each kernel, those first in which a run of the program spends most time."""
    head = ["kernel", "calls", "default ms", "best ms", "gain", "GFLOP/s", "trials", "failed"]
    ordered = sorted(zip(searches, weights, strict=True), key=lambda pair: -pair[1] * _seconds(pair[0]))
    rows = [head, *(_row(search, weight) for search, weight in ordered)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*lines, *_failures(searches)]


def _row(search: Search, weight: int) -> list[str]:
    best, default = search.best, search.default
    failed = sum(trial.seconds is None for trial in search.trials)
    if best is None or best.seconds is None:
        return [search.task.name, str(weight), "-", "-", "-", "-", str(len(search.trials)), str(failed)]
    before = None if default is None else default.seconds
    speed = search.task.operations / best.seconds / 1e9
    times = ["-" if before is None else f"{before * 1e3:.4g}", f"{best.seconds * 1e3:.4g}"]
    gain = "-" if before is None else f"{before / best.seconds:.2f}"
    return [search.task.name, str(weight), *times, gain, f"{speed:.1f}", str(len(search.trials)), str(failed)]


def _seconds(search: Search) -> float:
    best = search.best
    return 0.0 if best is None or best.seconds is None else best.seconds


def _failures(searches: Sequence[Search]) -> list[str]:
    """How many trials failed in which way, with the first message of each."""
    outcomes = [trial.record.outcome for search in searches for trial in search.trials]
    failed = [(str(outcome.failure), outcome.message) for outcome in outcomes if outcome.failure is not None]
    first = dict(reversed(failed))
    counted = Counter(kind for kind, _ in failed)
    return [f"{count} {kind}: {first[kind].partition(chr(10))[0]}" for kind, count in counted.most_common()]
