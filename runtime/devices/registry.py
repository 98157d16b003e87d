"""What loads code for a kind of target: `runtime/devices/<kind>/device.py`, in the tree or in a plugin.

The file has a function `link` that is called as `link` here is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from tilework.algebra.errors import TileworkError
from tilework.plugins.packages import folders_of, member_of, tree_folders
from tilework.runtime.devices.base import Linked


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any = None) -> Linked:
    """The function `entry` of pieces of code for `target`, with arguments and a result of these types of ctypes.

    Addresses are integers. Plugins are asked only where the tree has no device for that kind of target.
    """
    kind = target.split()[0]
    part = f"runtime/devices/{kind}"
    for folder in tree_folders(part) or folders_of(part):
        return member_of(folder.load("device"), "link")(objects, target, entry, types, result)
    return _Held(kind)


@dataclass(frozen=True)
class _Held:
    """Code that nothing here can load."""

    kind: str

    def code(self) -> NoReturn:
        """It is refused."""
        raise TileworkError(
            f"nothing here runs code for targets of kind '{self.kind}': it is for another machine, or for a plugin "
            "that is not loaded"
        )
