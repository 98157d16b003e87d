"""Conversions between numbers of different types, and of the same bits."""

from __future__ import annotations

from xdsl.dialects import vector
from xdsl.ir import Operation, SSAValue

from tilework.backends.c_family.emitter import Emitter, Handler, Handlers
from tilework.backends.c_family.forms import Form, form_of
from tilework.backends.c_family.halves import is_of_16_bits, narrowed, narrowed_double, widened
from tilework.dialects import arith
from tilework.dialects.support.shapes import is_narrow


def _truncate(e: Emitter, op: arith.TruncFOp) -> None:
    form, text = e.form(op.input), e.get(op.input)
    if not is_of_16_bits(op.result.type):
        e.define(op.result, e.c.converted(form, e.form(op.result), text))
    elif form.kind == "f64":
        e.define(op.result, narrowed_double(e.c, op.result.type, form, text))
    else:
        e.define(op.result, narrowed(e.c, op.result.type, *_as_float(e, op.input)))


def _extend(e: Emitter, op: arith.ExtFOp) -> None:
    form, text = _as_float(e, op.input)
    if is_of_16_bits(op.result.type):
        e.define(op.result, narrowed(e.c, op.result.type, form, text))  # a bfloat16 that is made a half, or the same
    else:
        e.define(op.result, e.c.converted(form, e.form(op.result), text))


def _as_float(e: Emitter, value: SSAValue) -> tuple[Form, str]:
    """A number that C computes with."""
    form, text = e.form(value), e.get(value)
    if not is_of_16_bits(value.type):
        return form, text
    wide = form.of("f32")
    return wide, e.value(wide, widened(e.c, value.type, form, text))


def _integer_to_float(*, signed: bool) -> Handler:
    def emit(e: Emitter, op: Operation) -> None:
        value, result = op.operands[0], op.results[0]
        form, text = _integer(e, value, signed=signed)
        if not is_of_16_bits(result.type):
            e.define(result, e.c.converted(form, e.form(result), text))
            return
        wide = e.form(result).of("f32")
        e.define(result, narrowed(e.c, result.type, wide, e.value(wide, e.c.converted(form, wide, text))))

    return emit


def _float_to_integer(*, signed: bool) -> Handler:
    """What does not fit the integer type becomes some number of it."""

    def emit(e: Emitter, op: Operation) -> None:
        value, result = op.operands[0], op.results[0]
        source, text = _as_float(e, value)
        form = e.form(result)
        target = form if signed else form.of("u")
        converted = e.c.converted(source, target, text)
        _define_integer(e, result, target, converted)

    return emit


def _widen(*, signed: bool) -> Handler:
    def emit(e: Emitter, op: Operation) -> None:
        result = op.results[0]
        form, text = _integer(e, op.operands[0], signed=signed)
        target = e.form(result) if form.kind[0] == "i" else e.form(result).of("u")
        _define_integer(e, result, target, e.c.converted(form, target, text))

    return emit


def _integer(e: Emitter, value: SSAValue, *, signed: bool) -> tuple[Form, str]:
    """An integer to be read with its sign, or without one. A boolean is 1 without; with a sign, its only bit, -1."""
    form, text = e.form(value), e.get(value)
    if e.is_mask(value):
        return form, text if signed else f"(-{text})"
    if form.kind == "bool":
        return Form("i8"), f"(int8_t)-{text}" if signed else f"(int8_t){text}"
    if signed:
        return form, text
    if is_narrow(value.type):
        return form, e.value(form, f"{text} & {e.c.number(form, 15)}")
    unsigned = form.of("u")
    return unsigned, e.value(unsigned, e.c.reinterpreted(form, unsigned, text))


def _define_integer(e: Emitter, result: SSAValue, form: Form, text: str) -> None:
    """Let a result be an integer that is computed in a form of as many bits, of which it may have half."""
    own = e.form(result)
    if form != own:
        text = e.c.reinterpreted(form, own, e.value(form, text))
    e.define(result, _in_four_bits(e, own, e.value(own, text)) if is_narrow(result.type) else text)


def _in_four_bits(e: Emitter, form: Form, text: str) -> str:
    """The low half of a byte as a number with a sign."""
    unsigned = form.of("u")
    upper = e.value(form, e.c.narrow(form, unsigned.kind, f"{e.c.reinterpreted(form, unsigned, text)} << 4"))
    return e.c.narrow(form, form.kind, f"{upper} >> 4")


def _narrow(e: Emitter, op: arith.TruncIOp) -> None:
    form, text = e.form(op.input), e.get(op.input)
    if e.is_mask(op.result):
        last = f"({text} & {e.c.number(form, 1)})"
        e.define(op.result, f"-{last}", form)
    elif e.form(op.result).kind == "bool":
        e.define(op.result, f"{text} & 1")
    else:
        _define_integer(e, op.result, e.form(op.result), e.c.converted(form, e.form(op.result), text))


def _index_cast(e: Emitter, op: arith.IndexCastOp) -> None:
    """Convert to or from 64 bits, signed."""
    form, text = _integer(e, op.input, signed=True)
    if form.lanes is None and e.form(op.result).kind == "bool":
        e.define(op.result, f"{text} & 1")
    else:
        _define_integer(e, op.result, e.form(op.result), e.c.converted(form, e.form(op.result), text))


def _bitcast(e: Emitter, op: Operation) -> None:
    value, result = op.operands[0], op.results[0]
    if e.is_mask(value) or e.form(value) == form_of(result.type):
        e.same(result, value)
    else:
        e.define(result, e.c.reinterpreted(e.form(value), form_of(result.type), e.get(value)))


CONVERSION_HANDLERS: Handlers = {
    arith.TruncFOp: _truncate,
    arith.ExtFOp: _extend,
    arith.SIToFPOp: _integer_to_float(signed=True),
    arith.UIToFPOp: _integer_to_float(signed=False),
    arith.FPToSIOp: _float_to_integer(signed=True),
    arith.FPToUIOp: _float_to_integer(signed=False),
    arith.ExtSIOp: _widen(signed=True),
    arith.ExtUIOp: _widen(signed=False),
    arith.TruncIOp: _narrow,
    arith.IndexCastOp: _index_cast,
    arith.BitcastOp: _bitcast,
    vector.BitcastOp: _bitcast,
}
