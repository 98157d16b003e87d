"""Integers: they wrap around, and division and shifts are defined for all operands, as C's operators are not.

Processors stop a program that divides by 0, or the least integer by -1, and compilers take it that this never happens;
a shift too far is anything. Where an operand may be one of these, the operator gets another one, and the result is
chosen afterwards. Where the divisor or the distance is known to be none of these, the operator stands alone.
"""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from tilework.analysis.known_numbers import constants_of, may_be
from tilework.backends.c_family.emit_arith import define_comparison
from tilework.backends.c_family.emitter import Emitter, Handler, Handlers
from tilework.backends.c_family.forms import Form
from tilework.backends.c_family.helper import Helper, Write, call_helper
from tilework.backends.element_types import element_of
from tilework.dialects import arith

_BITWISE_ON_BOOLEANS = {"+": "^", "-": "^", "*": "&"}
"""Sums, differences and products of numbers of one bit are these operations on the bits."""


def _wrapping(operator: str) -> Handler:
    def emit(e: Emitter, op: Operation) -> None:
        a, b = op.operands
        if _is_boolean(e, a):
            _on_booleans(e, op, _BITWISE_ON_BOOLEANS[operator])
        elif isinstance(element_of(a.type), IndexType):
            e.define(op.results[0], f"{e.get(a)} {operator} {e.get(b)}")  # an index never overflows
        else:
            e.define(op.results[0], e.c.wrapped(e.form(a), operator, e.get(a), e.get(b)))

    return emit


def _bitwise(operator: str) -> Handler:
    def emit(e: Emitter, op: Operation) -> None:
        a, b = op.operands
        if _is_boolean(e, a):
            _on_booleans(e, op, operator)
        else:
            form = e.form(a)
            e.define(op.results[0], e.c.narrow(form, form.kind, f"{e.get(a)} {operator} {e.get(b)}"))

    return emit


def _is_boolean(e: Emitter, value: SSAValue) -> bool:
    return e.is_mask(value) or e.form(value).kind == "bool"


def _on_booleans(e: Emitter, op: Operation, operator: str) -> None:
    """Combine booleans; the result for vectors is as wide as the first operand."""
    a, b = op.operands
    form = e.form(a)
    if not e.is_mask(a):
        e.define(op.results[0], f"{e.get(a)} {operator} {e.get(b)}")
    else:
        e.define(op.results[0], f"{e.get(a)} {operator} {e.mask(b, form)}", form)


def _extreme(relation: str, *, signed: bool) -> Handler:
    """The greater or the lesser of two integers."""

    def emit(e: Emitter, op: Operation) -> None:
        a, b = op.operands
        form, first, second = e.form(a), e.get(a), e.get(b)
        x, y = (first, second) if signed else (e.c.reinterpreted(form, form.of("u"), t) for t in (first, second))
        e.define(op.results[0], e.c.selected(form, f"({x} {relation} {y})", first, second))

    return emit


def _compare(e: Emitter, op: arith.CmpiOp) -> None:
    predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    if _is_boolean(e, op.lhs):
        _compare_booleans(e, op, predicate)
        return
    form, a, b = e.form(op.lhs), e.get(op.lhs), e.get(op.rhs)
    if predicate[0] == "u":
        a, b = (e.c.reinterpreted(form, form.of("u"), t) for t in (a, b))
    relation = predicate if predicate in ("eq", "ne") else predicate[1:]
    define_comparison(e, op.result, form, e.c.compared(form, relation, a, b))


def _compare_booleans(e: Emitter, op: arith.CmpiOp, predicate: str) -> None:
    """Compare numbers of one bit. A signed one is -1 where the bit is set; what is true in a vector is -1 already."""
    form, a, b = e.form(op.lhs), e.get(op.lhs), e.get(op.rhs)
    relation = predicate if predicate in ("eq", "ne") else predicate[1:]
    if form.lanes is not None:
        b = e.mask(op.rhs, form)
    if predicate[0] == ("s" if form.lanes is None else "u"):
        a, b = b, a
    define_comparison(e, op.result, form if form.lanes is not None else Form("i32"), e.c.compared(form, relation, a, b))


# -- division


def _division(operator: str, *, signed: bool, rounds_down: bool = False) -> Handler:
    """A handler of a quotient or a remainder. Of 0 and of -1 a remainder is what is left by 1: nothing."""

    def emit(e: Emitter, op: Operation) -> None:
        dividend, divisor = op.operands
        form = e.form(dividend)
        kind = form.kind if signed else form.of("u").kind
        a, b = (e.c.reinterpreted(form, form.of(kind), e.get(v)) for v in (dividend, divisor))
        undefined = tuple(n for n in ((0, -1) if signed else (0,)) if may_be(divisor, n, op))
        name, write = _divide(operator, kind, undefined, rounds_down=rounds_down)
        operands = [(form.of(kind), a), (form.of(kind), b)]
        if undefined or rounds_down:
            text = call_helper(e.c, f"{name}_{kind}", write, operands, form.of(kind))
        else:
            text = f"{a} {operator} {b}"
        e.define(op.results[0], e.c.narrow(form, kind, text))

    return emit


def _divide(operator: str, kind: str, undefined: tuple[int, ...], *, rounds_down: bool) -> tuple[str, Write]:
    """The name of a function that divides by what may be one of some numbers, and what writes it."""
    word = "floor_quotient" if rounds_down else "quotient" if operator == "/" else "remainder"
    name = word + "".join({0: "_by_0", -1: "_by_minus_1"}[n] for n in undefined)

    def write(h: Helper, a: str, b: str) -> str:
        zero, one = h.number(kind, 0), h.number(kind, 1)
        either = " || " if h.lanes is None else " | "
        equal = [
            h.condition(kind, f"{b} == {h.number(kind, n)}", "by_zero" if n == 0 else "by_minus_one") for n in undefined
        ]
        divisor = b
        if equal:
            is_any = f"({either.join(equal)})" if equal[1:] else equal[0]
            divisor = h.let(kind, h.choose(kind, is_any, one, b), "divisor")
        result = h.let(kind, f"{a} {operator} {divisor}", "result")
        if rounds_down:
            result = _rounded_down(h, kind, a, divisor, result)
        for n, condition in zip(undefined, equal, strict=True) if operator == "/" else ():
            chosen = zero if n == 0 else h.c.wrapped(h.form(kind), "-", zero, a)
            result = h.let(kind, h.choose(kind, condition, chosen, result), "result")
        return result

    return name, write


def _rounded_down(h: Helper, kind: str, a: str, divisor: str, quotient: str) -> str:
    """One less where a quotient is negative and a remainder is left."""
    zero, one = h.number(kind, 0), h.number(kind, 1)
    both = "&&" if h.lanes is None else "&"
    rest = h.let(kind, f"{a} % {divisor}", "rest")
    less = h.condition(kind, f"({rest} != {zero}) {both} (({rest} ^ {divisor}) < {zero})", "less")
    return h.let(kind, h.choose(kind, less, f"{quotient} - {one}", quotient), "rounded")


# -- shifts


def _shift(operator: str, *, signed: bool) -> Handler:
    """A handler of a shift. One too far to the right of a signed number is as far as is possible."""

    def emit(e: Emitter, op: Operation) -> None:
        shifted, distance = op.operands
        form = e.form(shifted)
        kind, unsigned = form.kind if signed else form.of("u").kind, form.of("u")
        a = e.c.reinterpreted(form, form.of(kind), e.get(shifted))
        b = e.c.reinterpreted(form, unsigned, e.get(distance))
        numbers = constants_of(distance)
        if numbers is not None and all(0 <= n < form.bits for n in numbers):
            text = f"{a} {operator} {e.c.reinterpreted(form, form.of(kind), e.get(distance))}"
        else:
            name = f"{'left' if operator == '<<' else 'right'}_shifted_{kind}"
            text = call_helper(
                e.c, name, _shifted(operator, kind, form.bits), [(form.of(kind), a), (unsigned, b)], form.of(kind)
            )
        e.define(op.results[0], e.c.narrow(form, kind, text))

    return emit


def _shifted(operator: str, kind: str, bits: int) -> Write:
    unsigned, signed = f"u{bits}", kind.startswith("i")

    def write(h: Helper, a: str, b: str) -> str:
        most = h.number(unsigned, bits - 1)
        possible = h.condition(unsigned, f"{b} <= {most}", "possible")
        distance = h.let(unsigned, h.choose(unsigned, possible, b, most), "distance")
        result = h.let(kind, f"{a} {operator} {h.bits(unsigned, kind, distance)}", "result")
        return result if signed else h.choose(kind, possible, result, h.number(kind, 0))

    return write


# -- functions of one integer


def _absolute(e: Emitter, op: math.AbsIOp) -> None:
    """The absolute value; that of the least integer is itself."""
    form, a = e.form(op.operands[0]), e.get(op.operands[0])
    opposite = e.value(form, e.c.wrapped(form, "-", e.c.number(form, 0), a))
    e.define(op.results[0], e.c.selected(form, f"({a} < {e.c.number(form, 0)})", opposite, a))


def _bits(function: str) -> Handler:
    """A handler of a function that counts bits, lane by lane."""

    def emit(e: Emitter, op: Operation) -> None:
        form, a = e.form(op.operands[0]), e.get(op.operands[0])
        unsigned = e.type_of(form.scalar.of("u"))
        wide = max(form.bits, 32)
        symbol = e.spelling.builtin.format(function) + ("ll" if wide == 64 else "")

        def call(x: str) -> str:
            counted = f"{symbol}(({unsigned}){x})"
            if function == "popcount":
                return counted
            excess = f" - {wide - form.bits}" if function == "clz" and wide != form.bits else ""
            return f"({unsigned}){x} == 0 ? {form.bits} : {counted}{excess}"

        e.define(op.results[0], e.c.by_lanes(form, f"{function}", call, a))

    return emit


INTEGER_HANDLERS: Handlers = {
    arith.AddiOp: _wrapping("+"),
    arith.SubiOp: _wrapping("-"),
    arith.MuliOp: _wrapping("*"),
    arith.AndIOp: _bitwise("&"),
    arith.OrIOp: _bitwise("|"),
    arith.XOrIOp: _bitwise("^"),
    arith.MaxSIOp: _extreme(">", signed=True),
    arith.MinSIOp: _extreme("<", signed=True),
    arith.MaxUIOp: _extreme(">", signed=False),
    arith.MinUIOp: _extreme("<", signed=False),
    arith.CmpiOp: _compare,
    arith.DivSIOp: _division("/", signed=True),
    arith.DivUIOp: _division("/", signed=False),
    arith.RemSIOp: _division("%", signed=True),
    arith.RemUIOp: _division("%", signed=False),
    arith.FloorDivSIOp: _division("/", signed=True, rounds_down=True),
    arith.ShLIOp: _shift("<<", signed=False),
    arith.ShRSIOp: _shift(">>", signed=True),
    arith.ShRUIOp: _shift(">>", signed=False),
    math.AbsIOp: _absolute,
    math.CtPopOp: _bits("popcount"),
    math.CountLeadingZerosOp: _bits("clz"),
    math.CountTrailingZerosOp: _bits("ctz"),
}
