"""What loads code for a kind of target: `runtime/devices/<kind>/device.py`, in the tree or in a plugin.

The file has a function `link` that is called as `link` here is.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from tilework.algebra.errors import TileworkError
from tilework.plugins.packages import folders_of, tree_folders
from tilework.runtime.devices.base import Linked


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any = None) -> Linked:
    """The function `entry` of pieces of code for `target`, with arguments and a result of these types of ctypes.

    Addresses are integers. Raises TileworkError where nothing loads code for that kind of target.
    """
    kind = target.split()[0]
    return _device_for(kind).link(objects, target, entry, types, result)


def _device_for(kind: str) -> ModuleType:
    """The module that loads such code. Plugins are asked for only where the tree has none."""
    part = f"runtime/devices/{kind}"
    for folder in tree_folders(part) or folders_of(part):
        return folder.load("device")
    raise TileworkError(f"nothing here loads code for targets of kind '{kind}': load the plugin that it was made with")
