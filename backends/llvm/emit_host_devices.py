"""What the host function asks of other devices: to run kernels, to copy, to wait; by the functions in their tables."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.ir import SSAValue

from tilework.backends.device_copies import copy_asked
from tilework.backends.llvm.emit_host_memory import HostEmitter, copy, size_text
from tilework.backends.llvm.emitter import Handlers
from tilework.dialects.loop import CallOp, WaitOp
from tilework.runtime.manifest import DeviceKernel

_FIELDS = ("self", "launch", "copy_in", "copy_out", "wait", "arena")
"""Those of `runtime/devices/table.py`, each a pointer."""


def arena_of(e: HostEmitter, device: str) -> str:
    """The memory for temporaries of a device."""
    return _field(e, device, "arena")


def launch(e: HostEmitter, op: CallOp) -> None:
    """Let the device in whose memory the buffers are run a kernel; it may still run when the function goes on."""
    device = op.device
    assert device is not None
    given = [*op.inputs, *op.outputs, *op.scratch]
    kernel = DeviceKernel(op.kernel_name, len(given), len(op.symbol_values))
    kernels = e.launched.setdefault(device, [])
    if kernel not in kernels:
        kernels.append(kernel)
    buffers, symbols = _table(e, "ptr", given), _table(e, "i64", op.symbol_values)
    arguments = f"i32 {kernels.index(kernel)}, ptr {buffers}, ptr {symbols}"
    _ask(e, device, "launch", arguments, f"kernel '{op.kernel_name}' could not be run")


def _copy(e: HostEmitter, op: memref.CopyOp) -> None:
    asked = copy_asked(op)
    if asked is None:
        copy(e, op)
        return
    arguments = f"ptr {e.get(op.destination)}, ptr {e.get(op.source)}, i64 {size_text(e, op.source, op)}"
    _ask(e, *asked, arguments, "a tensor could not be copied")


def _wait(e: HostEmitter, op: WaitOp) -> None:
    _ask(e, op.device.data, "wait", "", "a kernel failed")


def _ask(e: HostEmitter, device: str, function: str, arguments: str, failure: str) -> None:
    """Call a function of a device, and return where its result is not 0."""
    address, itself = _field(e, device, function), _field(e, device, "self")
    given = f"ptr {itself}, {arguments}" if arguments else f"ptr {itself}"
    status = e.text.value(f"call i32 {address}({given})")
    e.return_unless(e.text.value(f"icmp eq i32 {status}, 0"), f"device '{device}': {failure}")


def _field(e: HostEmitter, device: str, field: str) -> str:
    place = e.devices[device] * len(_FIELDS) + _FIELDS.index(field)
    return e.text.value(f"load ptr, ptr {e.text.value(f'getelementptr ptr, ptr %devices, i64 {place}')}, align 8")


def _table(e: HostEmitter, type_: str, values: Sequence[SSAValue]) -> str:
    """An array of values in the function's frame."""
    if not values:
        return "null"
    table = e.text.entry(f"alloca [{len(values)} x {type_}], align 8", "table")
    for place, value in enumerate(values):
        slot = e.text.value(f"getelementptr {type_}, ptr {table}, i64 {place}")
        e.text.line(f"store {type_} {e.get(value)}, ptr {slot}, align 8")
    return table


DEVICE_HANDLERS: Handlers = {
    memref.CopyOp: _copy,
    WaitOp: _wait,
}
