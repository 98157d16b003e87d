"""bfloat16 in LLVM IR: an i16 that holds the upper half of a float. Only conversions read it as a number.

LLVM has a type for it, but code for most processors takes vectors of that apart, element by element, and calls a
function to round each.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilework.backends.element_types import lanes_of
from tilework.backends.llvm.emitter import Emitter
from tilework.backends.llvm.llvm_types import splat, vector_text
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.bfloat16 import computes_in_bfloat16
from tilework.dialects.support.diagnostics import CompileError


def widened(e: Emitter, narrow: SSAValue) -> str:
    """A bfloat16, or a vector of such, as float."""
    lanes = lanes_of(narrow.type)
    bits = vector_text("i32", lanes)
    upper = e.text.value(f"zext {e.type(narrow)} {e.get(narrow)} to {bits}")
    pattern = e.text.value(f"shl {bits} {upper}, {_number(16, lanes)}")
    return e.text.value(f"bitcast {bits} {pattern} to {vector_text('float', lanes)}")


def narrow_float(e: Emitter, result: SSAValue, x: str) -> None:
    """Let a bfloat16, or a vector of such, be what floats are rounded to: to nearest, ties to even.

    In integers, which is what LLVM makes of it for processors of Arm without an instruction; that of x86, which some of
    its processors have, makes 0 of the smallest numbers.
    """
    lanes = lanes_of(result.type)
    single, bits, value = vector_text("float", lanes), vector_text("i32", lanes), e.text.value
    if e.module.target.has("bf16"):  # as Arm calls it
        bfloat = vector_text("bfloat", lanes)
        e.define(result, f"bitcast {bfloat} {value(f'fptrunc {single} {x} to {bfloat}')} to {e.type(result)}")
        return
    pattern = value(f"bitcast {single} {x} to {bits}")
    odd = value(f"and {bits} {value(f'lshr {bits} {pattern}, {_number(16, lanes)}')}, {_number(1, lanes)}")
    half = value(f"add {bits} {odd}, {_number(0x7FFF, lanes)}")
    rounded = value(f"add {bits} {pattern}, {half}")
    quiet = value(f"or {bits} {pattern}, {_number(0x400000, lanes)}")
    is_nan = value(f"fcmp uno {single} {x}, {x}")
    chosen = value(f"select {vector_text('i1', lanes)} {is_nan}, {bits} {quiet}, {bits} {rounded}")
    e.define(result, f"trunc {bits} {value(f'ashr {bits} {chosen}, {_number(16, lanes)}')} to {e.type(result)}")


def refuse_arithmetic(kernel: KernelOp) -> None:
    """Raise CompileError, about the operation, for one that computes with bfloat16 itself."""
    for op in kernel.walk():
        if computes_in_bfloat16(op):
            raise CompileError(f"'{op.name}' computes with bf16: run loop-widen-bfloat16 before", op)


def _number(n: int, lanes: int | None) -> str:
    return str(n) if lanes is None else splat("i32", str(n))
