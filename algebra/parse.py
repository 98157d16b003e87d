"""The text form of index expressions and predicates: one grammar, whatever the source of tokens.

expr      ::= term (('+' | '-') term)*
term      ::= factor (('*' | 'floordiv' | 'mod') factor)*
factor    ::= integer | variable | '-' factor | '(' expr ')' | call '(' expr (',' expr)* ')'
call      ::= 'min' | 'max' | 'broadcast'
predicate ::= expr ('>=' | '==') '0'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol, TypeVar

from tilework.algebra.index_expr import Expr, broadcast, const, maximum, minimum, var
from tilework.algebra.predicate import Predicate


class Tokens(Protocol):
    """What the grammar needs of a token stream."""

    def accept(self, text: str) -> bool:
        """Consume punctuation or a keyword if it is next."""
        ...

    def integer(self) -> int | None:
        """Consume an unsigned integer if it is next."""
        ...

    def variable(self) -> Expr | None:
        """Consume a variable if it is next."""
        ...

    def fail(self, expected: str) -> Exception:
        """The error that says what was expected here."""
        ...


def parse_expr(tokens: Tokens) -> Expr:
    """Read one expression."""
    result = _term(tokens)
    while True:
        if tokens.accept("+"):
            result = result + _term(tokens)
        elif tokens.accept("-"):
            result = result - _term(tokens)
        else:
            return result


def parse_predicate(tokens: Tokens) -> Predicate:
    """Read one predicate: `expr >= 0` or `expr == 0`."""
    expr = parse_expr(tokens)
    for kind in (">=", "=="):
        if all(tokens.accept(c) for c in kind):
            if tokens.integer() != 0:
                raise tokens.fail("0")
            return Predicate(expr, kind)
    raise tokens.fail("'>= 0' or '== 0'")


def _term(tokens: Tokens) -> Expr:
    result = _factor(tokens)
    while True:
        if tokens.accept("*"):
            result = result * _factor(tokens)
        elif tokens.accept("floordiv"):
            result = result // _divisor(tokens)
        elif tokens.accept("mod"):
            result = result % _divisor(tokens)
        else:
            return result


def _divisor(tokens: Tokens) -> Expr:
    divisor = _factor(tokens)
    if divisor.constant is not None and divisor.constant <= 0:
        raise tokens.fail("a positive divisor")
    return divisor


def _factor(tokens: Tokens) -> Expr:
    if tokens.accept("-"):
        return -_factor(tokens)
    if tokens.accept("("):
        inner = parse_expr(tokens)
        _expect(tokens, ")")
        return inner
    for name, build in (("min", minimum), ("max", maximum), ("broadcast", broadcast)):
        if tokens.accept(name):
            _expect(tokens, "(")
            args = [parse_expr(tokens)]
            while tokens.accept(","):
                args.append(parse_expr(tokens))
            _expect(tokens, ")")
            return build(*args)
    if (value := tokens.integer()) is not None:
        return const(value)
    if (variable := tokens.variable()) is not None:
        return variable
    raise tokens.fail("an index expression")


def _expect(tokens: Tokens, text: str) -> None:
    if not tokens.accept(text):
        raise tokens.fail(f"'{text}'")


class TextTokens:
    """Tokens of a plain string; a variable is an identifier."""

    _pattern = re.compile(r"\s*(\d+|[A-Za-z_][A-Za-z0-9_.]*|\S)")

    def __init__(self, text: str):
        self.text = text
        self.words = self._pattern.findall(text)
        self.at = 0

    @property
    def next(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def accept(self, text: str) -> bool:
        if self.next != text:
            return False
        self.at += 1
        return True

    def integer(self) -> int | None:
        if not self.next.isdigit():
            return None
        self.at += 1
        return int(self.words[self.at - 1])

    def variable(self) -> Expr | None:
        if not self.next or not (self.next[0].isalpha() or self.next[0] == "_"):
            return None
        self.at += 1
        return var(self.words[self.at - 1])

    def fail(self, expected: str) -> ValueError:
        return ValueError(f"expected {expected} at '{self.next}' in '{self.text}'")


def parse(text: str) -> Expr:
    """Read an expression from a string that holds nothing else. Raises ValueError."""
    return _whole(text, parse_expr)


def parse_condition(text: str) -> Predicate:
    """Read a predicate from a string that holds nothing else. Raises ValueError."""
    return _whole(text, parse_predicate)


Read = TypeVar("Read")


def _whole(text: str, read: Callable[[Tokens], Read]) -> Read:
    tokens = TextTokens(text)
    result = read(tokens)
    if tokens.next:
        raise tokens.fail("the end")
    return result
