"""Tilework: a tensor compiler in four readable dialects.

`compile` turns a model into a `Module`, which is called with arrays; `load` reads one that `Module.save` wrote.
`from tilework import te` gives tensor expressions and schedules, which `lower` shows as loops and `build` compiles;
`kernel` makes an operator of networks of a function of te. `tune` searches for fast schedules of either, and
`remote` runs what was compiled on other machines.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilework.algebra.errors import TileworkError, UsageError
    from tilework.api import build, compile, load, lower, tune  # noqa: A004  the names that users look for
    from tilework.frontends.te.operator import kernel
    from tilework.module import Module
    from tilework.plugins.packages import load_plugin
    from tilework.runtime.threads import get_num_threads, set_num_threads
    from tilework.tuning.pool.remote import remote

    __version__: str

__all__ = [
    "Module",
    "TileworkError",
    "UsageError",
    "__version__",
    "build",
    "compile",
    "get_num_threads",
    "kernel",
    "load",
    "load_plugin",
    "lower",
    "remote",
    "set_num_threads",
    "tune",
]

_HOMES = {
    "tilework.algebra.errors": ("TileworkError", "UsageError"),
    "tilework.api": ("build", "compile", "load", "lower", "tune"),
    "tilework.frontends.te.operator": ("kernel",),
    "tilework.module": ("Module",),
    "tilework.plugins.packages": ("load_plugin",),
    "tilework.runtime.threads": ("get_num_threads", "set_num_threads"),
    "tilework.tuning.pool.remote": ("remote",),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line answers, and hears Ctrl-C, before numpy is there."""
    if name == "__version__":
        return import_module("importlib.metadata").version("tilework")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'tilework' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
