"""Expressions on scalars and vectors alike: for each operation its text, given those of its operands.

Operands are names, numbers and calls, around which nothing needs parentheses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from tilework.algebra.c_index import integer_text
from tilework.backends.c_family.c_text import FileText
from tilework.backends.c_family.forms import Form
from tilework.backends.c_family.spelling import Spelling

_PREDICATES = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_OPPOSITE = {"gt": "<=", "ge": "<", "lt": ">=", "le": ">"}


class Expressions:
    """Writes expressions in one dialect; functions that they call are defined in the file."""

    def __init__(self, file: FileText, spelling: Spelling):
        self.file = file
        self.spelling = spelling
        self._vectors = spelling.vectors

    def type(self, form: Form) -> str:
        """The C type of a form."""
        return self.spelling.scalars[form.kind] if form.lanes is None else self._vectors.type(self.file, form)

    # -- numbers

    def number(self, form: Form, value: float | int | bool) -> str:
        """A number, in all lanes."""
        scalar = self._scalar(form.kind, value)
        return scalar if form.lanes is None else self._vectors.splat(self.file, form, scalar)

    def numbers(self, form: Form, values: Sequence[float | int | bool]) -> str:
        """A vector of numbers; the lanes behind them hold the last one, so that no operation meets another."""
        texts = [self._scalar(form.kind, value) for value in values]
        if len(set(texts)) == 1:
            return self._vectors.splat(self.file, form, texts[0])
        return self._vectors.lanes(self.file, form, texts + texts[-1:] * ((form.lanes or 1) - len(texts)))

    def _scalar(self, kind: str, value: float | int | bool) -> str:
        if kind == "bool":
            return "true" if value else "false"
        if kind.startswith("f"):
            return self._float(kind, float(value))
        bits = int(kind[1:])
        wrapped = int(value) % (1 << bits)
        signed = wrapped - (1 << bits) if kind.startswith("i") and wrapped >> (bits - 1) else wrapped
        return integer_text(signed) if kind.startswith("i") or signed < 10 else hex(signed)

    def _float(self, kind: str, value: float) -> str:
        suffix, sign = "f" if kind == "f32" else "", "-" if math.copysign(1, value) < 0 else ""
        if math.isnan(value):
            return f"{sign}{self.spelling.nan[kind]}"
        rounded = np.float32(value) if kind == "f32" else np.float64(value)
        if np.isinf(rounded):
            return f"{sign}{self.spelling.infinity[kind]}"
        text = str(rounded)  # the fewest digits that are read as this number
        return f"{text}{suffix}"

    # -- conversions

    def converted(self, source: Form, target: Form, text: str) -> str:
        """A number as C converts it from one kind to another."""
        if source == target:
            return text
        if source.lanes is not None:
            return self._vectors.converted(self.file, target, text)
        return f"({self.type(target)}){text}"

    def reinterpreted(self, source: Form, target: Form, text: str) -> str:
        """The value that has the bits of another one."""
        if source == target:
            return text
        if source.lanes is not None:
            return self._vectors.reinterpreted(self.file, target, text)
        if "f" not in (source.kind[0], target.kind[0]):
            return f"({self.type(target)}){text}"
        if self.spelling.reinterpret is not None:
            return self.spelling.reinterpret.format(type=self.type(target), text=text)
        name = f"{target.kind}_with_bits_of_{source.kind}"

        def write() -> str:
            from_, to = self.type(source), self.type(target)
            copy = f"{self.spelling.builtin.format('memcpy')}(&y, &x, sizeof y);"
            return f"{self.spelling.helper} {to} {name}({from_} x) {{\n  {to} y;\n  {copy}\n  return y;\n}}\n"

        self.file.define_once(name, write)
        return f"{name}({text})"

    def narrow(self, form: Form, kind: str, text: str) -> str:
        """A value of a form from what an operator makes of values of a kind: C computes in 32 bits at least."""
        if kind == form.kind and (form.lanes is not None or form.bits >= 32):
            return text
        return f"({self.type(form)})({text})"

    # -- choices

    def compared(self, form: Form, predicate: str, a: str, b: str) -> str:
        """A comparison by a predicate of `arith.cmpf`, or by a signed one of `arith.cmpi` without its first letter."""
        if predicate in _PREDICATES:
            return f"{a} {_PREDICATES[predicate]} {b}"
        ordered, relation = predicate[0] == "o", predicate[1:]
        match predicate:
            case "true" | "false":
                every = Form("bool") if form.lanes is None else form.mask
                return self.number(every, -1 if predicate == "true" else 0)
            case "ord":
                return self._joined(form, "&", f"{a} == {a}", f"{b} == {b}")
            case "uno":
                return self._joined(form, "|", f"{a} != {a}", f"{b} != {b}")
            case "oeq" | "une":
                return f"{a} {'==' if ordered else '!='} {b}"
            case "one":
                return self._joined(form, "|", f"{a} < {b}", f"{a} > {b}")
            case "ueq":
                return self.negated(form, f"({self._joined(form, '|', f'{a} < {b}', f'{a} > {b}')})")
            case _ if ordered:
                return f"{a} {_PREDICATES[relation]} {b}"
            case _:
                return self.negated(form, f"({a} {_OPPOSITE[relation]} {b})")

    def _joined(self, form: Form, operator: str, a: str, b: str) -> str:
        return f"{a} {operator * 2} {b}" if form.lanes is None else f"({a}) {operator} ({b})"

    def negated(self, form: Form, condition: str) -> str:
        """Whether a comparison does not hold."""
        return f"{'!' if form.lanes is None else '~'}{condition}"

    def selected(self, form: Form, condition: str, a: str, b: str) -> str:
        """One of two values; the condition is a comparison of such values."""
        if form.lanes is None:
            return f"{condition} ? {a} : {b}"
        return self._vectors.selected(self.file, form, condition, a, b)

    # -- functions

    def by_lanes(self, form: Form, name: str, call: Callable[..., str], *operands: str) -> str:
        """A function of scalars, of whose call `call` gives the text, lane by lane.

        name: that of the function of vectors that is defined, before its suffix.
        """
        if form.lanes is None:
            return call(*operands)
        symbol, lanes = f"{name}_{form.suffix}", range(form.lanes)

        def write() -> str:
            letters = "abc"[: len(operands)]
            parameters = ", ".join(f"{self.type(form)} {letter}" for letter in letters)
            values = [call(*(self._vectors.lane(letter, lane) for letter in letters)) for lane in lanes]
            head = f"{self.spelling.helper} {self.type(form)} {symbol}({parameters})"
            return f"{head} {{\n  return {self._vectors.lanes(self.file, form, values)};\n}}\n"

        self.file.define_once(symbol, write)
        return f"{symbol}({', '.join(operands)})"

    def function(self, form: Form, name: str, *operands: str) -> str:
        """A function of the C library, lane by lane."""
        symbol = self.spelling.functions[form.kind].format(name)
        return self.by_lanes(form, name, lambda *values: f"{symbol}({', '.join(values)})", *operands)

    # -- integers, which wrap around

    def wrapped(self, form: Form, operator: str, a: str, b: str) -> str:
        """A sum, difference or product of signed integers: C leaves open what happens where it does not fit."""
        signed, unsigned = self.type(form), self.type(form.of("u"))
        if form.lanes is None and form.bits < 32:
            return f"({signed})({a} {operator} {b})"  # in 32 bits, where it fits
        return f"({signed})(({unsigned}){a} {operator} ({unsigned}){b})"
