"""How code of the LLVM back end is loaded: it is linked into this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilework.runtime.devices.llvm.native import Linked
from tilework.runtime.devices.llvm.workers import workers_code
from tilework.targets import parse_target


def link(
    objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any, support: bytes | None = None
) -> Linked:
    """The function `entry` of relocatable object files. support: the object file of the threads, compiled if needed."""
    return Linked(objects, target, entry, types, result, support)


def support_code(target: str) -> bytes:
    """The object file of the threads that parallel loops run on."""
    return workers_code(parse_target(target))
