"""Points of loop nests against what trying every iteration shows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tilework.algebra.index_expr import Expr, const, maximum, minimum, var
from tilework.algebra.iterations import Clause, Iterations, opposite
from tilework.algebra.predicate import Predicate, at_least, equal

Ranges = dict[Any, tuple[Expr, Expr]]


def points(ranges: Ranges, clauses: list[Clause], values: dict[Any, int]) -> Iterator[dict[Any, int]]:
    """Every point, for symbols with these values."""
    open_ = [key for key in ranges if key not in values]
    if not open_:
        if all(any(p.evaluate(values) for p in clause) for clause in clauses):
            yield values
        return
    first, last = (int(e.evaluate(values)) for e in ranges[open_[0]])
    for i in range(first, last + 1):
        yield from points(ranges, clauses, {**values, open_[0]: i})


def random_expr(rng: random.Random, names: list[str]) -> Expr:
    e = const(rng.randint(-6, 6))
    for name in rng.sample(names, rng.randint(1, len(names))):
        e = e + var(name) * rng.choice([-3, -1, 1, 1, 2])
    match rng.randint(0, 5):
        case 0:
            return e // rng.randint(2, 4)
        case 1:
            return e % rng.randint(2, 5)
        case 2:
            return minimum(e, rng.randint(-2, 6))
        case 3:
            return maximum(e, rng.randint(-2, 6))
        case _:
            return e


@pytest.mark.parametrize("seed", range(200))
def test_a_point_is_found_where_there_is_one(seed: int):
    rng = random.Random(seed)
    ranges: Ranges = {}
    for name in "ijk"[: rng.randint(1, 3)]:
        depends = [*ranges] if ranges and rng.random() < 0.4 else []
        last = var(rng.choice(depends)) + rng.randint(-1, 2) if depends else const(rng.randint(-1, 5))
        ranges[name] = const(rng.randint(0, 1)), last
    names = [*ranges]
    conditions = [Predicate(random_expr(rng, names), rng.choice([">=", ">=", "=="])) for _ in range(rng.randint(0, 2))]
    clauses: list[Clause] = [(p,) if rng.random() < 0.6 else opposite(p) for p in conditions]
    wanted = Predicate(random_expr(rng, names), rng.choice([">=", "=="]))
    iterations, every = Iterations(ranges, clauses), list(points(ranges, clauses, {}))
    found = iterations.point_where(wanted)
    expected = [p for p in every if wanted.evaluate(p)]
    assert (found is not None) == bool(expected)
    if found is not None:
        assert any(all(found[key] == p[key] for key in found) for p in expected)
    if every:
        values = [wanted.expr.evaluate(p) for p in every]
        assert iterations.domain.lower(wanted.expr) is None or iterations.domain.lower(wanted.expr) <= min(values)
        assert wanted.expr.is_constant or iterations.reach(wanted.expr) == (min(values), max(values))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (at_least(var("i"), var("N") - 1), {"i": var("N") - 1}),
        (at_least(var("i") + 1, var("N")), {"i": var("N") - 1}),
        (at_least(-1, var("i") - 1), {"i": const(0)}),
        (at_least(2 * var("i"), var("N")), None),  # not for N = 1
        (at_least(var("i"), var("M")), None),
        (at_least(maximum(var("data"), 0) + 4, 4), {}),  # whatever the data are
        (at_least(var("data"), 0), None),
        (equal(var("i"), 0), {"i": const(0)}),
    ],
)
def test_points_for_all_sizes(wanted: Predicate, found: dict[Any, Expr] | None):
    iterations = Iterations({"i": (const(0), var("N") - 1)}, symbols=["N", "M"])
    assert iterations.point_where(wanted) == found


def test_ends_of_long_loops():
    """And what is near, and where conditions change, but not every point."""
    long = Iterations({"i": (const(0), const(10**9))}, [(at_least(var("i"), 12345),)])
    assert long.point_where(at_least(12345, var("i"))) == {"i": const(12345)}
    assert long.point_where(at_least(var("i"), 10**9)) is not None
    assert long.point_where(at_least(12344, var("i"))) is None
    assert long.reach(var("i") * 2) == (24690, 2 * 10**9)


def test_ends_that_sizes_shorten():
    """Where a loop ends for large sizes is no point that it comes to for all."""
    loop = Iterations({"i": (const(0), minimum(var("N"), 400) - 1)}, symbols=["N"])
    assert loop.point_where(at_least(var("i"), 4)) is None
    assert loop.point_where(at_least(0, var("i"))) == {"i": const(0)}


def test_what_cannot_be_known_is_no_point():
    condition = at_least(var("data"), 0)
    assert Iterations({"i": (const(0), const(3))}, [(condition,)]).point_where(at_least(var("i"), 3)) is None
    assert Iterations({"i": (const(0), const(-1))}).point_where(at_least(var("i"), 0)) is None
