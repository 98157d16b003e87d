"""The function that LLVM calls to round a float to bfloat on machines without an instruction for it."""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type

from tilework.backends.llvm.llvm_types import element_of
from tilework.backends.llvm.text import ModuleText
from tilework.dialects.loop import KernelOp

_NAME = "__truncsfbf2"
_ROUND = f"""\
define weak_odr hidden bfloat @{_NAME}(float %x) nounwind willreturn memory(none) {{
  %bits = bitcast float %x to i32
  %upper = lshr i32 %bits, 16
  %odd = and i32 %upper, 1
  %half = add i32 %odd, 32767
  %sum = add i32 %bits, %half
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %upper, 64
  %nan = fcmp uno float %x, %x
  %chosen = select i1 %nan, i32 %quiet, i32 %rounded
  %short = trunc i32 %chosen to i16
  %result = bitcast i16 %short to bfloat
  ret bfloat %result
}}
"""


def define_rounding(module: ModuleText, kernel: KernelOp) -> None:
    """Define the function, to nearest and ties to even, where a kernel computes in bfloat."""
    if any(isinstance(element_of(value.type), BFloat16Type) for op in kernel.walk() for value in op.results):
        module.define_once(_NAME, lambda: _ROUND)
