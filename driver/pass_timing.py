"""How long each pass takes: a tree of wall times in mlir-opt's form."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.driver.instrumentation import Instrumentation

RULE = "===" + "-" * 73 + "==="


@dataclass
class Timer:
    """Seconds spent under a name, and the named parts of them, in the order in which they first ran."""

    name: str
    seconds: float = 0.0
    parts: dict[str, Timer] = field(default_factory=dict[str, "Timer"])

    def part(self, name: str) -> Timer:
        """The part called `name`; what runs under one name several times adds up."""
        return self.parts.setdefault(name, Timer(name))


class PassTiming(Instrumentation):
    """Adds up the wall time of every pass; `report` says what it found."""

    def __init__(self) -> None:
        self.total = Timer("Total")
        self._running = [self.total]
        self._started: list[float] = []

    @contextmanager
    def measure(self, name: str) -> Generator[None]:
        """What happens inside the `with` counts under `name`."""
        depth = len(self._started)
        self.start(name)
        try:
            yield
        finally:
            self._stop_down_to(depth)

    def start(self, name: str) -> None:
        """What follows, up to `stop`, counts under `name`."""
        self._running.append(self._running[-1].part(name))
        self._started.append(perf_counter())

    def stop(self) -> None:
        """End what was started last."""
        self._running.pop().seconds += perf_counter() - self._started.pop()

    def _stop_down_to(self, depth: int) -> None:
        """End all but the outermost `depth` of what was started: an error leaves several unfinished."""
        while len(self._started) > depth:
            self.stop()

    def before_pipeline(self, anchor: str, op: Operation) -> None:
        self.start(f"'{anchor}' Pipeline")

    def after_pipeline(self, anchor: str, op: Operation) -> None:
        self.stop()

    def before_pass(self, pass_: ModulePass, op: Operation) -> None:
        self.start(f"{type(pass_).__name__} ({pass_.name})")

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        self.stop()

    def pass_failed(self, pass_: ModulePass, op: Operation, error: Exception) -> None:
        self._stop_down_to(0)

    def report(self) -> str:
        """The table, in seconds and per cent of the whole."""
        whole = sum(part.seconds for part in self.total.parts.values())
        lines = [RULE, "... Execution time report ...".center(len(RULE)).rstrip(), RULE]
        lines += [f"  Total Execution Time: {whole:.4f} seconds", "", "  ----Wall Time----  ----Name----"]
        for part in self.total.parts.values():
            lines += _rows(part, whole, indent=0)
        lines.append(_row(whole, whole, "Total"))
        return "\n".join(lines) + "\n"

    def as_json(self) -> str:
        """The same tree as JSON, as `--mlir-output-format=json` has it: an object a timer, with its parts inside."""
        return json.dumps([_object(part) for part in self.total.parts.values()], indent=1) + "\n"


class Timed(Instrumentation):
    """Another instrumentation, whose time counts under a name of its own beside the passes that it watches."""

    def __init__(self, timing: PassTiming, name: str, watcher: Instrumentation):
        self._timing = timing
        self._name = name
        self._watcher = watcher

    def before_pass(self, pass_: ModulePass, op: Operation) -> None:
        with self._timing.measure(self._name):
            self._watcher.before_pass(pass_, op)

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        with self._timing.measure(self._name):
            self._watcher.after_pass(pass_, op)

    def pass_failed(self, pass_: ModulePass, op: Operation, error: Exception) -> None:
        self._watcher.pass_failed(pass_, op, error)


def _object(timer: Timer) -> dict[str, object]:
    parts = [_object(part) for part in timer.parts.values()]
    return {"wall": {"duration": round(timer.seconds, 6)}, "name": timer.name, "passes": parts}


def _rows(timer: Timer, whole: float, indent: int) -> list[str]:
    rows = [_row(timer.seconds, whole, "  " * indent + timer.name)]
    for part in timer.parts.values():
        rows += _rows(part, whole, indent + 1)
    return rows


def _row(seconds: float, whole: float, name: str) -> str:
    share = 100 * seconds / whole if whole else 0.0
    return f"  {seconds:8.4f} ({share:5.1f}%)  {name}"
