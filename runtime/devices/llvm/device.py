"""How code of the LLVM back end is loaded: it is linked into this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilework.runtime.devices.llvm.native import Linked


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> Linked:
    """The function `entry` of relocatable object files."""
    return Linked(objects, target, entry, types, result)
