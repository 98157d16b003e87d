"""Index expressions as the text of C expressions of type `int64_t`.

An index never overflows. Division and remainder round towards minus infinity: shifts and masks for powers of two, C's
own division where the dividend is known not to be negative, otherwise functions that are written where they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilework.algebra.index_expr import Compound, Expr, Key, Var
from tilework.algebra.predicate import Predicate

INDEX_FUNCTIONS = {
    "index_min": "static inline int64_t index_min(int64_t a, int64_t b) { return a < b ? a : b; }\n",
    "index_max": "static inline int64_t index_max(int64_t a, int64_t b) { return a > b ? a : b; }\n",
    "joined_size": """\
/* The size that two dimensions have together where one of them may be 1. */
static inline int64_t joined_size(int64_t a, int64_t b) { return a == 1 ? b : a; }
""",
    "floor_div": """\
/* The quotient, rounded down; by 0 it is 0. */
static inline int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return a / b - ((a % b != 0) & ((a < 0) != (b < 0)));
}
""",
    "floor_mod": """\
/* What a quotient that is rounded down leaves; by 0, nothing. */
static inline int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0) return 0;
  const int64_t rest = a % b;
  return rest + (((rest != 0) & ((rest < 0) != (b < 0))) ? b : 0);
}
""",
}
"""The functions that expressions may call: name -> definition."""

_FUNCTION_OF = {"min": "index_min", "max": "index_max", "broadcast": "joined_size"}


class CIndex:
    """Writes expressions and conditions.

    variable: the text of a variable, a name or a number. is_never_negative: whether that is known of an expression.
    use: called with the name of each of the `INDEX_FUNCTIONS` that the text calls.
    """

    def __init__(
        self,
        variable: Callable[[Key], str],
        use: Callable[[str], None],
        is_never_negative: Callable[[Expr], bool] = lambda e: False,
    ):
        self._variable = variable
        self._use = use
        self._is_never_negative = is_never_negative

    def expr(self, e: Expr) -> str:
        """The text of an expression: a sum without parentheses around it."""
        text = ""
        for atom, c in e.terms:
            factor = self._atom(atom)
            term = factor if abs(c) == 1 else f"{integer_text(abs(c))} * {factor}"
            if text:
                text += f" {'-' if c < 0 else '+'} {term}"
            else:
                text = f"-{term}" if c < 0 else term
        if not text:
            return integer_text(e.offset)
        if e.offset:
            text += f" {'-' if e.offset < 0 else '+'} {integer_text(abs(e.offset))}"
        return text

    def operand(self, e: Expr) -> str:
        """The text of an expression that may stand beside any operator."""
        text = self.expr(e)
        is_atom = not e.terms or (len(e.terms) == 1 and e.terms[0][1] == 1 and not e.offset)
        is_product = (
            is_atom and bool(e.terms) and isinstance(e.terms[0][0], Compound) and e.terms[0][0].kind == "product"
        )
        return text if is_atom and not is_product and not text.startswith("-") else f"({text})"

    def condition(self, predicates: Sequence[Predicate]) -> str:
        """The text of a conjunction, such as may stand in the parentheses of an `if`."""
        return " && ".join(map(self._predicate, predicates)) if predicates else "1"

    def _predicate(self, p: Predicate) -> str:
        if (known := p.constant) is not None:
            return "1" if known else "0"
        if p.kind == ">=" and all(c < 0 for _, c in p.expr.terms):
            return f"{self.expr(Expr((-p.expr).terms, 0))} <= {integer_text(p.expr.offset)}"
        return f"{self.expr(Expr(p.expr.terms, 0))} {p.kind} {integer_text(-p.expr.offset)}"

    def _atom(self, atom: Var | Compound) -> str:
        if isinstance(atom, Var):
            return self._variable(atom.key)
        if atom.kind in _FUNCTION_OF:
            return self._folded(_FUNCTION_OF[atom.kind], atom.args)
        if atom.kind == "product":
            return " * ".join(map(self.operand, atom.args))
        return self._division(atom)

    def _folded(self, function: str, args: Sequence[Expr]) -> str:
        self._use(function)
        text = self.expr(args[0])
        for argument in args[1:]:
            text = f"{function}({text}, {self.expr(argument)})"
        return text

    def _division(self, atom: Compound) -> str:
        dividend, divisor = atom.args
        quotient, d = atom.kind == "floordiv", divisor.constant
        if d is not None and d > 0 and d & (d - 1) == 0:
            shifted = f">> {d.bit_length() - 1}" if quotient else f"& {integer_text(d - 1)}"
            return f"({self.operand(dividend)} {shifted})"
        if d is not None and d > 0 and self._is_never_negative(dividend):
            return f"({self.operand(dividend)} {'/' if quotient else '%'} {integer_text(d)})"
        function = "floor_div" if quotient else "floor_mod"
        self._use(function)
        return f"{function}({self.expr(dividend)}, {self.expr(divisor)})"


def integer_text(value: int) -> str:
    """A number as C writes it. The least of 64 bits has no literal: C reads its digits before its sign."""
    return f"({value + 1} - 1)" if value == -(1 << 63) else str(value)
