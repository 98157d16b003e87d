"""Division and shifts of integers, which are defined for all operands, as LLVM's instructions are not.

Processors stop a program that divides by 0, or the least integer by -1, and LLVM takes it that this never happens; a
shift too far is anything. Where an operand may be one of these, the instruction gets another one, and the result is
chosen afterwards. Where the divisor or the distance is known to be none of these, the instruction stands alone.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation, SSAValue

from tilework.analysis.known_numbers import constants_of, may_be
from tilework.backends.element_types import element_of, lanes_of, width_of
from tilework.backends.llvm.emitter import Emitter, Handler, Handlers
from tilework.backends.llvm.llvm_types import splat, vector_text
from tilework.dialects import arith

Divide = Callable[[str, str], str]
"""What is made of a dividend and a divisor that LLVM divides by."""


def _division(instruction: str, *, signed: bool, quotient: bool) -> Handler:
    """A handler of one of LLVM's divisions. Of 0 and of -1 a remainder is what is left by 1: nothing."""

    def emit(e: Emitter, op: Operation) -> None:
        type_ = e.type(op.results[0])
        _divided(e, op, lambda a, b: f"{instruction} {type_} {a}, {b}", signed=signed, quotient=quotient)

    return emit


def _divided(e: Emitter, op: Operation, divide: Divide, *, signed: bool, quotient: bool) -> None:
    dividend, divisor = op.operands
    type_ = e.type(op.results[0])
    truth = vector_text("i1", lanes_of(divisor.type))
    value, a, b = e.text.value, e.get(dividend), e.get(divisor)
    undefined = [n for n in ((0, -1) if signed else (0,)) if may_be(divisor, n, op)]
    if not undefined:
        e.define(op.results[0], divide(a, b))
        return
    if b.startswith("%"):
        b = value(f"freeze {type_} {b}")  # what is anything must be one and the same number below
    is_one = {n: value(f"icmp eq {type_} {b}, {_number(divisor, n)}") for n in undefined}
    is_any, *others = is_one.values()
    for other in others:
        is_any = value(f"or {truth} {is_any}, {other}")
    result = divide(a, value(f"select {truth} {is_any}, {type_} {_number(divisor, 1)}, {type_} {b}"))
    if quotient and -1 in is_one:
        opposite = value(f"sub {type_} {_number(divisor, 0)}, {a}")
        result = f"select {truth} {is_one[-1]}, {type_} {opposite}, {type_} {value(result)}"
    if quotient and 0 in is_one:
        result = f"select {truth} {is_one[0]}, {type_} {_number(divisor, 0)}, {type_} {value(result)}"
    e.define(op.results[0], result)


def _floor_division(e: Emitter, op: arith.FloorDivSIOp) -> None:
    """The truncated quotient, and one less where it is negative and a remainder is left."""
    type_, truth, value = e.type(op.result), vector_text("i1", lanes_of(op.result.type)), e.text.value

    def divide(a: str, b: str) -> str:
        quotient = value(f"sdiv {type_} {a}, {b}")
        remainder = value(f"srem {type_} {a}, {b}")
        left = value(f"icmp ne {type_} {remainder}, zeroinitializer")
        mixed = value(f"xor {type_} {a}, {b}")
        negative = value(f"icmp slt {type_} {mixed}, zeroinitializer")
        both = value(f"and {truth} {left}, {negative}")
        step = value(f"sext {truth} {both} to {type_}")
        return f"add {type_} {quotient}, {step}"

    _divided(e, op, divide, signed=True, quotient=True)


def _shift(instruction: str) -> Handler:
    """A handler of one of LLVM's shifts. One too far to the right of a signed number is as far as is possible."""

    def emit(e: Emitter, op: Operation) -> None:
        shifted, distance = op.operands
        type_, a, b, value = e.type(op.results[0]), e.get(shifted), e.get(distance), e.text.value
        width = width_of(element_of(shifted.type)) or 64
        numbers = constants_of(distance)
        if numbers is not None and all(0 <= n < width for n in numbers):
            e.define(op.results[0], f"{instruction} {type_} {a}, {b}")
            return
        truth = vector_text("i1", lanes_of(distance.type))
        b = value(f"freeze {type_} {b}") if b.startswith("%") else b
        possible = value(f"icmp ult {type_} {b}, {_number(distance, width)}")
        most = _number(distance, width - 1)
        result = f"{instruction} {type_} {a}, {value(f'select {truth} {possible}, {type_} {b}, {type_} {most}')}"
        if instruction != "ashr":
            zero = _number(distance, 0)
            result = f"select {truth} {possible}, {type_} {value(result)}, {type_} {zero}"
        e.define(op.results[0], result)

    return emit


def _number(like: SSAValue, number: int) -> str:
    """A number of the type of another value, in all its lanes."""
    element = element_of(like.type)
    return str(number) if lanes_of(like.type) is None else splat(f"i{width_of(element) or 64}", str(number))


INTEGER_HANDLERS: Handlers = {
    arith.DivSIOp: _division("sdiv", signed=True, quotient=True),
    arith.DivUIOp: _division("udiv", signed=False, quotient=True),
    arith.RemSIOp: _division("srem", signed=True, quotient=False),
    arith.RemUIOp: _division("urem", signed=False, quotient=False),
    arith.FloorDivSIOp: _floor_division,
    arith.ShLIOp: _shift("shl"),
    arith.ShRSIOp: _shift("ashr"),
    arith.ShRUIOp: _shift("lshr"),
}
