"""Calling code many times from code: what Python takes to call anything is more than a short kernel takes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.devices.llvm.native_library import NativeLibrary
from tilework.targets.cpu.host import host_target

_NAME = "tilework_repeat"
_kept: list[NativeLibrary] = []
"""What holds the code of functions that can still be called."""


@cache
def repeater(pointers: int) -> Callable[..., None]:
    """A function that calls another one, of so many pointers and an int32, several times.

    It takes the other one's address, the pointers, the int32, and how many times.
    """
    library = NativeLibrary([compile_ir(_ir(pointers), host_target())], {})
    types = [ctypes.c_void_p] * (1 + pointers)
    entry = ctypes.CFUNCTYPE(None, *types, ctypes.c_int32, ctypes.c_int64)(library.get_function(_NAME))
    _kept.append(library)
    return entry


def _ir(pointers: int) -> str:
    arguments = ", ".join([*(f"ptr %p{i}" for i in range(pointers)), "i32 %threads"])
    return f"""
define void @{_NAME}(ptr %code, {arguments}, i64 %times) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  call void %code({arguments})
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %times
  br i1 %again, label %loop, label %end
end:
  ret void
}}
"""
