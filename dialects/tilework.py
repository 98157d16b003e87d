"""What no level has for itself: the memory of a device, as the memory space of buffers of the host function."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition


@irdl_attr_definition
class DeviceAttr(ParametrizedAttribute):
    """`#tilework.device<"npu0">`: the memory of the device that `tilework.targets` names so."""

    name = "tilework.device"
    device: StringAttr

    def __init__(self, device: str):
        super().__init__(StringAttr(device))


def device_of_buffer(type_: Attribute) -> str | None:
    """The device in whose memory buffers of a type lie; None for the host's."""
    if isinstance(type_, MemRefType) and isinstance(type_.memory_space, DeviceAttr):
        return type_.memory_space.device.data
    return None


Tilework = Dialect("tilework", [], [DeviceAttr])
