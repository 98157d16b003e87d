"""Tilework: a tensor compiler in four readable dialects.

`compile` turns a model into a `Module`, which is called with arrays; `load` reads one that `Module.save` wrote.
`from tilework import te` gives tensor expressions and schedules, which `lower` shows as loops and `build` compiles.
"""

from tilework.algebra.errors import TileworkError, UsageError
from tilework.api import build, compile, load, lower  # noqa: A004  the name that users of other compilers look for
from tilework.runtime.module import Module
from tilework.runtime.threads import get_num_threads, set_num_threads

__all__ = [
    "Module",
    "TileworkError",
    "UsageError",
    "build",
    "compile",
    "get_num_threads",
    "load",
    "lower",
    "set_num_threads",
]
