"""Dot products of bytes: an instruction that multiplies bytes and adds, where the target has one; and sums of products
of words."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tilework.backends.element_types import lanes_of
from tilework.backends.llvm.emit_scalar import ARITH_HANDLERS
from tilework.backends.llvm.emitter import Emitter, Handler
from tilework.backends.llvm.intrinsics.bits import counted
from tilework.backends.llvm.llvm_types import splat
from tilework.backends.llvm.product_terms import terms_around
from tilework.dialects import arith
from tilework.dialects.loop import CallIntrinsicOp
from tilework.dialects.support.words import BYTES, DOT, WORD

_LANES = (4, 8, 16)
"""The lanes of vectors that there are such instructions for."""


def _dot(e: Emitter, op: CallIntrinsicOp) -> None:
    if not terms_around(e, op).is_in_sum(op):
        e.set(op.result, _accumulated(e, op, None))


def _add(e: Emitter, op: arith.AddiOp) -> None:
    """A sum with products of bytes or bits is one instruction for each."""
    if terms_around(e, op).is_in_sum(op):
        return
    others, terms = terms_around(e, op).parts_of(op)
    if not terms:
        ARITH_HANDLERS[arith.AddiOp](e, op)
        return
    total = e.get(others[0]) if others else None
    for term in terms:
        if term.product.intrinsic == DOT:
            total = _accumulated(e, term.product, total)
        else:
            total = counted(e, term, total)
    assert total is not None
    e.set(op.result, total)


def _accumulated(e: Emitter, op: CallIntrinsicOp, accumulator: str | None) -> str:
    """The product, added to the accumulator if there is one."""
    type_, lanes = e.type(op.result), lanes_of(op.result.type)
    start = "zeroinitializer" if accumulator is None else accumulator
    bits = WORD.bitwidth * (lanes or 1)
    if lanes not in _LANES or bits > e.module.target.dot_bits:
        return _sum_of_products(e, op, start)
    factors = [e.get(v) for v in op.arguments]
    # x86's are declared of words, which LLVM's younger versions understand: there, they are of bytes
    name, parts = f"llvm.x86.avx512.vpdpbusd.{bits}", type_
    if e.module.target.architecture == "aarch64":
        name, parts = f"llvm.aarch64.neon.usdot.v{lanes}i32.v{BYTES * lanes}i8", f"<{BYTES * lanes} x i8>"
        factors = [e.text.value(f"bitcast {type_} {v} to {parts}") for v in factors]
    e.module.declare(name, f"declare {type_} @{name}({type_}, {parts}, {parts})")
    arguments = ", ".join((f"{type_} {start}", *(f"{parts} {v}" for v in factors)))
    return e.text.value(f"call {type_} @{name}({arguments})")


def _sum_of_products(e: Emitter, op: CallIntrinsicOp, start: str) -> str:
    """Write the sum of products byte by byte."""
    type_, lanes, value = e.type(op.result), lanes_of(op.result.type), e.text.value
    unsigned, signed = (e.get(v) for v in op.arguments)
    total = "0" if start == "zeroinitializer" and lanes is None else start

    def number(n: int) -> str:
        return str(n) if lanes is None else splat("i32", str(n))

    for byte in range(BYTES):
        x = value(f"and {type_} {value(f'lshr {type_} {unsigned}, {number(8 * byte)}')}, {number(255)}")
        top = value(f"shl {type_} {signed}, {number(24 - 8 * byte)}")
        product = value(f"mul {type_} {x}, {value(f'ashr {type_} {top}, {number(24)}')}")
        total = value(f"add {type_} {total}, {product}")
    return total


HANDLERS: Mapping[str | type[Operation], Handler] = {DOT: _dot, arith.AddiOp: _add}
