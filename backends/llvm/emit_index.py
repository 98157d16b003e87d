"""Index expressions as arithmetic of 64 bits, or of 32 where that is enough.

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

    return IndexWriter(emitter.text, variable, is_never_negative, emitter.index)


class IndexWriter:
    """Appends the arithmetic of expressions to a function.

    variable: the text of a variable's value. is_never_negative: whether that is known of an expression. type_: of all
    values.
    """

    def __init__(
        self,
        text: FunctionText,
        variable: Callable[[Key], str],
        is_never_negative: Callable[[Expr], bool] = lambda e: False,
        type_: str = "i64",
    ):
        self._type = type_
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
        return self._text.value(f"icmp {comparison} {self._type} {varying}, {-p.expr.offset}")

    def _sum(self, e: Expr) -> str:
        value = self._text.value
        total = ""
        for atom, c in e.terms:
            name = self._variable(atom.key) if isinstance(atom, Var) else self._compound(atom)
            if c == -1 and total:
                total = value(f"sub nsw {self._type} {total}, {name}")
                continue
            term = name if c == 1 else value(f"mul nsw {self._type} {name}, {c}")
            total = value(f"add nsw {self._type} {total}, {term}") if total else term
        return value(f"add nsw {self._type} {total}, {e.offset}") if e.offset else total

    def _compound(self, atom: Compound) -> str:
        if atom.kind in ("min", "max"):
            type_ = self._type
            return self._fold(f"call {type_} @llvm.s{atom.kind}.{type_}({type_} {{}}, {type_} {{}})", atom.args)
        if atom.kind == "product":
            return self._fold(f"mul nsw {self._type} {{}}, {{}}", atom.args)
        if atom.kind == "broadcast":
            return reduce(self._broadcast, map(self.expr, atom.args))
        dividend, divisor = atom.args
        d = divisor.constant
        quotient = atom.kind == "floordiv"
        if d is not None and d & (d - 1) == 0:
            text = self.expr(dividend)
            operation, number = ("ashr", d.bit_length() - 1) if quotient else ("and", d - 1)
            return self._text.value(f"{operation} {self._type} {text}, {number}")
        if d is not None and self._is_never_negative(dividend):
            return self._text.value(f"{'udiv' if quotient else 'urem'} {self._type} {self.expr(dividend)}, {d}")
        a, b = self.expr(dividend), self.expr(divisor)
        if divisor.is_constant or self._is_never_negative(divisor - 1):
            return self._floor_division(quotient, a, b)
        return self._division_by_any(quotient, a, self._text.value(f"freeze {self._type} {b}"))

    def _broadcast(self, a: str, b: str) -> str:
        """The second of two sizes where the first is 1."""
        is_one = self._text.value(f"icmp eq {self._type} {a}, 1")
        return self._text.value(f"select i1 {is_one}, {self._type} {b}, {self._type} {a}")

    def _division_by_any(self, quotient: bool, a: str, b: str) -> str:
        """Divide by a number that may be 0: then the quotient is 0, and so is the remainder."""
        value, type_ = self._text.value, self._type
        is_zero = value(f"icmp eq {type_} {b}, 0")
        result = self._floor_division(quotient, a, value(f"select i1 {is_zero}, {type_} 1, {type_} {b}"))
        return value(f"select i1 {is_zero}, {type_} 0, {type_} {result}") if quotient else result

    def _fold(self, instruction: str, args: Sequence[Expr]) -> str:
        texts = [self.expr(a) for a in args]
        return reduce(lambda a, b: self._text.value(instruction.format(a, b)), texts)

    def _floor_division(self, quotient: bool, a: str, b: str) -> str:
        """Round down where a remainder is left whose sign is not the divisor's."""
        value = self._text.value
        remainder = value(f"srem {self._type} {a}, {b}")
        mixed = value(f"xor {self._type} {remainder}, {b}")
        opposite = value(f"icmp slt {self._type} {mixed}, 0")
        left = value(f"icmp ne {self._type} {remainder}, 0")
        correct = value(f"and i1 {left}, {opposite}")
        if quotient:
            truncated = value(f"sdiv {self._type} {a}, {b}")
            below = value(f"sub nsw {self._type} {truncated}, 1")
            return value(f"select i1 {correct}, {self._type} {below}, {self._type} {truncated}")
        above = value(f"add nsw {self._type} {remainder}, {b}")
        return value(f"select i1 {correct}, {self._type} {above}, {self._type} {remainder}")
