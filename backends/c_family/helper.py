"""A small function of scalars or vectors, one variable a step: what the C back end writes where C has no expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilework.backends.c_family.c_text import FunctionText
from tilework.backends.c_family.expressions import Expressions
from tilework.backends.c_family.forms import Form


class Helper:
    """The body of a function being written."""

    def __init__(self, c: Expressions, lanes: int | None):
        self.c = c
        self.lanes = lanes
        self.text = FunctionText()

    def form(self, kind: str) -> Form:
        """The form of as many elements of a kind as the function works on."""
        return Form(kind, self.lanes)

    def let(self, kind: str, expression: str, hint: str | None = None) -> str:
        """Append a variable; returns its name."""
        return self.let_form(self.form(kind), expression, hint)

    def let_form(self, form: Form, expression: str, hint: str | None = None) -> str:
        """The same for a form, that of a comparison for instance."""
        name = self.text.fresh(hint)
        self.text.line(f"const {self.c.type(form)} {name} = {expression};", name)
        return name

    def convert(self, source: str, target: str, text: str) -> str:
        """An expression: the number of another kind."""
        return self.c.converted(self.form(source), self.form(target), text)

    def bits(self, source: str, target: str, text: str) -> str:
        """An expression: the value of another kind that has the same bits."""
        return self.c.reinterpreted(self.form(source), self.form(target), text)

    def number(self, kind: str, value: float | int) -> str:
        """An expression: a number in all lanes."""
        return self.c.number(self.form(kind), value)

    def choose(self, kind: str, condition: str, a: str, b: str) -> str:
        """An expression: one of two values, the condition being a variable or in parentheses."""
        return self.c.selected(self.form(kind), condition, a, b)

    def condition(self, kind: str, expression: str, hint: str | None = None) -> str:
        """Append a comparison of values of a kind."""
        return self.let_form(self.form(kind).mask, expression, hint)


Write = Callable[..., str]
"""Appends the body of a helper and returns the expression for its result; called with the helper and the parameters."""


def call_helper(c: Expressions, name: str, write: Write, operands: Sequence[tuple[Form, str]], result: Form) -> str:
    """The call of a function, which is defined unless it is there. name: without the suffix for vectors."""
    lanes = operands[0][0].lanes
    symbol = name if lanes is None else f"{name}_x{lanes}"
    c.file.define_once(symbol, lambda: _definition(c, symbol, write, [form for form, _ in operands], result))
    return f"{symbol}({', '.join(text for _, text in operands)})"


def _definition(c: Expressions, symbol: str, write: Write, forms: Sequence[Form], result: Form) -> str:
    helper = Helper(c, forms[0].lanes)
    names = [helper.text.fresh(letter) for letter in "xyz"[: len(forms)]]
    answer = write(helper, *names)
    helper.text.line(f"return {answer};")
    parameters = [f"{c.type(form)} {name}" for form, name in zip(forms, names, strict=True)]
    return helper.text.definition(f"{c.spelling.helper} {c.type(result)} {symbol}", parameters)
