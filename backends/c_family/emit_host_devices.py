"""What the host function asks of other devices: to run kernels, to copy, to wait; by the functions in their tables."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref

from tilework.backends.c_family.c_text import listed
from tilework.backends.c_family.emit_host_memory import HostEmitter, copy, size_text
from tilework.backends.c_family.emitter import Handlers
from tilework.backends.device_copies import copy_asked
from tilework.dialects.loop import CallOp, WaitOp
from tilework.runtime.manifest import DeviceKernel

STRUCT = "tilework_device"
DEFINITION = f"""\
struct {STRUCT} {{
  void *self;
  int32_t (*launch)(void *self, int32_t kernel, void **buffers, const int64_t *symbols);
  int32_t (*copy_in)(void *self, void *to, const void *from, int64_t bytes);
  int32_t (*copy_out)(void *self, void *to, const void *from, int64_t bytes);
  int32_t (*wait)(void *self);
  void *arena;
}};
"""
"""This is the table that `runtime/devices/table.py` explains."""


def arena_of(e: HostEmitter, device: str) -> str:
    """The memory for temporaries of a device."""
    return f"{_place(e, device)}.arena"


def launch(e: HostEmitter, op: CallOp) -> None:
    """Let the device in whose memory the buffers are run a kernel; it may still run when the function goes on."""
    device = op.device
    assert device is not None
    buffers = [f"(void *){e.get(v)}" for v in (*op.inputs, *op.outputs, *op.scratch)]
    symbols = [e.get(v) for v in op.symbol_values]
    kernel = DeviceKernel(op.kernel_name, len(buffers), len(symbols))
    kernels = e.launched.setdefault(device, [])
    if kernel not in kernels:
        kernels.append(kernel)
    given = (str(kernels.index(kernel)), _array("void *", buffers), _array("const int64_t", symbols))
    _ask(e, device, "launch", given, f"kernel '{op.kernel_name}' could not be run")


def _array(type_: str, values: Sequence[str]) -> str:
    return f"({type_}[]){{{listed(values)}}}" if values else "0"


def _copy(e: HostEmitter, op: memref.CopyOp) -> None:
    asked = copy_asked(op)
    if asked is None:
        copy(e, op)
        return
    arguments = (e.get(op.destination), e.get(op.source), size_text(e, op.source))
    _ask(e, *asked, arguments, "a tensor could not be copied")


def _wait(e: HostEmitter, op: WaitOp) -> None:
    _ask(e, op.device.data, "wait", (), "a kernel failed")


def _ask(e: HostEmitter, device: str, function: str, given: Sequence[str], failure: str) -> None:
    """Call a function of a device, and return where its result is not 0."""
    place = _place(e, device)
    e.return_unless(f"({place}.{function}({listed([f'{place}.self', *given])}) == 0)", f"device '{device}': {failure}")


def _place(e: HostEmitter, device: str) -> str:
    return f"{e.device_table}[{e.devices[device]}]"


DEVICE_HANDLERS: Handlers = {
    memref.CopyOp: _copy,
    WaitOp: _wait,
}
