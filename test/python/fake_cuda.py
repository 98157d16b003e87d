"""A library that answers as NVIDIA's driver does: the device's memory is the host's, and kernels are Python functions.

It shows what the driver is asked for, in which order and with which arguments, on machines without a device.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

Kernel = Callable[[list[int], tuple[int, ...], tuple[int, ...]], None]
"""What a kernel does with its arguments, on so many blocks of so many threads."""


class FakeCuda:
    """kernels: by name. Each function of the driver appends its name to `calls`."""

    def __init__(self, kernels: dict[str, Kernel], memory: int = 1 << 30):
        self.kernels, self.memory = kernels, memory
        self.calls: list[str] = []
        self.sources: list[str] = []
        self.names: list[str] = []
        self.blocks: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Callable[..., int]:
        function = getattr(self, f"_{name}", None) if name.startswith("cu") else None
        if function is None and not name.startswith("cu"):
            raise AttributeError(name)

        def called(*arguments: Any) -> int:
            self.calls.append(name)
            return (function(*arguments) if function is not None else None) or 0

        return called

    @staticmethod
    def _set(pointer: Any, value: int) -> None:
        pointer._obj.value = value

    def _cuStreamCreate(self, stream: Any, flags: Any) -> None:
        self._set(stream, 7)

    def _cuDeviceGetAttribute(self, value: Any, attribute: Any, device: Any) -> None:
        self._set(value, {75: 8, 76: 0}[attribute.value])

    def _cuGetErrorString(self, code: Any, text: Any) -> None:
        self._set(text, b"out of memory" if code.value == 2 else b"invalid ptx")

    def _cuModuleLoadDataEx(self, module: Any, source: bytes, *options: Any) -> int:
        self.sources.append(source.decode())
        self._set(module, len(self.sources))
        return 218 if b"broken" in source else 0

    def _cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> None:
        self.names.append(name.decode())
        self._set(function, len(self.names))

    def _cuMemAlloc_v2(self, address: Any, size: Any) -> int:
        if size.value > self.memory:
            return 2
        block = (ctypes.c_uint8 * size.value)()
        self._set(address, ctypes.addressof(block))
        self.blocks[ctypes.addressof(block)] = block
        return 0

    def _cuMemFree_v2(self, address: Any) -> None:
        del self.blocks[address.value]

    def _cuMemcpyHtoDAsync_v2(self, to: Any, source: Any, count: Any, stream: Any) -> None:
        ctypes.memmove(to.value, source.value, count.value)

    _cuMemcpyDtoHAsync_v2 = _cuMemcpyHtoDAsync_v2

    def _cuLaunchKernel(self, function: Any, *rest: Any) -> None:
        sizes = tuple(size.value for size in rest[:6])
        _, stream, arguments, _ = rest[6:]
        assert stream.value == 7
        values = [ctypes.c_int64.from_address(argument).value for argument in arguments]
        self.kernels[self.names[function.value - 1]](values, sizes[:3], sizes[3:])

    def _cuEventElapsedTime(self, milliseconds: Any, start: Any, end: Any) -> None:
        self._set(milliseconds, 2.5)
