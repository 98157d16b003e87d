"""How the code of a candidate is called again and again on the arrays of a task, and timed."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tilework.runtime.addresses import addresses
from tilework.runtime.arena import host_arena
from tilework.runtime.arrays import ALIGNMENT, Array
from tilework.runtime.devices.base import Linked
from tilework.runtime.devices.launching import LaunchedKernel
from tilework.runtime.devices.registry import link
from tilework.tuning.measuring.repeat import repeater


class Call(Protocol):
    """Code with its arguments."""

    def seconds(self, times: int) -> float:
        """Run it so many times; how many seconds that takes."""
        ...

    def collect(self) -> None:
        """Put results into the arrays of the host."""
        ...


def linked(message: Mapping[str, Any], code: bytes, arrays: Sequence[Array]) -> Linked:
    """The code of a message, for a function of arrays, of buffers that it lends, and of a number of threads."""
    types = [*[ctypes.c_void_p] * (len(arrays) + len(message["scratch"])), ctypes.c_int32]
    return link([code], message["target"], message["entry"], types)


def call_of(what: Linked, message: Mapping[str, Any], arrays: Sequence[Array]) -> Call:
    """The code with arrays. Raises TileworkError where it cannot be loaded."""
    if isinstance(what, LaunchedKernel):
        return _OnDevice(what, message, arrays)
    return _OnHost(what, message, arrays)


def _lent(message: Mapping[str, Any]) -> list[Any]:
    return [host_arena(size + ALIGNMENT) for size in message["scratch"]]


class _OnHost:
    """Code that runs in this process. A kernel on one thread is timed by what the thread itself takes."""

    def __init__(self, what: Linked, message: Mapping[str, Any], arrays: Sequence[Array]):
        threads = message["threads"]
        self._code = what.code()
        self._lent = _lent(message)  # the memory lives as long as the call
        self._arguments = *addresses(arrays), *(arena.address for arena in self._lent), threads
        self._clock = time.thread_time if threads == 1 else time.perf_counter

    def seconds(self, times: int) -> float:
        before = self._clock()
        if self._code.address:
            repeater(len(self._arguments) - 1)(self._code.address, *self._arguments, times)
        else:  # what runs it is Python
            for _ in range(times):
                self._code.entry(*self._arguments)
        return self._clock() - before

    def collect(self) -> None:
        """The results are there."""


class _OnDevice:
    """A kernel whose buffers stay on its device, which times it: copies are not its own time."""

    def __init__(self, what: LaunchedKernel, message: Mapping[str, Any], arrays: Sequence[Array]):
        self._lent = _lent(message)
        self._resident = what.code().resident(*addresses(arrays), *(arena.address for arena in self._lent))
        self.seconds(1)  # some drivers make the code of a kernel when it is first launched

    def seconds(self, times: int) -> float:
        return self._resident.seconds(times)

    def collect(self) -> None:
        self._resident.collect()
