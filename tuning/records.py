"""Records of trials: a line of JSON each, appended and flushed to the disk, so that the file is the state of a search.

The same search goes on where the file ends. A last line that was torn is dropped with a warning. Several processes may
write to one file: each holds a lock while it does.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilework.algebra.errors import TileworkError, UsageError
from tilework.runtime.cache import source_hash
from tilework.tuning.measuring.outcome import Failure, Outcome

VERSION = 1
"""The version of the form that lines have."""

DEFAULT = "default"
"""In place of a sketch's name, in the record of the schedule that needs no search."""

NOISE = 0.02
"""A schedule that is faster by a smaller part than this is not taken for faster than the default."""

_NAMES = (
    *("kernel", "name", "target", "compiler", "threads", "sketch", "knobs", "schedule"),
    *("default_seconds", "predicted"),
)
"""The fields of a line that are those of a record."""

_log = logging.getLogger("tilework")


@dataclass(frozen=True)
class Record:
    """A trial: of which kernel on which target, with which schedule, and what came of it.

    kernel: the key of its task. name: what the program calls it. compiler: a hash of the sources that built it.
    sketch, knobs: what a space calls the candidate. schedule: its text. default_seconds: for the best one at the end of
    a search, how long the default took, which ran in turns with it; None for all others. predicted: the score that the
    model gave it, if there was one.
    """

    kernel: str
    name: str
    target: str
    compiler: str
    threads: int
    sketch: str
    knobs: Mapping[str, int]
    schedule: str
    outcome: Outcome
    default_seconds: float | None = None
    predicted: float | None = None

    def line(self) -> str:
        """The text of the record."""
        outcome = self.outcome
        fields = {
            "version": VERSION,
            "kernel": self.kernel,
            "name": self.name,
            "target": self.target,
            "compiler": self.compiler,
            "threads": self.threads,
            "sketch": self.sketch,
            "knobs": dict(self.knobs),
            "schedule": self.schedule,
            "seconds": outcome.seconds,
            "failure": None if outcome.failure is None else outcome.failure.value,
            "message": outcome.message,
            "build_seconds": round(outcome.build_seconds, 3),
            "default_seconds": self.default_seconds,
            "predicted": self.predicted,
        }
        return json.dumps(fields)


class Records:
    """The records in a file, which need not exist yet; without a path they are only kept in memory.

    Raises UsageError for what is no path, and as `read_records` does.
    """

    def __init__(self, path: str | os.PathLike[str] | None):
        if not isinstance(path, str | os.PathLike | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"records= takes the path of a file, not a {type(path).__name__}")
        self.path = None if path is None else Path(path)
        self._kept: list[Record] = [] if self.path is None else list(read_records(self.path))

    def of(self, kernel: str, threads: int) -> list[Record]:
        """The trials of a kernel that this compiler made, for so many threads."""
        now = source_hash()
        mine = [r for r in self._kept if (r.kernel, r.threads, r.compiler) == (kernel, threads, now)]
        return [r for r in mine if r.default_seconds is None]

    def best(self, threads: int) -> dict[str, str]:
        """The best schedules, as `best_schedules` finds them."""
        return best_schedules(self._kept, threads)

    def append(self, record: Record) -> None:
        """Keep a record; it is on the disk when this returns. Raises TileworkError where it cannot be written."""
        self._kept.append(record)
        if self.path is not None:
            _append(self.path, [record])


def read_records(path: Path) -> Iterator[Record]:
    """The records in a file, none where there is no such file.

    Raises TileworkError for a file that cannot be read or has other content.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise TileworkError(f"cannot read {path}: {error.strerror}") from None
    *lines, torn = text.split(b"\n")
    if torn:
        _log.warning("%s: the last line is not whole, and is dropped", path)
    for number, line in enumerate(lines, 1):
        yield _record(line, f"{path}, line {number}")


def merge_records(paths: Iterable[Path], into: Path) -> int:
    """Append to a file the records of others that it lacks; returns how many."""
    known = {record.line() for record in read_records(into)}
    new = {record.line(): record for path in paths for record in read_records(path)}
    lacking = [record for line, record in new.items() if line not in known]
    _append(into, lacking)
    return len(lacking)


def best_schedules(records: Iterable[Record], threads: int) -> dict[str, str]:
    """Find the schedule that a search ended with, by the kernel's key; none where the default was as fast.

    Of several searches the one that gained most counts; only what this compiler measured, with so many threads, does.
    """
    now = source_hash()
    best: dict[str, tuple[float, str]] = {}
    for record in records:
        seconds, default = record.outcome.seconds, record.default_seconds
        if seconds is None or default is None or (record.threads, record.compiler) != (threads, now):
            continue
        gained = seconds / default, record.schedule
        best[record.kernel] = min(gained, best.get(record.kernel, gained))
    return {kernel: schedule for kernel, (part, schedule) in best.items() if part <= 1 - NOISE}


def _append(path: Path, records: Iterable[Record]) -> None:
    text = "".join(record.line() + "\n" for record in records).encode()
    try:
        with path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            _cut_torn_line(file)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise TileworkError(f"cannot write to {path}: {error.strerror}") from None


def _cut_torn_line(file: Any) -> None:
    """Remove what a writer that was killed left behind the last whole line."""
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    whole = file.read().rfind(b"\n") + 1
    file.truncate(whole)


def _record(line: bytes, place: str) -> Record:
    try:
        fields = json.loads(line)
        if fields["version"] != VERSION:
            raise TileworkError(f"{place}: records of version {fields['version']}, and this reads version {VERSION}")
        failure = fields["failure"]
        outcome = Outcome(
            fields["seconds"],
            None if failure is None else Failure(failure),
            fields["message"],
            fields["build_seconds"],
        )
        return Record(**{name: fields[name] for name in _NAMES}, outcome=outcome)
    except (ValueError, KeyError, TypeError) as error:
        raise TileworkError(f"{place} is no record of a trial: {error}") from None
