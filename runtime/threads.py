"""How many threads a parallel loop uses. Results do not depend on it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tilework.algebra.errors import UsageError
from tilework.algebra.given_values import integer_of
from tilework.targets.cpu.host import physical_cores

_TOO_MANY = 1 << 31
"""What compiled code takes has 32 bits, with a sign."""


@dataclass
class _Setting:
    threads: int | None = None


_setting = _Setting()


def set_num_threads(n: int) -> None:
    """Use `n` threads from the next call of any module on. Raises UsageError unless `n` is a positive integer."""
    number = integer_of(n)
    if number is None or not 1 <= number < _TOO_MANY:
        raise UsageError(f"set_num_threads({n!r}): the number of threads is a positive integer below {_TOO_MANY}")
    _setting.threads = number


def get_num_threads() -> int:
    """The number set, else that of OMP_NUM_THREADS, else the number of physical cores this process may use."""
    if _setting.threads is None:
        _setting.threads = _from_environment() or physical_cores()
    return _setting.threads


def _from_environment() -> int | None:
    """OMP_NUM_THREADS, of which the first number counts: "4,2" is for nested loops, which Tilework has none of."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and 0 < int(first) < _TOO_MANY else None
