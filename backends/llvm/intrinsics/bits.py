"""Products of bits: the bits that words have in common are counted in bytes, and instructions for products of bytes sum
the counts up, each times a power of two; words are counted whole where that takes less time."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tilework.backends.element_types import lanes_of
from tilework.backends.llvm.emit_integers import INTEGER_HANDLERS
from tilework.backends.llvm.emitter import Emitter, Handler
from tilework.backends.llvm.llvm_types import splat, suffix
from tilework.backends.llvm.product_terms import Term, terms_around
from tilework.dialects import arith
from tilework.dialects.loop import CallIntrinsicOp
from tilework.dialects.support.bits import DOT, WORD
from tilework.dialects.support.words import BYTES

_MOST_SHIFT = 6
"""A count is shifted by no more than this, as a factor: 64 is the largest power of two among bytes with a sign."""

_PAIRS = {
    128: ("ssse3", "ssse3.pmadd.ub.sw.128", "sse2.pmadd.wd"),
    256: ("avx2", "avx2.pmadd.ub.sw", "avx2.pmadd.wd"),
    512: ("avx512bw", "avx512.pmaddubs.w.512", "avx512.pmaddw.d.512"),
}
"""A vector of x86 of so many bits needs this extension to multiply bytes and add pairs of products; the first
instruction does that, and the second one does it with the sums."""


def _dot(e: Emitter, op: CallIntrinsicOp) -> None:
    if not terms_around(e, op).is_in_sum(op):
        e.set(op.result, counted(e, Term(op, 0), None))


def _shift(e: Emitter, op: arith.ShLIOp) -> None:
    """A shift of a count that is added is a factor of its bytes."""
    if not terms_around(e, op).is_in_sum(op):
        INTEGER_HANDLERS[arith.ShLIOp](e, op)


def counted(e: Emitter, term: Term, start: str | None) -> str:
    """How many bits two words have in common, shifted; added to `start` if there is one."""
    op, value = term.product, e.text.value
    type_, lanes = e.type(op.result), lanes_of(op.result.type)
    x, w = (e.get(v) for v in op.arguments)
    both = value(f"and {type_} {x}, {w}")
    if lanes is not None and term.shift <= _MOST_SHIFT and _counts_bytes(e, lanes):
        return _sum_of_bytes(e, both, lanes, 1 << term.shift, start)
    count = value(f"call {type_} @llvm.ctpop.{suffix(op.result.type, op)}({type_} {both})")
    if term.shift:
        shift = str(term.shift) if lanes is None else splat("i32", str(term.shift))
        count = value(f"shl {type_} {count}, {shift}")
    return count if start is None else value(f"add {type_} {start}, {count}")


def _counts_bytes(e: Emitter, lanes: int) -> bool:
    """Whether bits of bytes are counted, and the counts summed up, in less time than those of words are.

    A core that takes the widest vectors in halves has half as many places for counts and products as for sums.
    """
    target, bits = e.module.target, WORD.bitwidth * lanes
    if target.architecture == "aarch64":
        return lanes == 4 and target.has("dotprod")
    if target.has("avx512vpopcntdq") and (target.machine.core.halves_widest or not target.has("avx512bitalg")):
        return False
    return bits in _PAIRS and target.has(_PAIRS[bits][0])


def _sum_of_bytes(e: Emitter, both: str, lanes: int, factor: int, start: str | None) -> str:
    """The bits of each word, counted byte by byte, times a factor; added to `start`."""
    bits, count, value = WORD.bitwidth * lanes, BYTES * lanes, e.text.value
    words, halves, octets = f"<{lanes} x i32>", f"<{count // 2} x i16>", f"<{count} x i8>"
    single = value(f"call {octets} @llvm.ctpop.v{count}i8({octets} {value(f'bitcast {words} {both} to {octets}')})")
    factors = splat("i8", str(factor))
    if e.module.target.architecture == "aarch64":
        name, before = f"llvm.aarch64.neon.udot.v{lanes}i32.v{count}i8", start or "zeroinitializer"
        e.module.declare(name, f"declare {words} @{name}({words}, {octets}, {octets})")
        return value(f"call {words} @{name}({words} {before}, {octets} {single}, {octets} {factors})")
    if bits <= e.module.target.dot_bits:
        name, before = f"llvm.x86.avx512.vpdpbusd.{bits}", start or "zeroinitializer"
        e.module.declare(name, f"declare {words} @{name}({words}, {words}, {words})")
        counts = value(f"bitcast {octets} {single} to {words}")
        powers = splat("i32", str(factor * 0x01010101))
        return value(f"call {words} @{name}({words} {before}, {words} {counts}, {words} {powers})")
    _, multiply, add = _PAIRS[bits]
    multiply, add = f"llvm.x86.{multiply}", f"llvm.x86.{add}"
    e.module.declare(multiply, f"declare {halves} @{multiply}({octets}, {octets})")
    e.module.declare(add, f"declare {words} @{add}({halves}, {halves})")
    pairs = value(f"call {halves} @{multiply}({octets} {single}, {octets} {factors})")
    total = value(f"call {words} @{add}({halves} {pairs}, {halves} {splat('i16', '1')})")
    return total if start is None else value(f"add {words} {start}, {total}")


HANDLERS: Mapping[str | type[Operation], Handler] = {DOT: _dot, arith.ShLIOp: _shift}
