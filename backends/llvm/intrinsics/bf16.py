"""Numbers of bfloat16: instructions that round, and that multiply pairs and add, where the target has one for so many
lanes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation

from tilework.backends.element_types import lanes_of
from tilework.backends.llvm.bfloat16 import narrow_float
from tilework.backends.llvm.emit_scalar import ARITH_HANDLERS
from tilework.backends.llvm.emitter import Emitter, Handler
from tilework.backends.llvm.llvm_types import constant, splat, suffix, vector_text
from tilework.backends.llvm.product_terms import terms_around
from tilework.dialects import arith
from tilework.dialects.loop import CallIntrinsicOp
from tilework.dialects.support.bfloat16 import DOT, PAIR


def _round(e: Emitter, op: CallIntrinsicOp) -> None:
    """Round by an instruction where the machine has one for so many lanes; else what is small is made zero, and
    rounded."""
    lanes, x, value = lanes_of(op.arguments[0].type), e.get(op.arguments[0]), e.text.value
    single = e.type(op.arguments[0])
    if lanes in (8, 16) and e.module.target.has("avx512bf16") and e.module.target.has("avx512vl"):
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


def _dot(e: Emitter, op: CallIntrinsicOp) -> None:
    if not terms_around(e, op).is_in_sum(op):
        e.set(op.result, _accumulated(e, op, None))


def _add(e: Emitter, op: arith.AddfOp) -> None:
    """A sum with dot products is one instruction for each."""
    if terms_around(e, op).is_in_sum(op):
        return
    others, terms = terms_around(e, op).parts_of(op)
    if not terms:
        ARITH_HANDLERS[arith.AddfOp](e, op)
        return
    total = e.get(others[0]) if others else None
    for term in terms:
        total = _accumulated(e, term.product, total)
    assert total is not None
    e.set(op.result, total)


def _accumulated(e: Emitter, op: CallIntrinsicOp, accumulator: str | None) -> str:
    """The dot product, added to the accumulator if there is one."""
    type_, lanes = e.type(op.result), lanes_of(op.result.type)
    name = _instruction(e, lanes)
    if name is None or lanes is None:
        return _sum_of_products(e, op, accumulator)
    pairs = vector_text("bfloat", PAIR * lanes)
    factors = [e.text.value(f"bitcast {e.type(v)} {e.get(v)} to {pairs}") for v in op.arguments]
    e.module.declare(name, f"declare {type_} @{name}({type_}, {pairs}, {pairs})")
    start = _number(lanes, -0.0) if accumulator is None else accumulator  # to which -0.0 is added without a change
    arguments = ", ".join((f"{type_} {start}", *(f"{pairs} {v}" for v in factors)))
    return e.text.value(f"call {type_} @{name}({arguments})")


def _instruction(e: Emitter, lanes: int | None) -> str | None:
    """What multiplies so many pairs and adds."""
    target = e.module.target
    if lanes is None or 32 * lanes > target.bfloat16_dot_bits:
        return None
    if target.architecture == "aarch64":
        return f"llvm.aarch64.neon.bfdot.v{lanes}f32.v{PAIR * lanes}bf16" if lanes in (2, 4) else None
    return f"llvm.x86.avx512bf16.dpbf16ps.{32 * lanes}" if lanes in (4, 8, 16) else None


def _sum_of_products(e: Emitter, op: CallIntrinsicOp, total: str | None) -> str:
    """Number by number, in the order of x86's instruction."""
    words, single, lanes = e.type(op.arguments[0]), e.type(op.result), lanes_of(op.result.type)
    for place in ("and", _word(lanes, -1 << 16)), ("shl", _word(lanes, 16)):
        halves = [e.text.value(f"{place[0]} {words} {e.get(v)}, {place[1]}") for v in op.arguments]
        x, w = (e.text.value(f"bitcast {words} {half} to {single}") for half in halves)
        total = _multiplied(e, op, x, w, total)
    assert total is not None
    return total


def _multiplied(e: Emitter, op: CallIntrinsicOp, x: str, w: str, total: str | None) -> str:
    """A product, added to a sum if there is one; rounded once where an instruction does that."""
    single, value = e.type(op.result), e.text.value
    if total is not None and e.module.target.fuses:
        fma = f"@llvm.fma.{suffix(op.result.type, op)}"
        return value(f"call {single} {fma}({single} {x}, {single} {w}, {single} {total})")
    product = value(f"fmul {single} {x}, {w}")
    return product if total is None else value(f"fadd {single} {total}, {product}")


def _word(lanes: int | None, n: int) -> str:
    return str(n) if lanes is None else splat("i32", str(n))


HANDLERS: Mapping[str | type[Operation], Handler] = {"bf16.round": _round, DOT: _dot, arith.AddfOp: _add}
