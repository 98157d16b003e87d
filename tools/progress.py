"""How far a compilation is: a bar on a terminal, a line a phase elsewhere."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tilework.driver.session import Progress as ProgressCallback


@contextmanager
def shown_progress(title: str) -> Generator[ProgressCallback]:
    """A callback for `compile` that shows the phases on stderr for the duration of the block."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _PhaseLines(title)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        yield _Bar(bars, title)


class _Bar:
    """One bar, which starts again with every phase."""

    def __init__(self, bars: Progress, title: str):
        self._bars = bars
        self._title = title
        self._task: TaskID = bars.add_task(title, total=None)

    def __call__(self, phase: str, done: int, total: int) -> None:
        self._bars.update(self._task, description=f"{self._title}: {phase}", completed=done, total=total)


class _PhaseLines:
    """One line when a phase begins: what is not a terminal is a log."""

    def __init__(self, title: str):
        self._console = Console(stderr=True, soft_wrap=True, markup=False, highlight=False)
        self._title = title
        self._phase = ""

    def __call__(self, phase: str, done: int, total: int) -> None:
        if phase != self._phase:
            self._phase = phase
            counted = f" ({total - done} to compile)" if phase == "kernels" else ""
            self._console.print(f"{self._title}: {phase}{counted}")
