"""Indices after stages were rewritten: quotients and remainders that cancel are gone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.rewriter import Rewriter

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, Key, Var
from tilework.dialects.te import ComputeOp, ReadOp

NO_SYMBOLS: Mapping[Key, tuple[int, int]] = MappingProxyType({})


def simplify_reads(compute: ComputeOp, symbols: Mapping[Key, tuple[int, int]] = NO_SYMBOLS) -> None:
    """Resolve quotients and remainders in the indices of a stage's reads, given what its axes and symbols range over.

    Axes of one element stay in the indices, where axes are looked for.
    """
    axes = [*compute.spatial, *compute.reduction]
    domain = Domain({**symbols, **{name: (0, extent - 1 if extent != 1 else 1) for name, extent in axes}})
    for read in [op for op in compute.body.walk() if isinstance(op, ReadOp)]:
        exprs = [e if _is_linear(e) else domain.simplify(e) for e in read.exprs]
        if tuple(exprs) != read.exprs:
            simpler = ReadOp(read.tensor, exprs)
            simpler.location = read.location
            Rewriter.replace_op(read, simpler)


def _is_linear(e: Expr) -> bool:
    return all(isinstance(atom, Var) for atom, _ in e.terms)
