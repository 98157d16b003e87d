"""What every pass did, in numbers: `--mlir-pass-statistics`."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field

from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern

from tilework.driver.instrumentation import Instrumentation
from tilework.transforms.patterns import counted_rewrites, pattern_name

RULE = "===" + "-" * 73 + "==="


@dataclass
class _Statistics:
    """What the runs of one pass did: rewrites by pattern, and how many operations there were before and after."""

    title: str
    rewrites: Counter[str] = field(default_factory=Counter[str])
    before: int = 0
    after: int = 0

    def lines(self) -> list[str]:
        counts = [
            (self.before, "operations-before", "Operations that the pass was given"),
            (self.after, "operations-after", "Operations that the pass left"),
            *((count, name, "Operations that the pattern rewrote") for name, count in self.rewrites.items()),
        ]
        width = max(len(name) for _, name, _ in counts)
        return [self.title, *(f"  (S) {count:7} {name:{width}} - {text}" for count, name, text in counts)]


class PassStatistics(Instrumentation):
    """Counts what every pass rewrites; `report` says it for each pass, in the order in which they first ran."""

    def __init__(self) -> None:
        self._found: dict[str, _Statistics] = {}
        self._running = ExitStack()
        self._counts = Counter[type[RewritePattern]]()

    def before_pass(self, pass_: ModulePass, op: Operation) -> None:
        self._of(pass_).before += _size(op)
        self._counts = self._running.enter_context(counted_rewrites())

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        self._running.close()
        statistics = self._of(pass_)
        statistics.after += _size(op)
        statistics.rewrites.update({pattern_name(pass_.name, p): count for p, count in self._counts.items()})

    def pass_failed(self, pass_: ModulePass, op: Operation, error: Exception) -> None:
        self._running.close()

    def report(self) -> str:
        """The numbers in mlir-opt's form."""
        lines = [RULE, "... Pass statistics report ...".center(len(RULE)).rstrip(), RULE]
        lines += [line for statistics in self._found.values() for line in statistics.lines()]
        return "\n".join(lines) + "\n"

    def _of(self, pass_: ModulePass) -> _Statistics:
        title = f"{type(pass_).__name__} ({pass_.name})"
        return self._found.setdefault(title, _Statistics(title))


def _size(op: Operation) -> int:
    return sum(1 for _ in op.walk())
