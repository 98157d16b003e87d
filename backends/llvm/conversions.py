"""The functions that LLVM calls to convert half on machines without instructions for it."""

from __future__ import annotations

from xdsl.dialects.builtin import Float16Type

from tilework.backends.element_types import element_of
from tilework.backends.llvm.text import ModuleText
from tilework.dialects.loop import KernelOp

_FUNCTIONS = {
    "__truncsfhf2": """\
define weak_odr hidden half @__truncsfhf2(float %x) nounwind willreturn memory(none) {
  %bits = bitcast float %x to i32
  %size = and i32 %bits, 2147483647
  %upper = lshr i32 %size, 13
  %odd = and i32 %upper, 1
  %half = add i32 %odd, -939520001 ; the exponent as half has it, and half a unit in the last place
  %sum = add i32 %size, %half
  %normal = lshr i32 %sum, 13
  %absolute = bitcast i32 %size to float
  %shifted = fadd float %absolute, 5.000000e-01 ; leaves multiples of 2**-24
  %multiple = bitcast float %shifted to i32
  %denormal = sub i32 %multiple, 1056964608
  %is_small = icmp ult i32 %size, 947912704 ; 2**-14
  %finite = select i1 %is_small, i32 %denormal, i32 %normal
  %is_large = icmp ugt i32 %size, 1199570943 ; 65536 or more
  %bounded = select i1 %is_large, i32 31744, i32 %finite
  %nan = fcmp uno float %x, %x
  %chosen = select i1 %nan, i32 32256, i32 %bounded
  %high = lshr i32 %bits, 16
  %sign = and i32 %high, 32768
  %signed = or i32 %sign, %chosen
  %short = trunc i32 %signed to i16
  %result = bitcast i16 %short to half
  ret half %result
}
""",
    "__extendhfsf2": """\
define weak_odr hidden float @__extendhfsf2(half %x) nounwind willreturn memory(none) {
  %short = bitcast half %x to i16
  %bits = zext i16 %short to i32
  %size = and i32 %bits, 32767
  %placed = shl i32 %size, 13
  %tiny = bitcast i32 %placed to float
  %scaled = fmul float %tiny, 0x46F0000000000000 ; 2**112, so much the exponents differ
  %finite = bitcast float %scaled to i32
  %infinite = or i32 %placed, 2139095040
  %quiet = or i32 %infinite, 4194304
  %is_nan = icmp ugt i32 %size, 31744
  %special = select i1 %is_nan, i32 %quiet, i32 %infinite
  %is_finite = icmp ult i32 %size, 31744
  %chosen = select i1 %is_finite, i32 %finite, i32 %special
  %negative = and i32 %bits, 32768
  %sign = shl i32 %negative, 16
  %signed = or i32 %sign, %chosen
  %result = bitcast i32 %signed to float
  ret float %result
}
""",
}
"""Name -> definition; what is rounded is rounded to nearest, ties to even."""


def define_conversions(module: ModuleText, kernel: KernelOp) -> None:
    """Define the functions where a kernel computes with half and the target needs them."""
    if module.target.has("f16c"):
        return
    if any(isinstance(element_of(value.type), Float16Type) for op in kernel.walk() for value in op.results):
        for name, text in _FUNCTIONS.items():
            module.define_once(name, lambda text=text: text)
