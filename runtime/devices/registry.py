"""What loads code for a kind of target: `runtime/devices/<kind>/device.py`, in the tree or in a plugin.

The file has a function `link` that is called as `link` here is. It may have `support_code`, which says what an artefact
brings besides its own code so that this is loaded without a compiler; `link` is given that as `support` then. It may
have `open_device` too, for a device that programs of the host launch kernels on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NoReturn

from tilework.algebra.errors import TileworkError
from tilework.plugins.packages import folders_of, member_of, tree_folders
from tilework.runtime.devices.base import Linked
from tilework.runtime.devices.device import Device, InProcessDevice, kernel_types
from tilework.runtime.manifest import DeviceUse


def link(
    objects: Sequence[bytes],
    target: str,
    entry: str,
    types: Sequence[Any],
    result: Any = None,
    support: bytes | None = None,
) -> Linked:
    """The function `entry` of pieces of code for `target`, with arguments and a result of these types of ctypes.

    Addresses are integers. support: what `support_code` gave when the code was made, if it is at hand. Code that
    nothing here loads is held; to call it is refused.
    """
    module = _module_for(target)
    if module is None:
        return _Held(target)
    brought = {"support": support} if support is not None and hasattr(module, "support_code") else {}
    return member_of(module, "link")(objects, target, entry, types, result, **brought)


def support_code(target: str) -> bytes:
    """What an artefact with code for a target brings besides."""
    found = getattr(_module_for(target), "support_code", None)
    return b"" if found is None else found(target)


def open_device(use: DeviceUse, code: Mapping[str, bytes]) -> Device:
    """A device of a program; code: of its kernels, by name.

    The kind's file may have a function `open_device` that is called so; else kernels run in this process. Raises
    TileworkError where nothing loads code for that kind of target.
    """
    module = _module_for(use.target)
    if module is None:
        _Held(use.target).code()
    opened = getattr(module, "open_device", None)
    if opened is not None:
        return opened(use, code)
    kernels = {k.name: link([code[k.name]], use.target, k.name, kernel_types(k)) for k in use.kernels}
    return InProcessDevice(use, kernels)


def _module_for(target: str) -> ModuleType | None:
    """The module that loads code for a target. Plugins are asked for only where the tree has none."""
    part = f"runtime/devices/{target.split()[0]}"
    folders = [f for f in tree_folders(part) or folders_of(part) if "device" in f.modules()]
    return folders[0].load("device") if folders else None


@dataclass(frozen=True)
class _Held:
    """Code that nothing here can load."""

    target: str

    def code(self) -> NoReturn:
        """Refuse the code: it cannot run here."""
        raise TileworkError(
            f"nothing here runs code for targets of kind '{self.target.split()[0]}': it is for another machine, or for "
            "a plugin that is not loaded"
        )
