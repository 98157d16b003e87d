"""Shapes that broadcast together, also where only the running program knows which of two sizes is 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product, zip_longest

from tilework.algebra.index_expr import Expr, broadcast, broadcast_parts, const, minimum
from tilework.algebra.predicate import Predicate, equal
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import SizesDiffer
from tilework.dialects.te.builder import Scalar, Tensor


def broadcast_dims(left: Sequence[Expr], right: Sequence[Expr]) -> tuple[Expr, ...]:
    """The dimensions of both operands together: aligned at the last, a 1 yields.

    Two sizes that may be equal are joined by `broadcast`; raises SizesDiffer for others.
    """
    joined: list[Expr] = []
    for a, b in zip_longest(reversed(left), reversed(right), fillvalue=const(1)):
        if a != b and 1 not in (a, b) and Requirement(_ways(a, b), "").is_never_met():
            shapes = " and ".join(f"[{', '.join(map(str, dims))}]" for dims in (left, right))
            raise SizesDiffer(a, b, f"shapes {shapes} do not broadcast: {a} is not {b}")
        joined.insert(0, broadcast(a, b))
    return tuple(joined)


def read_broadcast(x: Tensor, dims: Sequence[Expr], index: Sequence[Expr]) -> Scalar:
    """The element of `x` that stands at `index` of a tensor of dimensions `dims`, to which `x` broadcasts."""
    skipped = len(dims) - len(x.dims)
    return x[tuple(map(_own_index, x.dims, dims[skipped:], index[skipped:]))]


def _own_index(size: Expr, joined: Expr, index: Expr) -> Expr:
    """The index along an axis of this size: 0 where that is 1."""
    if size == joined:
        return index
    return const(0) if size == 1 else minimum(index, size - 1)


def broadcast_requirements(title: str, *shapes: Sequence[Expr]) -> Iterator[Requirement]:
    """Requirements that the operands' shapes broadcast, for an operator of this title.

    Sizes that `broadcast` has joined in one size are taken to fit each other.
    """
    for sizes in zip_longest(*map(reversed, shapes), fillvalue=const(1)):
        for one, other in combinations(dict.fromkeys(sizes), 2):
            parts, others = broadcast_parts(one), broadcast_parts(other)
            pairs = product(set(parts).difference(others), set(others).difference(parts))
            yield from (_requirement(title, a, b) for a, b in sorted(pairs, key=str))


def broadcast_to_requirements(title: str, shape: Sequence[Expr], target: Sequence[Expr]) -> Iterator[Requirement]:
    """Requirements that a shape broadcasts to `target`, for an operator of this title.

    Sizes that `broadcast` has joined in one size of the target are required to fit each other.
    """
    for joined in target:
        yield from (_requirement(title, a, b) for a, b in combinations(broadcast_parts(joined), 2))
    for size, joined in zip(reversed(shape), reversed(target), strict=False):
        if size not in (1, joined, *broadcast_parts(joined)):
            text = f"{title} makes size {joined} of an axis of size {size}, which is neither that nor 1"
            yield Requirement((equal(size, joined), equal(size, 1)), text)


def _requirement(title: str, a: Expr, b: Expr) -> Requirement:
    text = f"{title} takes sizes {a} and {b} of one axis, which are neither equal nor is one of them 1"
    return Requirement(_ways(a, b), text)


def sizes_beside(joined: Sequence[Expr], *shapes: Sequence[Expr]) -> Iterator[tuple[Expr, Expr]]:
    """The sizes in shapes, with those that they become in a shape that they broadcast to."""
    for shape in shapes:
        yield from zip(reversed(shape), reversed(joined), strict=False)


def are_computed_alike(one: Expr, other: Expr) -> bool:
    """Whether sizes of one axis are computed from the same symbols in different ways: they have to be equal then."""
    parts, others = broadcast_parts(one), broadcast_parts(other)
    return one != other and not {*parts} & {*others} and not {*one.variables()}.isdisjoint(other.variables())


def _ways(a: Expr, b: Expr) -> tuple[Predicate, ...]:
    """In which two sizes may broadcast."""
    return equal(a, b), equal(a, 1), equal(b, 1)
