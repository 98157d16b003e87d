"""What `arith` and `vector` operations on floats, choices and constants become. Scalars and vectors alike.

Products that are added without being rounded are a `math.fma` already (`loop-uplift-to-fma`): elsewhere, every
operation rounds. Of a maximum or minimum of two zeros the sign is left open, as numpy leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tilework.backends.c_family.c_text import is_name
from tilework.backends.c_family.emitter import Emitter, Handler, Handlers
from tilework.backends.c_family.expressions import Expressions
from tilework.backends.c_family.forms import Form, form_of
from tilework.backends.c_family.halves import is_of_16_bits, narrowed, plain_number, widened
from tilework.backends.element_types import element_of, is_boolean, lanes_of
from tilework.dialects import arith
from tilework.dialects.support.diagnostics import CompileError

Write = Callable[..., str]
"""Gives the expression for a result: called with the writer of expressions, the form and the operands' texts."""


# -- floats


def float_operation(write: Write) -> Handler:
    """A handler of an operation on floats, all of one type; numbers of 16 bits are computed with as float."""

    def emit(e: Emitter, op: Operation) -> None:
        [result] = op.results
        form, texts = float_operands(e, op.operands)
        text = write(e.c, form, *texts)
        if is_of_16_bits(result.type):
            text = narrowed(e.c, result.type, form, e.value(form, text))
        e.define(result, text)

    return emit


def float_operands(e: Emitter, operands: Sequence[SSAValue]) -> tuple[Form, list[str]]:
    """The operands as numbers that C computes with, and their form."""
    form, type_ = e.form(operands[0]), operands[0].type
    texts = [e.get(operand) for operand in operands]
    if not is_of_16_bits(type_):
        return form, texts
    wide = form.of("f32")
    return wide, [e.value(wide, widened(e.c, type_, form, text)) for text in texts]


def _operator(operator: str) -> Write:
    def write(c: Expressions, form: Form, a: str, b: str) -> str:
        return f"{a} {operator} {b}"

    return write


def _extreme(relation: str, *, propagates: bool) -> Write:
    """The greater or the lesser of two numbers. propagates: NaN, instead of the number that stands beside it."""

    def write(c: Expressions, form: Form, a: str, b: str) -> str:
        unlike, either = (a if propagates else b), "||" if form.lanes is None else "|"
        return c.selected(form, f"(({a} {relation} {b}) {either} ({unlike} != {unlike}))", a, b)

    return write


def _negative(c: Expressions, form: Form, a: str) -> str:
    return f"-{a}"


def _fma(c: Expressions, form: Form, a: str, b: str, accumulator: str) -> str:
    return c.function(form, "fma", a, b, accumulator)


def _compare(e: Emitter, op: arith.CmpfOp) -> None:
    predicate = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    form, (a, b) = float_operands(e, [op.lhs, op.rhs])
    define_comparison(e, op.result, form, e.c.compared(form, predicate, a, b))


def define_comparison(e: Emitter, result: SSAValue, form: Form, text: str) -> None:
    """Let a boolean, or a vector of them, be the result of a comparison of values of a form."""
    e.define(result, text, None if form.lanes is None else form.mask)


# -- choices


def _select(e: Emitter, op: arith.SelectOp) -> None:
    condition, a, b = op.operands
    [result] = op.results
    if e.is_mask(result):
        _select_masks(e, op)
        return
    form = e.form(a)
    if not e.is_mask(condition):
        e.define(result, f"{e.get(condition)} ? {e.get(a)} : {e.get(b)}")
    else:
        e.define(result, e.c.selected(form, e.mask(condition, form), e.get(a), e.get(b)))


def _select_masks(e: Emitter, op: arith.SelectOp) -> None:
    """A choice between vectors of booleans, as wide as the first of them."""
    condition, a, b = op.operands
    form = e.form(a)
    first, second = e.get(a), e.mask(b, form)
    if e.is_mask(condition):
        text = e.c.selected(form, e.mask(condition, form), first, second)
    else:
        text = f"{e.get(condition)} ? {first} : {second}"
    e.define(op.results[0], text, form)


# -- constants


def _constant(e: Emitter, op: arith.ConstantOp) -> None:
    value, type_ = op.value, op.result.type
    form = form_of(type_, op)
    if isinstance(value, IntegerAttr | FloatAttr):
        e.set(op.result, e.c.number(form, plain_number(value.value.data, type_)))
    elif isinstance(value, DenseIntOrFPElementsAttr):
        numbers = [plain_number(number, type_) for number in cast("list[float]", value.get_values())]
        if is_boolean(element_of(type_)):
            numbers = [-number for number in numbers]  # all bits set where it is true
        e.set(op.result, e.c.numbers(form, numbers))
    else:
        raise CompileError(f"the C backend does not know constants such as {value}", op)


# -- vectors


def _broadcast(e: Emitter, op: vector.BroadcastOp) -> None:
    source, result = op.source, op.vector
    if lanes_of(source.type) is not None:
        if source.type != result.type:
            raise CompileError(f"vector.broadcast from {source.type} to {result.type}: expected a scalar", op)
        e.same(result, source)
        return
    form, text = form_of(result.type, op), e.get(source)
    splat = e.vectors.splat(e.file, form, f"-(int8_t){text}" if e.is_mask(result) else text)
    if is_name(text):
        e.define(result, splat)
    else:
        e.set(result, splat)


ARITH_HANDLERS: Handlers = {
    arith.AddfOp: float_operation(_operator("+")),
    arith.SubfOp: float_operation(_operator("-")),
    arith.MulfOp: float_operation(_operator("*")),
    arith.DivfOp: float_operation(_operator("/")),
    arith.NegfOp: float_operation(_negative),
    arith.MaximumfOp: float_operation(_extreme(">", propagates=True)),
    arith.MinimumfOp: float_operation(_extreme("<", propagates=True)),
    arith.MaxnumfOp: float_operation(_extreme(">", propagates=False)),
    arith.MinnumfOp: float_operation(_extreme("<", propagates=False)),
    arith.CmpfOp: _compare,
    arith.SelectOp: _select,
    arith.ConstantOp: _constant,
}
VECTOR_HANDLERS: Handlers = {vector.BroadcastOp: _broadcast, vector.FMAOp: float_operation(_fma)}
