"""Writes the elementary functions as C: floats or doubles, or vectors of them, one method for each step."""

from __future__ import annotations

from typing import Literal

from tilework.backends.c_family.expressions import Expressions
from tilework.backends.c_family.forms import Form
from tilework.backends.c_family.helper import Helper
from tilework.backends.elementary import FAR, OF_LIBM, OF_TWO, VECTOR_FUNCTIONS
from tilework.backends.float_writer import FloatWriter, Operand

_INTEGER = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "shl": "<<", "ashr": ">>", "lshr": ">>"}

_FUSES = "defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)"
"""Whether processors multiply and add in one step; else, a call of a function for each lane would take far longer."""


class FloatC(FloatWriter):
    """The body of one function; integers are unsigned, since they wrap around."""

    scales = False

    def __init__(self, helper: Helper, element: Literal["float", "double"] = "float"):
        self.helper = helper
        self.element = element
        self.conditions: dict[str, str] = {}
        """What was compared, by the name of the result: a condition on vectors is as wide as that."""
        self.kind, self.integer_kind = ("f32", "u32") if element == "float" else ("f64", "u64")

    def in_double(self) -> FloatC:
        double = FloatC(self.helper, "double")
        double.conditions = self.conditions
        return double

    def add(self, a: Operand, b: Operand) -> str:
        return self._let(f"{self._text(a)} + {self._text(b)}")

    def subtract(self, a: Operand, b: Operand) -> str:
        return self._let(f"{self._text(a)} - {self._text(b)}")

    def multiply(self, a: Operand, b: Operand) -> str:
        return self._let(f"{self._text(a)} * {self._text(b)}")

    def divide(self, a: Operand, b: Operand) -> str:
        return self._let(f"{self._text(a)} / {self._text(b)}")

    def negate(self, a: Operand) -> str:
        return self._let(f"-{self._text(a)}")

    def multiply_add(self, a: Operand, b: Operand, c: Operand) -> str:
        form = self.helper.form(self.kind)
        fused = self.helper.c.function(form, "fma", "a", "b", "c")
        name, type_ = f"multiply_add_{form.suffix}", self.helper.c.type(form)

        def write() -> str:
            return f"""\
{self.helper.c.spelling.helper} {type_} {name}({type_} a, {type_} b, {type_} c) {{
#if {_FUSES}
  return {fused};
#else
  return a * b + c;
#endif
}}
"""

        self.helper.c.file.define_once(name, write)
        return self._let(f"{name}({self._text(a)}, {self._text(b)}, {self._text(c)})")

    def scale(self, a: str, exponent: str) -> str:
        raise NotImplementedError("C has no such operation on vectors: nobody asks for it where it does not scale")

    def unary(self, function: Literal["fabs", "sqrt"], a: Operand) -> str:
        return self._let(self.helper.c.function(self.helper.form(self.kind), function, self._text(a)))

    def copysign(self, magnitude: Operand, sign: Operand) -> str:
        operands = self._text(magnitude), self._text(sign)
        return self._let(self.helper.c.function(self.helper.form(self.kind), "copysign", *operands))

    def compare(self, predicate: str, a: Operand, b: Operand) -> str:
        form = self.helper.form(self.kind)
        return self._condition(self.helper.c.compared(form, predicate, self._text(a), self._text(b)))

    def select(self, condition: str, if_true: Operand, if_false: Operand) -> str:
        chosen = self.helper.choose(self.kind, self._widened(condition), self._text(if_true), self._text(if_false))
        return self._let(chosen)

    def both(self, a: str, b: str) -> str:
        return self._condition(f"{self._widened(a)} & {self._widened(b)}")

    def integer(self, instruction: str, a: str | int, b: str | int) -> str:
        first, second, kind = self._integer(a), self._integer(b), self.integer_kind
        if instruction == "ashr":
            signed = kind.replace("u", "i")
            return self._let_integer(
                self.helper.bits(signed, kind, f"({self.helper.bits(kind, signed, first)} >> {b})")
            )
        if instruction in ("shl", "lshr"):
            second = str(b)
        return self._let_integer(f"{first} {_INTEGER[instruction]} {second}")

    def is_odd(self, a: str) -> str:
        one, none = (self.helper.number(self.integer_kind, n) for n in (1, 0))
        return self._condition(f"({a} & {one}) != {none}")

    def bits(self, a: str) -> str:
        return self._let_integer(self.helper.bits(self.kind, self.integer_kind, a))

    def from_bits(self, a: str) -> str:
        return self._let(self.helper.bits(self.integer_kind, self.kind, a))

    def from_signed(self, a: str) -> str:
        signed = self.integer_kind.replace("u", "i")
        return self._let(self.helper.convert(signed, self.kind, self.helper.bits(self.integer_kind, signed, a)))

    def extended(self, a: str) -> str:
        return self.helper.let("f64", self.helper.convert("f32", "f64", a))

    def rounded(self, a: str) -> str:
        return self.helper.let("f32", self.helper.convert("f64", "f32", a))

    def _condition(self, expression: str) -> str:
        name = self.helper.condition(self.kind, expression)
        self.conditions[name] = self.kind
        return name

    def _widened(self, condition: str) -> str:
        """A condition as wide as the numbers."""
        source, target = (self.helper.form(kind).mask for kind in (self.conditions[condition], self.kind))
        return self.helper.c.converted(source, target, condition)

    def _let(self, expression: str) -> str:
        return self.helper.let(self.kind, expression)

    def _let_integer(self, expression: str) -> str:
        return self.helper.let(self.integer_kind, expression)

    def _text(self, value: Operand) -> str:
        return value if isinstance(value, str) else self.helper.number(self.kind, value)

    def _integer(self, value: str | int) -> str:
        return value if isinstance(value, str) else self.helper.number(self.integer_kind, value)


def math_function(c: Expressions, name: str, form: Form) -> str:
    """The name of the function of floats that computes one of `VECTOR_FUNCTIONS`; it is defined unless it is there."""
    symbol = f"math_{name}_{form.suffix}"
    c.file.define_once(symbol, lambda: _definition(c, symbol, name, form))
    return symbol


def _definition(c: Expressions, symbol: str, name: str, form: Form) -> str:
    helper = Helper(c, form.lanes)
    parameters = [helper.text.fresh(letter) for letter in ("xy" if name in OF_TWO else "x")]
    writer = FloatC(helper)
    result = VECTOR_FUNCTIONS[name](writer, *parameters)
    if name in OF_LIBM:
        is_far = writer.compare("oge", writer.unary("fabs", "x"), FAR)
        helper.text.line(f"if ({_any(c, form, is_far)}) return {c.function(form, name, 'x')};")
    helper.text.line(f"return {result};")
    return helper.text.definition(
        f"{c.spelling.helper} {c.type(form)} {symbol}", [f"{c.type(form)} {p}" for p in parameters]
    )


def _any(c: Expressions, form: Form, condition: str) -> str:
    """Whether a condition holds in some lane."""
    if form.lanes is None:
        return condition
    return " | ".join(c.spelling.vectors.lane(condition, lane) for lane in range(form.lanes))
