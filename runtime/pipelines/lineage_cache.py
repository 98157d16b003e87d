"""What has been computed from the rows of tables is kept for later fits, as far as that is worth its time and bytes."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

from tilework.runtime.pipelines.source import Source, digest_speed

Value = TypeVar("Value")

USES = 2
"""A value has to be worth keeping as soon as it is asked for a second time."""

KEY_BYTES = 1 << 10
"""What an entry takes besides its value."""

BUDGET = 1 << 28
"""Bytes that are kept at most where the system does not tell how much memory is free."""


def is_worth_keeping(seconds: float, nbytes: int, speed: float) -> bool:
    """Whether values that take some seconds to compute are found in less time by a digest of their source.

    nbytes: what the source has, which is read at each use. speed: bytes that a digest reads in a second.
    """
    return (USES - 1) * seconds > USES * nbytes / speed


def quarter_of_free_memory() -> int:
    """The budget of a cache in bytes, which Linux tells."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return BUDGET
    return next((int(line.split()[1]) * 1024 // 4 for line in lines if line.startswith("MemAvailable")), BUDGET)


@dataclass
class Entry:
    """A value that is kept. rank: the lower, the sooner it is evicted."""

    value: Any
    nbytes: int
    seconds: float
    rank: float


@dataclass(frozen=True)
class Key:
    """The lineage of a value: what a source looks like, its digest, and what was computed from it."""

    outline: Hashable
    digest: bytes
    lineage: Hashable


class LineageCache:
    """Values by their lineage, within a budget of bytes; evicts those that save the fewest seconds for each byte.

    Eviction is GreedyDual-Size: ranks rise with each eviction, so that what nobody asks for leaves in the end.
    """

    def __init__(self, budget: Callable[[], int] = quarter_of_free_memory, speed: Callable[[], float] = digest_speed):
        self._budget, self.speed = budget, speed
        self.nbytes = 0  # of all that is kept
        self._entries: dict[Key, Entry] = {}
        self._outlines: Counter[Hashable] = Counter()
        self._age = 0.0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def __reduce__(self) -> Any:
        return LineageCache, (self._budget, self.speed)  # a copy, which may be in another process, begins empty

    def knows(self, outline: Hashable) -> bool:
        """Whether there are values of a source that looks like this: else there is no need to read it."""
        with self._lock:
            return self._outlines[outline] > 0

    def get(self, key: Key) -> Any:
        """The value with a lineage, or None where it is not kept."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                return None
            found.rank = self._rank(found.seconds, found.nbytes)
            return found.value

    def put(self, key: Key, value: Any, seconds: float) -> None:
        """Keep a value that took some seconds to compute, and evict what exceeds the budget."""
        nbytes, budget = KEY_BYTES + bytes_of(value), self._budget()
        with self._lock:
            if key in self._entries:
                self._drop(key)
            self._entries[key] = Entry(value, nbytes, seconds, self._rank(seconds, nbytes))
            self._outlines[key.outline] += 1
            self.nbytes += nbytes
            while self.nbytes > budget:
                self._age = self._drop(min(self._entries, key=lambda each: self._entries[each].rank)).rank

    def _drop(self, key: Key) -> Entry:
        dropped = self._entries.pop(key)
        self.nbytes -= dropped.nbytes
        self._outlines[key.outline] -= 1
        if not self._outlines[key.outline]:
            del self._outlines[key.outline]
        return dropped

    def _rank(self, seconds: float, nbytes: int) -> float:
        return self._age + seconds / nbytes


class Derived:
    """What one fit computes from one source: taken from a cache, or computed and kept there.

    cache: None where nothing is to be kept. outline: what the source looks like. source: gives it; None is for one that
    cannot be recognized.
    """

    def __init__(self, cache: LineageCache | None, outline: Hashable, source: Callable[[], Source | None]):
        self.taken: list[str] = []
        self._cache, self._outline, self._source_of = cache, outline, source
        self._made: dict[Hashable, tuple[Any, float]] = {}
        self._seconds = 0.0

    @cached_property
    def _source(self) -> Source | None:
        return self._source_of()

    @cached_property
    def _digest(self) -> bytes | None:
        return None if self._source is None else self._source.digest()

    def of(self, what: str, lineage: Hashable, make: Callable[[], Value]) -> Value:
        """The value with a lineage. what: it is called so in `taken` if it is not computed."""
        if self._cache is None:
            return make()
        if self._cache.knows(self._outline) and self._digest is not None:
            found = self._cache.get(Key(self._outline, self._digest, lineage))
            if found is not None:
                self.taken.append(what)
                return found
        begun, before = time.perf_counter(), self._seconds
        made = make()
        inner = self._seconds - before  # of values that were computed meanwhile, which have entries of their own
        own = time.perf_counter() - begun - inner
        self._seconds += own
        self._made[lineage] = made, own
        return made

    def keep(self) -> None:
        """Keep what was computed, if together it is worth a digest of the source at this fit and the next one."""
        if self._cache is None or not self._made or self._source is None:
            return
        if is_worth_keeping(self._seconds, self._source.nbytes, self._cache.speed()):
            assert self._digest is not None
            for lineage, (value, seconds) in self._made.items():
                self._cache.put(Key(self._outline, self._digest, lineage), value, seconds)


def bytes_of(value: Any) -> int:
    """The size of an array, of what tells its own, and of lists of these."""
    if isinstance(value, list | tuple):
        return sum(map(bytes_of, cast("Sequence[Any]", value)))
    return value.nbytes if hasattr(value, "nbytes") else sys.getsizeof(value)
