"""sin, cos and tan of angles far from 0, which the C library has elsewhere: NVIDIA's devices have none.

An angle is taken modulo a quarter of a turn by multiplying it, as an integer, with those bits of 2 / pi that matter for
its exponent. Written after N. Juffa's public postings.
"""

from __future__ import annotations

from tilework.backends.elementary import VECTOR_FUNCTIONS
from tilework.backends.llvm.float_ir import FloatIR
from tilework.backends.llvm.text import ModuleText

_TWO_OVER_PI = (0, 0x28BE60DB, 0x9391054A, 0x7F09D5F4, 0x7D4D3770, 0x36D8A566, 0x4F10E410, 0x7F9458EA)
"""2 / pi in binary, from 30 bits before the point on; angles are below 2**128."""

_QUARTER = "0x3C19_21FB_5444_2D18".replace("_", "")
"""pi / 2 * 2**-62 as a double."""

_REDUCED = f"""\
define internal {{ float, i32 }} @tw.far.reduced(float %x) nounwind willreturn {{
  %bits = bitcast float %x to i32
  %size = shl i32 %bits, 8
  %mantissa = or i32 %size, -2147483648
  %shifted = lshr i32 %bits, 23
  %biased = and i32 %shifted, 255
  %exponent = sub i32 %biased, 126
  %word = lshr i32 %exponent, 5
  %shift = and i32 %exponent, 31
  %p0 = getelementptr [8 x i32], ptr addrspace(4) @tw.far.bits, i32 0, i32 %word
  %p1 = getelementptr i32, ptr addrspace(4) %p0, i32 1
  %p2 = getelementptr i32, ptr addrspace(4) %p0, i32 2
  %p3 = getelementptr i32, ptr addrspace(4) %p0, i32 3
  %w0 = load i32, ptr addrspace(4) %p0, align 4
  %w1 = load i32, ptr addrspace(4) %p1, align 4
  %w2 = load i32, ptr addrspace(4) %p2, align 4
  %w3 = load i32, ptr addrspace(4) %p3, align 4
  %high = call i32 @llvm.fshl.i32(i32 %w0, i32 %w1, i32 %shift)
  %middle = call i32 @llvm.fshl.i32(i32 %w1, i32 %w2, i32 %shift)
  %low = call i32 @llvm.fshl.i32(i32 %w2, i32 %w3, i32 %shift)
  %m = zext i32 %mantissa to i64
  %l64 = zext i32 %low to i64
  %m64 = zext i32 %middle to i64
  %last = mul i64 %m, %l64
  %carried = lshr i64 %last, 32
  %second = mul i64 %m, %m64
  %both = add i64 %second, %carried
  %top = mul i32 %mantissa, %high
  %t64 = zext i32 %top to i64
  %t = shl i64 %t64, 32
  %product = add i64 %both, %t
  %rounding = add i64 %product, 2305843009213693952
  %q64 = lshr i64 %rounding, 62
  %quarters = trunc i64 %q64 to i32
  %whole = shl i64 %q64, 62
  %rest = sub i64 %product, %whole
  %real = sitofp i64 %rest to double
  %angle = fmul double %real, {_QUARTER}
  %rounded = fptrunc double %angle to float
  %infinite = icmp eq i32 %biased, 255
  %r = select i1 %infinite, float 0x7FF8000000000000, float %rounded
  %first = insertvalue {{ float, i32 }} poison, float %r, 0
  %result = insertvalue {{ float, i32 }} %first, i32 %quarters, 1
  ret {{ float, i32 }} %result
}}
"""

_BODIES = {
    "sinf": """\
  %chosen = select i1 %odd, float %cosine, float %sine
  %turned = and i32 %quarters, 2
  %flip = shl i32 %turned, 30
  %negative = and i32 %own, -2147483648
  %sign = xor i32 %flip, %negative
""",
    "cosf": """\
  %chosen = select i1 %odd, float %sine, float %cosine
  %next = add i32 %quarters, 1
  %turned = and i32 %next, 2
  %sign = shl i32 %turned, 30
""",
    "tanf": """\
  %minus = fneg float %sine
  %over = select i1 %odd, float %cosine, float %sine
  %under = select i1 %odd, float %minus, float %cosine
  %chosen = fdiv float %over, %under
  %sign = and i32 %own, -2147483648
""",
}
"""How a function follows from the sine and the cosine of what is left of an angle, by its name in the C library."""


def define_far_angles(module: ModuleText) -> None:
    """Define those functions of the C library for angles far from 0 that a module declares."""
    for name, body in _BODIES.items():
        if module.takes_declaration(name):
            module.define_once("tw.far.bits", _bits)
            module.define_once("tw.far.reduced", lambda: _REDUCED)
            for near in ("sin", "cos"):
                module.define_once(f"tw.near.{near}", lambda near=near: _near(near))
            module.define(name, _definition(name, body))


def _bits() -> str:
    words = ", ".join(f"i32 {word}" for word in _TWO_OVER_PI)
    return f"@tw.far.bits = internal unnamed_addr addrspace(4) constant [8 x i32] [{words}], align 4\n"


def _near(name: str) -> str:
    ir = FloatIR(1)
    return ir.function(f"tw.near.{name}", ["%x"], VECTOR_FUNCTIONS[name](ir, "%x"))


def _definition(name: str, body: str) -> str:
    return f"""\
define internal float @{name}(float %x) noinline nounwind willreturn {{
  %own = bitcast float %x to i32
  %reduced = call {{ float, i32 }} @tw.far.reduced(float %x)
  %r = extractvalue {{ float, i32 }} %reduced, 0
  %quarters = extractvalue {{ float, i32 }} %reduced, 1
  %sine = call float @tw.near.sin(float %r)
  %cosine = call float @tw.near.cos(float %r)
  %odd = trunc i32 %quarters to i1
{body}  %chosen_bits = bitcast float %chosen to i32
  %signed = xor i32 %chosen_bits, %sign
  %result = bitcast i32 %signed to float
  ret float %result
}}
"""
