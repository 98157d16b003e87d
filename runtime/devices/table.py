"""How the host function of a program sees a device: functions in a table, and memory.

    struct tilework_device {
      void *self;
      int32_t (*launch)(void *self, int32_t kernel, void **buffers, const int64_t *symbols);
      int32_t (*copy_in)(void *self, void *to, const void *from, int64_t bytes);
      int32_t (*copy_out)(void *self, void *to, const void *from, int64_t bytes);
      int32_t (*wait)(void *self);
      void *arena;
    };

A result other than 0 is a failure, and ends the call of the program. A device runs kernels in the order in which they
are launched, on buffers in its own memory; the arena, which holds temporaries, is there too. `copy_in` copies from the
host's memory, and has read it when it returns. `copy_out` copies to the host's memory; the program waits before it.
"""

from __future__ import annotations

import ctypes
from typing import ClassVar

LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64)
)
COPY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
WAIT = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


class DeviceTable(ctypes.Structure):
    """`struct tilework_device`."""

    _fields_: ClassVar = [
        ("self", ctypes.c_void_p),
        ("launch", LAUNCH),
        ("copy_in", COPY),
        ("copy_out", COPY),
        ("wait", WAIT),
        ("arena", ctypes.c_void_p),
    ]
