"""What builds candidates and what runs them, as a search sees it: on this machine or on others."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from tilework.runtime.tensor_spec import TensorSpec
from tilework.tuning.measuring.outcome import Code, Outcome

if TYPE_CHECKING:  # the compiler takes a second to import, and who only runs candidates needs none of it
    from tilework.tuning.task import Task

Built = tuple[Code | None, Outcome | None, float]
"""The code, or why there is none; and how long it took."""


class Workload(Protocol):
    """What candidates are run on. A `Task` is one; it can be sent to another machine without its kernel."""

    @property
    def arguments(self) -> Sequence[TensorSpec]:
        """Inputs, then outputs, with numbers as sizes."""
        ...

    @property
    def inputs(self) -> int:
        """How many of the arguments are read."""
        ...

    @property
    def allowed(self) -> float:
        """How many units in the last place of the largest number a result may be off."""
        ...

    @property
    def seed(self) -> int:
        """What the data are drawn from."""
        ...


class Closed(Protocol):
    """Something that ends with its `with`."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def close(self) -> None:
        """End what was started for it."""
        ...


class Builder(Closed, Protocol):
    """Compiles candidates of a task, which another one may replace."""

    task: Task

    def build(self, texts: Sequence[str], seconds: float) -> list[Built]:
        """The code of schedules; each may take so many seconds."""
        ...


class Runner(Closed, Protocol):
    """Runs code on the devices of one kind, which are alike."""

    @property
    def threads(self) -> int:
        """How many threads the code may use."""
        ...

    @property
    def slots(self) -> int:
        """How many pieces of code it runs at a time; so many threads may call `measure` at once."""
        ...

    def set_reference(self, code: Code, seconds: float) -> Outcome:
        """Run the code that says what is right, once. Where it fails, the next code that runs says so."""
        ...

    def measure(self, code: Code, seconds: float, best: float | None = None) -> Outcome:
        """How long the code takes; it may run for so many seconds. best: what is hopelessly slower is run once."""
        ...


class Site(Closed, Protocol):
    """Where candidates are compiled and run. target: what to compile for where nobody says; None for this machine."""

    @property
    def target(self) -> str | None: ...

    def builder(self, task: Task) -> Builder:
        """What compiles candidates."""
        ...

    def runner(self, task: Task) -> Runner:
        """What runs them."""
        ...
