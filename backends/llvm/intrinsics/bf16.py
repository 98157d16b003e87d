"""Numbers of bfloat16: an instruction that rounds, where the target has one for so many lanes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation

from tilework.backends.element_types import lanes_of
from tilework.backends.llvm.bfloat16 import narrow_float
from tilework.backends.llvm.emitter import Emitter, Handler
from tilework.backends.llvm.llvm_types import constant, splat, suffix, vector_text
from tilework.dialects.loop import CallIntrinsicOp


def _round(e: Emitter, op: CallIntrinsicOp) -> None:
    """By an instruction where the machine has one for so many lanes; else what is small is made zero, and rounded."""
    lanes, x, value = lanes_of(op.arguments[0].type), e.get(op.arguments[0]), e.text.value
    single = e.type(op.arguments[0])
    if lanes in (8, 16) and e.module.target.has("avx512bf16"):
        bfloat = vector_text("bfloat", lanes)
        rounded = value(f"call {bfloat} @llvm.x86.avx512bf16.cvtneps2bf16.{32 * lanes}({single} {x})")
        e.define(op.result, f"bitcast {bfloat} {rounded} to {e.type(op.result)}")
        return
    kind, number = suffix(op.arguments[0].type, op), partial(_number, lanes)
    size = value(f"call {single} @llvm.fabs.{kind}({single} {x})")
    zero = value(f"call {single} @llvm.copysign.{kind}({single} {number(0.0)}, {single} {x})")
    is_small = value(f"fcmp olt {single} {size}, {number(float(np.finfo(np.float32).tiny))}")
    kept = value(f"select {vector_text('i1', lanes)} {is_small}, {single} {zero}, {single} {x}")
    narrow_float(e, op.result, kept)


def _number(lanes: int | None, x: float) -> str:
    return constant(x, f32) if lanes is None else splat("float", constant(x, f32))


HANDLERS: Mapping[str | type[Operation], Handler] = {"bf16.round": _round}
