"""Index expressions as i64 arithmetic.

An index never overflows, so additions and multiplications carry `nsw`. Division and remainder round towards minus
infinity: shifts and masks for powers of two, unsigned division where the ranges of the loop variables show that the
dividend is not negative, otherwise signed division with a correction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import cast

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Compound, Expr, Key, Var
from tilework.algebra.predicate import Predicate
from tilework.analysis.domains import scope_at
from tilework.backends.llvm.emitter import Emitter
from tilework.backends.llvm.text import FunctionText
from tilework.dialects.loop import ApplyOp, ForOp, IfOp, IntrinsicOp, LoadOp, PrefetchOp, StoreOp
from tilework.dialects.support.index_attr import over_values

HasIndexOperands = ForOp | IfOp | LoadOp | StoreOp | ApplyOp | PrefetchOp | IntrinsicOp


def index_writer(emitter: Emitter, op: HasIndexOperands) -> IndexWriter:
    """A writer for the expressions of one operation, which are over its operands `d0, d1, ...` or SSA values."""
    operands = op.index_operands

    def variable(key: Key) -> str:
        return emitter.get(cast("SSAValue", key) if isinstance(key, SSAValue) else operands[int(str(key)[1:])])

    def is_never_negative(e: Expr) -> bool:
        return scope_at(op).proves(Predicate(e.substitute(over_values(operands)))) is True

    return IndexWriter(emitter.text, variable, is_never_negative)


class IndexWriter:
    """Appends the arithmetic of expressions to a function.

    variable: the text of a variable's value. is_never_negative: whether that is known of an expression.
    """

    def __init__(
        self,
        text: FunctionText,
        variable: Callable[[Key], str],
        is_never_negative: Callable[[Expr], bool] = lambda e: False,
    ):
        self._text = text
        self._variable = variable
        self._is_never_negative = is_never_negative

    def expr(self, e: Expr) -> str:
        """The text of an expression's value."""
        if not e.terms:
            return str(e.offset)
        return self._sum(e)

    def condition(self, predicates: Sequence[Predicate]) -> str:
        """The text of a conjunction, an i1."""
        texts = [self._predicate(p) for p in predicates]
        return reduce(lambda a, b: self._text.value(f"and i1 {a}, {b}"), texts) if texts else "true"

    def _predicate(self, p: Predicate) -> str:
        if (known := p.constant) is not None:
            return "true" if known else "false"
        varying = self.expr(Expr(p.expr.terms, 0))
        comparison = "sge" if p.kind == ">=" else "eq"
        return self._text.value(f"icmp {comparison} i64 {varying}, {-p.expr.offset}")

    def _sum(self, e: Expr) -> str:
        value = self._text.value
        total = ""
        for atom, c in e.terms:
            name = self._variable(atom.key) if isinstance(atom, Var) else self._compound(atom)
            if c == -1 and total:
                total = value(f"sub nsw i64 {total}, {name}")
                continue
            term = name if c == 1 else value(f"mul nsw i64 {name}, {c}")
            total = value(f"add nsw i64 {total}, {term}") if total else term
        return value(f"add nsw i64 {total}, {e.offset}") if e.offset else total

    def _compound(self, atom: Compound) -> str:
        if atom.kind in ("min", "max"):
            return self._fold(f"call i64 @llvm.s{atom.kind}.i64(i64 {{}}, i64 {{}})", atom.args)
        if atom.kind == "product":
            return self._fold("mul nsw i64 {}, {}", atom.args)
        if atom.kind == "broadcast":
            return reduce(self._broadcast, map(self.expr, atom.args))
        dividend, divisor = atom.args
        d = divisor.constant
        quotient = atom.kind == "floordiv"
        if d is not None and d & (d - 1) == 0:
            text = self.expr(dividend)
            shifted = f"ashr i64 {text}, {d.bit_length() - 1}" if quotient else f"and i64 {text}, {d - 1}"
            return self._text.value(shifted)
        if d is not None and self._is_never_negative(dividend):
            return self._text.value(f"{'udiv' if quotient else 'urem'} i64 {self.expr(dividend)}, {d}")
        a, b = self.expr(dividend), self.expr(divisor)
        if divisor.is_constant or self._is_never_negative(divisor - 1):
            return self._floor_division(quotient, a, b)
        return self._division_by_any(quotient, a, self._text.value(f"freeze i64 {b}"))

    def _broadcast(self, a: str, b: str) -> str:
        """The second of two sizes where the first is 1."""
        is_one = self._text.value(f"icmp eq i64 {a}, 1")
        return self._text.value(f"select i1 {is_one}, i64 {b}, i64 {a}")

    def _division_by_any(self, quotient: bool, a: str, b: str) -> str:
        """Divide by a number that may be 0: then the quotient is 0, and so is the remainder."""
        is_zero = self._text.value(f"icmp eq i64 {b}, 0")
        result = self._floor_division(quotient, a, self._text.value(f"select i1 {is_zero}, i64 1, i64 {b}"))
        return self._text.value(f"select i1 {is_zero}, i64 0, i64 {result}") if quotient else result

    def _fold(self, instruction: str, args: Sequence[Expr]) -> str:
        texts = [self.expr(a) for a in args]
        return reduce(lambda a, b: self._text.value(instruction.format(a, b)), texts)

    def _floor_division(self, quotient: bool, a: str, b: str) -> str:
        """Round down where a remainder is left whose sign is not the divisor's."""
        value = self._text.value
        remainder = value(f"srem i64 {a}, {b}")
        mixed = value(f"xor i64 {remainder}, {b}")
        opposite = value(f"icmp slt i64 {mixed}, 0")
        left = value(f"icmp ne i64 {remainder}, 0")
        correct = value(f"and i1 {left}, {opposite}")
        if quotient:
            truncated = value(f"sdiv i64 {a}, {b}")
            below = value(f"sub nsw i64 {truncated}, 1")
            return value(f"select i1 {correct}, i64 {below}, i64 {truncated}")
        above = value(f"add nsw i64 {remainder}, {b}")
        return value(f"select i1 {correct}, i64 {above}, i64 {remainder}")
