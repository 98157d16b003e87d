"""Index expressions taken apart: what an index adds by itself, and what is left."""

from __future__ import annotations

from collections.abc import Container

from tilework.algebra.index_expr import Compound, Expr, Key, Var, const, factors_of, product
from tilework.tuning.features.program import Form


def form_of(e: Expr, indices: Container[Key], symbols: Container[Key]) -> Form:
    """The expression by indices of loops; what is neither an index nor a symbol was read from memory."""
    coefficients: dict[Key, Expr] = {}
    offset = const(e.offset)
    curved: list[tuple[Expr, Compound]] = []
    unknown = False
    for atom, count in e.terms:
        term = Expr(((atom, count),), 0)
        keys = [key for key in term.variables() if key not in symbols]
        if any(key not in indices for key in keys):
            unknown = True
        elif not keys:
            offset = offset + term
        else:
            fixed, moving = _factors(atom, symbols)
            match moving:
                case [Var(key=key)]:
                    coefficients[key] = coefficients.get(key, const(0)) + fixed * count
                case [Compound() as single]:
                    curved.append((fixed * count, single))
                case _:
                    curved.append((fixed * count, Compound("product", tuple(Expr(((a, 1),), 0) for a in moving))))
    return Form(coefficients, offset, tuple(curved), unknown)


def _factors(atom: Var | Compound, symbols: Container[Key]) -> tuple[Expr, list[Var | Compound]]:
    """The factors of a term over symbols, multiplied, and the others."""
    factors = factors_of(atom)
    fixed = [f for f in factors if all(key in symbols for key in f.variables())]
    return product(fixed), [f.terms[0][0] for f in factors if f not in fixed]
