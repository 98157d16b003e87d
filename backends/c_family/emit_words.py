"""What `words` operations become: products of bytes, summed up."""

from __future__ import annotations

from tilework.backends.c_family.emitter import Emitter, Handlers
from tilework.backends.c_family.helper import Helper, call_helper
from tilework.dialects.isa.words import DotOp
from tilework.dialects.support.words import BYTES


def _dot(e: Emitter, op: DotOp) -> None:
    form = e.form(op.result)
    operands = [(form, e.get(op.unsigned)), (form, e.get(op.signed))]
    e.define(op.result, call_helper(e.c, "dot_of_bytes", _sum_of_products, operands, form))


def _sum_of_products(h: Helper, x: str, w: str) -> str:
    """Byte by byte; nothing overflows."""
    bits, low = h.let("u32", h.bits("i32", "u32", w), "bits"), h.number("i32", 255)
    products: list[str] = []
    for byte in range(BYTES):
        unsigned = f"(({x} >> {8 * byte}) & {low})"
        signed = f"({h.bits('u32', 'i32', f'({bits} << {24 - 8 * byte})')} >> 24)"
        products.append(h.let("i32", f"{unsigned} * {signed}", "product"))
    return " + ".join(products)


WORDS_HANDLERS: Handlers = {DotOp: _dot}
