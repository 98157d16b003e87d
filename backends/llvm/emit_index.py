"""Index expressions as i64 arithmetic.

An index never overflows, so additions and multiplications carry `nsw`. Division and remainder round towards minus
infinity: shifts and masks for powers of two, unsigned division where the ranges of the loop variables show that the
dividend is not negative, otherwise signed division with a correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Compound, Expr, Var
from tilework.algebra.predicate import Predicate
from tilework.analysis.domains import scope_at
from tilework.backends.llvm.emitter import Emitter
from tilework.dialects.index_attr import over_values
from tilework.dialects.loop import ApplyOp, ForOp, IfOp, LoadOp, StoreOp

HasIndexOperands = ForOp | IfOp | LoadOp | StoreOp | ApplyOp


class IndexWriter:
    """Writes expressions over `d0, d1, ...`, the index operands of one operation."""

    def __init__(self, emitter: Emitter, op: HasIndexOperands):
        self._emitter = emitter
        self._op = op
        self._operands = op.index_operands

    def expr(self, e: Expr) -> str:
        """The text of an expression's value."""
        if not e.terms:
            return str(e.offset)
        return self._sum(e)

    def condition(self, predicates: Sequence[Predicate]) -> str:
        """The text of a conjunction, an i1."""
        texts = [self._predicate(p) for p in predicates]
        return reduce(lambda a, b: self._emitter.text.value(f"and i1 {a}, {b}"), texts) if texts else "true"

    def _predicate(self, p: Predicate) -> str:
        if (known := p.constant) is not None:
            return "true" if known else "false"
        varying = self.expr(Expr(p.expr.terms, 0))
        comparison = "sge" if p.kind == ">=" else "eq"
        return self._emitter.text.value(f"icmp {comparison} i64 {varying}, {-p.expr.offset}")

    def _sum(self, e: Expr) -> str:
        value = self._emitter.text.value
        total = ""
        for atom, c in e.terms:
            name = self._variable(atom) if isinstance(atom, Var) else self._compound(atom)
            if c == -1 and total:
                total = value(f"sub nsw i64 {total}, {name}")
                continue
            term = name if c == 1 else value(f"mul nsw i64 {name}, {c}")
            total = value(f"add nsw i64 {total}, {term}") if total else term
        return value(f"add nsw i64 {total}, {e.offset}") if e.offset else total

    def _variable(self, atom: Var) -> str:
        key = atom.key
        return self._emitter.get(key if isinstance(key, SSAValue) else self._operands[int(str(key)[1:])])

    def _compound(self, atom: Compound) -> str:
        if atom.kind in ("min", "max"):
            return self._fold(f"call i64 @llvm.s{atom.kind}.i64(i64 {{}}, i64 {{}})", atom.args)
        if atom.kind == "product":
            return self._fold("mul nsw i64 {}, {}", atom.args)
        dividend, divisor = atom.args
        d = divisor.constant
        quotient = atom.kind == "floordiv"
        if d is not None and d & (d - 1) == 0:
            text = self.expr(dividend)
            shifted = f"ashr i64 {text}, {d.bit_length() - 1}" if quotient else f"and i64 {text}, {d - 1}"
            return self._emitter.text.value(shifted)
        if d is not None and self._is_never_negative(dividend):
            return self._emitter.text.value(f"{'udiv' if quotient else 'urem'} i64 {self.expr(dividend)}, {d}")
        return self._floor_division(quotient, self.expr(dividend), self.expr(divisor))

    def _fold(self, instruction: str, args: Sequence[Expr]) -> str:
        texts = [self.expr(a) for a in args]
        return reduce(lambda a, b: self._emitter.text.value(instruction.format(a, b)), texts)

    def _floor_division(self, quotient: bool, a: str, b: str) -> str:
        """Round down where a remainder is left whose sign is not the divisor's."""
        value = self._emitter.text.value
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

    def _is_never_negative(self, e: Expr) -> bool:
        over_ssa = e.substitute(over_values(self._operands))
        return scope_at(self._op).proves(Predicate(over_ssa)) is True
