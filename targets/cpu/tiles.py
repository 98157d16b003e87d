"""Whether this process may use the tile registers of Intel's servers: Linux wants to be asked first.

Saving 8 KiB for every thread that is interrupted is not for all. The permission holds for the whole process, all
its threads and the processes that it forks.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache

TILE_FEATURES = frozenset({"amx-bf16", "amx-tile"})
"""The extensions that take the permission, by LLVM's names."""

_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18


@cache
def tiles_are_permitted() -> bool:
    """Ask for the permission; False too where the system or the processor has nothing to permit."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    return request_tiles() == 0


def request_tiles() -> int:
    """The answer of Linux: 0 where it permits."""
    return ctypes.CDLL(None).syscall(*map(ctypes.c_long, (_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA)))
