"""Integer index expressions: linear combinations of variables, quotients, remainders, minima and maxima.

Sizes that broadcast together are joined by `broadcast`.

An `Expr` is always in one canonical form, a constant plus integer multiples of *atoms* in a fixed order, so that
`i + j - i` *is* `j` and equality is structural. Division is floor division and `mod` has the sign of the divisor, as in
MLIR's affine expressions and in Python; by 0 the quotient is 0, and 0 is left. Only where a quotient by variables
cancels, it takes them for sizes of what is there, so that `(n * i) floordiv n` is `i`. A variable's key is a name (te
axes, symbols) or any hashable value (the loop passes use SSA values).

    >>> i, j = var("i"), var("j")
    >>> print((16 * i + j) // 16)
    i + j floordiv 16
    >>> print((16 * i + j) % 16)
    j mod 16
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import reduce
from math import gcd
from typing import Any, TypeAlias

Key: TypeAlias = Hashable
ExprLike: TypeAlias = "Expr | int"

CALLS = ("min", "max", "broadcast")
"""The kinds of atoms that are written as calls of functions."""


class Var:
    """A loop variable, axis or symbol."""

    __slots__ = ("key", "_hash")
    key: Key

    def __init__(self, key: Key):
        self.key = key
        self._hash = hash(key)  # it is asked for in every sum

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Var) and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        # an SSA value would tell how often it is used, which takes as long as there are uses
        return getattr(self.key, "name_hint", None) or str(self.key)


class Compound:
    """A non-linear atom: `floordiv` and `mod` of two expressions; `product` and the `CALLS` of two or more.

    The order of the arguments counts for the first two only.
    """

    __slots__ = ("kind", "args", "_value", "_hash")
    kind: str
    args: tuple[Expr, ...]

    def __init__(self, kind: str, args: tuple[Expr, ...]):
        self.kind = kind
        self.args = args
        self._value = (kind, args if kind in ("floordiv", "mod") else frozenset(Counter(args).items()))
        self._hash = hash(self._value)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Compound) and self._value == other._value)

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        if self.kind in CALLS:
            return f"{self.kind}({', '.join(map(str, self.args))})"
        word = {"floordiv": " floordiv ", "mod": " mod ", "product": " * "}[self.kind]
        return word.join(_parenthesized(a) for a in self.args)


Atom: TypeAlias = Var | Compound


def _parenthesized(e: Expr) -> str:
    bare = e.is_constant or (len(e.terms) == 1 and not e.offset and e.terms[0][1] == 1)
    if bare and e.terms and isinstance(e.terms[0][0], Compound):
        bare = e.terms[0][0].kind in CALLS
    return str(e) if bare and not str(e).startswith("-") else f"({e})"


class Expr:
    """`offset + sum(coefficient * atom)`; build it with `var`, `const` and the operators."""

    __slots__ = ("terms", "offset", "_hash", "_variables")
    terms: tuple[tuple[Atom, int], ...]
    offset: int
    _hash: int | None
    _variables: tuple[Key, ...] | None

    def __init__(self, terms: tuple[tuple[Atom, int], ...], offset: int):
        self.terms = terms
        self.offset = offset
        self._hash = self._variables = None  # most expressions are never asked for them

    # -- what it is

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def constant(self) -> int | None:
        """The value of a constant expression, or None."""
        return None if self.terms else self.offset

    @property
    def as_var(self) -> Key | None:
        """The key of an expression that is exactly one variable, or None."""
        if len(self.terms) == 1 and not self.offset and self.terms[0][1] == 1:
            atom = self.terms[0][0]
            return atom.key if isinstance(atom, Var) else None
        return None

    def coefficient(self, key: Key) -> int:
        """The factor of variable `key` in the linear part."""
        return next((c for a, c in self.terms if isinstance(a, Var) and a.key == key), 0)

    def variables(self) -> tuple[Key, ...]:
        """The keys of all variables, inside compounds too, each once, in order of appearance."""
        if self._variables is None:
            found: dict[Key, None] = {}
            for atom, _ in self.terms:
                if isinstance(atom, Var):
                    found[atom.key] = None
                else:
                    for arg in atom.args:
                        found.update(dict.fromkeys(arg.variables()))
            self._variables = tuple(found)
        return self._variables

    def is_affine_in(self, key: Key) -> bool:
        """Whether `key` occurs in the linear part only."""
        return all(isinstance(a, Var) or all(key not in e.variables() for e in a.args) for a, _ in self.terms)

    # -- arithmetic

    def __add__(self, other: ExprLike) -> Expr:
        if isinstance(other, int):
            return Expr(self.terms, self.offset + other) if other else self
        total = dict(self.terms)
        for atom, c in other.terms:
            total[atom] = total.get(atom, 0) + c
        return Expr(tuple((a, c) for a, c in total.items() if c), self.offset + other.offset)

    __radd__ = __add__

    def __neg__(self) -> Expr:
        return self * -1

    def __sub__(self, other: ExprLike) -> Expr:
        return self + (-other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return -self + other

    def __mul__(self, other: ExprLike) -> Expr:
        if isinstance(other, Expr):
            if other.is_constant:
                return self * other.offset
            if self.is_constant:
                return other * self.offset
            return _product(self, other)
        if other == 1:
            return self
        if other == 0:
            return const(0)
        return Expr(tuple((a, c * other) for a, c in self.terms), self.offset * other)

    __rmul__ = __mul__

    def __floordiv__(self, other: ExprLike) -> Expr:
        d = other.constant if isinstance(other, Expr) else other
        if d is None:
            assert isinstance(other, Expr)
            quotient, rest = divide(self, other)
            return quotient if rest == 0 else quotient + _atom("floordiv", rest, other)
        if d == 0:
            raise ZeroDivisionError(f"({self}) floordiv 0")
        if d < 0:
            return (-self) // -d
        # (d*q + r) floordiv d == q + r floordiv d, for every q
        whole, rest = _split_multiples(self, d)
        if rest.is_constant:
            return whole + rest.offset // d
        g = reduce(gcd, (c for _, c in rest.terms), d)
        # (g*r + o) floordiv (g*e) == (r + o floordiv g) floordiv e
        rest, d = Expr(tuple((a, c // g) for a, c in rest.terms), rest.offset // g), d // g
        if d == 1:
            return whole + rest
        nested = rest.terms[0][0] if len(rest.terms) == 1 and rest.terms[0][1] == 1 else None
        if isinstance(nested, Compound) and (inner := _constant_divisor(nested)):
            if nested.kind == "floordiv":
                # (x floordiv a + o) floordiv b == (x + a*o) floordiv (a*b)
                return whole + (nested.args[0] + rest.offset * inner) // (inner * d)
            if rest.offset == 0 and (g := gcd(inner, d)) > 1:
                # (x mod (a*g)) floordiv (b*g) == ((x floordiv g) mod a) floordiv b
                return whole + (nested.args[0] // g % (inner // g)) // (d // g)
        return whole + _atom("floordiv", rest, const(d))

    def __mod__(self, other: ExprLike) -> Expr:
        d = other.constant if isinstance(other, Expr) else other
        if d is None:
            assert isinstance(other, Expr)
            _, rest = divide(self, other)
            return const(0) if rest == 0 else _atom("mod", rest, other)
        if d == 0:
            raise ZeroDivisionError(f"({self}) mod 0")
        if d < 0:
            return -((-self) % -d)
        _, rest = _split_multiples(_without_inner_mod(self, d), d)
        # (g*r + o) mod (g*e) == g * ((r + o floordiv g) mod e) + o mod g
        g = reduce(gcd, (c for _, c in rest.terms), d)
        outer, rest = rest.offset % g, Expr(tuple((a, c // g) for a, c in rest.terms), rest.offset // g)
        return const(outer) if rest.is_constant else _atom("mod", rest, const(d // g)) * g + outer

    # -- evaluation

    def substitute(self, values: Mapping[Any, ExprLike]) -> Expr:
        """Replace variables; those that `values` does not name stay."""
        if not self.terms:
            return self
        total: dict[Atom, int] = {}
        offset = self.offset
        for atom, c in self.terms:
            if isinstance(atom, Var):
                value = values.get(atom.key)
            else:
                value = _build(atom.kind, [a.substitute(values) for a in atom.args])
            if value is None:
                total[atom] = total.get(atom, 0) + c
            elif isinstance(value, int):
                offset += c * value
            else:
                offset += c * value.offset
                for inner, factor in value.terms:
                    total[inner] = total.get(inner, 0) + c * factor
        return Expr(tuple((a, c) for a, c in total.items() if c), offset)

    def replace_atoms(self, values: Mapping[Expr, Expr]) -> Expr:
        """Replace atoms, inside compounds too; those that `values` does not name stay."""
        total = const(self.offset)
        for atom, c in self.terms:
            own = Expr(((atom, 1),), 0)
            if own not in values and isinstance(atom, Compound):
                own = _build(atom.kind, [a.replace_atoms(values) for a in atom.args])
            total = total + values.get(own, own) * c
        return total

    def rename(self, rename: Callable[[Key], Key]) -> Expr:
        """Replace the key of every variable."""
        return self.substitute({k: var(rename(k)) for k in self.variables()})

    def evaluate(self, values: Mapping[Any, Any]) -> Any:
        """The value at a point; `values` may hold integers or numpy integer arrays that broadcast together.

        Raises KeyError for a variable that `values` does not name.
        """
        result: Any = self.offset
        for atom, c in self.terms:
            value = values[atom.key] if isinstance(atom, Var) else _evaluate(atom, values)
            result = result + (value if c == 1 else value * c)
        return result

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return not self.terms and self.offset == other
        if not isinstance(other, Expr):
            return NotImplemented
        if self is other:
            return True
        if self.offset != other.offset or len(self.terms) != len(other.terms):
            return False
        return self.terms == other.terms or dict(self.terms) == dict(other.terms)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((frozenset(self.terms), self.offset))
        return self._hash

    def __str__(self) -> str:
        parts: list[str] = []
        for atom, c in self.terms:
            text = str(atom)
            # a leading minus binds to the first factor
            binds = abs(c) != 1 or (c < 0 and not parts)
            if isinstance(atom, Compound) and atom.kind not in CALLS and binds:
                text = f"({text})"
            text = text if abs(c) == 1 else f"{abs(c)} * {text}"
            parts.append(("- " if c < 0 else "+ ") + text)
        if self.offset or not parts:
            parts.append(("- " if self.offset < 0 else "+ ") + str(abs(self.offset)))
        first = parts[0]
        parts[0] = first[2:] if first.startswith("+") else "-" + first[2:]
        return " ".join(parts)

    def __repr__(self) -> str:
        return f"Expr({self})"


def var(key: Key) -> Expr:
    """The expression that is one variable."""
    return Expr(((Var(key), 1),), 0)


def const(value: int) -> Expr:
    """The expression that is one integer."""
    return Expr((), value)


def to_expr(value: ExprLike) -> Expr:
    """An integer as a constant expression; an expression unchanged."""
    return value if isinstance(value, Expr) else const(int(value))


def minimum(*args: ExprLike) -> Expr:
    """The smallest of the arguments, with constants and repeated arguments folded."""
    return _extremum("min", min, args)


def maximum(*args: ExprLike) -> Expr:
    """The largest of the arguments, with constants and repeated arguments folded."""
    return _extremum("max", max, args)


def broadcast(*sizes: ExprLike) -> Expr:
    """The size that these have together when they broadcast: all are equal, but for those that are 1.

    Whether they are is the caller's matter: of sizes that differ and are not 1, it is one of them.
    """
    flat: dict[Expr, None] = {}
    for size in map(to_expr, sizes):
        flat.update(dict.fromkeys(broadcast_parts(size)))
    kept = [e for e in flat if e != 1]
    if not kept:
        return const(1)
    known = next((e for e in kept if e.is_constant), None)
    if known is not None:
        return known
    return kept[0] if len(kept) == 1 else _atom("broadcast", *sorted(kept, key=str))


def broadcast_parts(size: Expr) -> tuple[Expr, ...]:
    """The sizes that `broadcast` has joined to this one; else itself."""
    match size.terms:
        case ((Compound(kind="broadcast") as atom, 1),) if not size.offset:
            return atom.args
        case _:
            return (size,)


def ceildiv(a: ExprLike, b: ExprLike) -> Expr:
    """`a / b` rounded up, for a positive `b`."""
    return (to_expr(a) + (b - 1)) // b


def product(factors: Iterable[ExprLike]) -> Expr:
    """The product of the factors; 1 for none."""
    return reduce(lambda a, b: a * to_expr(b), factors, const(1))


def _atom(kind: str, *args: Expr) -> Expr:
    return Expr(((Compound(kind, args), 1),), 0)


def floor_quotient(a: Any, b: Any) -> Any:
    """What `floordiv` is for integers, or for numpy integer arrays that broadcast together."""
    return a // (b + (b == 0)) * (b != 0)


def floor_remainder(a: Any, b: Any) -> Any:
    """What `mod` is for integers, or for numpy integer arrays that broadcast together."""
    return a % (b + (b == 0))


def _build(kind: str, args: list[Expr]) -> Expr:
    """An atom of other arguments."""
    if kind in ("floordiv", "mod"):
        if args[1] == 0:
            return const(0)
        return args[0] // args[1] if kind == "floordiv" else args[0] % args[1]
    return product(args) if kind == "product" else _BUILDERS[kind](*args)


def _split_multiples(e: Expr, d: int) -> tuple[Expr, Expr]:
    """`(q, r)` with `e == d*q + r`, where q holds every term whose coefficient d divides."""
    whole = tuple((a, c // d) for a, c in e.terms if c % d == 0)
    rest = tuple((a, c) for a, c in e.terms if c % d)
    return Expr(whole, e.offset // d), Expr(rest, e.offset % d)


def _constant_divisor(atom: Compound) -> int | None:
    """What a quotient or a remainder divides by, where that is a constant."""
    return atom.args[1].constant if atom.kind in ("floordiv", "mod") else None


def _without_inner_mod(e: Expr, d: int) -> Expr:
    """An expression that is `e` modulo `d`: c * (x mod a) becomes c * x where d divides c * a."""
    result = e
    for atom, c in e.terms:
        if isinstance(atom, Compound) and atom.kind == "mod" and (a := _constant_divisor(atom)) and c * a % d == 0:
            result = _without_inner_mod(result - Expr(((atom, c),), 0) + atom.args[0] * c, d)
    return result


def divide(e: Expr, d: Expr) -> tuple[Expr, Expr]:
    """`(q, r)` with `e == d*q + r`, for a divisor with variables: division of polynomials by the first term of `d`."""
    quotient, rest = const(0), e
    for term in e.terms:
        part = _term_quotient(term, d.terms[0])
        if part is not None and len((less := rest - part * d).terms) < len(rest.terms):
            quotient, rest = quotient + part, less
    return quotient, rest


def _term_quotient(term: tuple[Atom, int], by: tuple[Atom, int]) -> Expr | None:
    """One term divided by another, where that leaves nothing."""
    if term[1] % by[1]:
        return None
    left = list(factors_of(term[0]))
    for factor in factors_of(by[0]):
        if factor not in left:
            return None
        left.remove(factor)
    return product(left) * (term[1] // by[1])


def _product(a: Expr, b: Expr) -> Expr:
    """Distribute; the product of two atoms is an atom with its factors in a fixed order."""
    total = const(a.offset * b.offset)
    total = total + Expr(a.terms, 0) * b.offset + Expr(b.terms, 0) * a.offset
    for x, cx in a.terms:
        for y, cy in b.terms:
            factors = sorted((*factors_of(x), *factors_of(y)), key=str)
            total = total + _atom("product", *factors) * (cx * cy)
    return total


def factors_of(atom: Atom) -> tuple[Expr, ...]:
    """The factors of a product; any other atom is one factor."""
    return atom.args if isinstance(atom, Compound) and atom.kind == "product" else (Expr(((atom, 1),), 0),)


def _extremum(kind: str, fold: Callable[..., int], args: Iterable[ExprLike]) -> Expr:
    flat: dict[Expr, None] = {}
    for arg in map(to_expr, args):
        atom = arg.terms[0][0] if len(arg.terms) == 1 and arg.terms[0][1] == 1 and not arg.offset else None
        for e in atom.args if isinstance(atom, Compound) and atom.kind == kind else (arg,):
            flat[e] = None
    if len(flat) == 1:
        return next(iter(flat))
    # arguments that differ by a constant only: one of them wins
    best: dict[frozenset[tuple[Atom, int]], Expr] = {}
    for e in flat:
        key = frozenset(e.terms)
        known = best.get(key)
        if known is None or fold(known.offset, e.offset) != known.offset:
            best[key] = e
    if len(best) == 1:
        return next(iter(best.values()))
    return _atom(kind, *sorted(best.values(), key=str))


def joined_sizes(*sizes: Any) -> Any:
    """`broadcast` of integers, or of numpy's arrays of them."""
    return reduce(lambda a, b: a + (a == 1) * (b - 1), sizes)  # the next one in place of a 1


_BUILDERS = {"min": minimum, "max": maximum, "broadcast": broadcast}


def _evaluate(atom: Compound, values: Mapping[Any, Any]) -> Any:
    args = [a.evaluate(values) for a in atom.args]
    if atom.kind in ("floordiv", "mod"):
        return (floor_quotient if atom.kind == "floordiv" else floor_remainder)(*args)
    if atom.kind == "product":
        return reduce(lambda a, b: a * b, args)
    if atom.kind == "broadcast":
        return joined_sizes(*args)
    if all(isinstance(a, int) for a in args):
        return min(args) if atom.kind == "min" else max(args)
    import numpy as np

    return reduce(np.minimum if atom.kind == "min" else np.maximum, args)
