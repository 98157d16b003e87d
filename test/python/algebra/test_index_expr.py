"""Index arithmetic against plain integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, ExprLike, Key, broadcast, const, maximum, minimum, var
from tilework.algebra.intervals import interval
from tilework.algebra.modular import ModularSet, modular_set
from tilework.algebra.parse import parse
from tilework.algebra.predicate import at_least, less_than

RANGES = {"i": (0, 6), "j": (-3, 4), "k": (1, 16)}


TILES: dict[Key, tuple[ExprLike, ExprLike]] = {
    "k": (1, 9),
    "i": (0, (var("k") + 3) // 4 - 1),
    "j": (0, minimum(3, var("k") - 4 * var("i") - 1)),
}
"""Ranges that depend on outer variables: elements j of tiles i of a vector of k."""


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> Expr:
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([var("i"), var("j"), var("k"), const(draw(st.integers(-20, 20)))]))
    a, b = draw(expressions(depth=depth - 1)), draw(expressions(depth=depth - 1))
    d = draw(st.integers(1, 17))
    return draw(
        st.sampled_from(
            [
                *(a + b, a - b, a * draw(st.integers(-5, 5)), minimum(a, b), maximum(a, b)),
                *(a // d, a % d, a * var("k"), a // var("k"), a % var("k")),
            ]
        )
    )


TILE_POINTS = [
    {"k": k, "i": i, "j": j} for k in range(1, 10) for i in range((k + 3) // 4) for j in range(min(4, k - 4 * i))
]
points = st.fixed_dictionaries({k: st.integers(lo, hi) for k, (lo, hi) in RANGES.items()})


@settings(max_examples=300)
@given(expressions(), points)
def test_simplify_and_text_keep_the_value(e: Expr, at: dict[str, int]):
    expected = e.evaluate(at)
    assert Domain(RANGES).simplify(e).evaluate(at) == expected
    assert parse(str(e)).evaluate(at) == expected
    assert e.substitute(at).constant == expected


@settings(max_examples=300)
@given(expressions(), points)
def test_bounds_hold(e: Expr, at: dict[str, int]):
    domain = Domain(RANGES)
    low, high = domain.lower(e), domain.upper(e)
    value = e.evaluate(at)
    assert low is None or low <= value
    assert high is None or value <= high


@settings(max_examples=300)
@given(expressions())
def test_ranges_that_depend_on_each_other(e: Expr):
    domain = Domain(TILES)
    simple, low, high = domain.simplify(e), domain.lower(e), domain.upper(e)
    for at in TILE_POINTS:
        value = e.evaluate(at)
        assert simple.evaluate(at) == value
        assert (low is None or low <= value) and (high is None or value <= high)


def test_bounds_are_exact_where_ranges_depend_on_outer_variables():
    domain = Domain({"N": (1, None), "i": (0, var("N") - 1)})
    assert domain.proves(less_than(var("i"), var("N"))) is True
    assert domain.proves(at_least(var("i"), var("N"))) is False
    assert domain.proves(at_least(var("i"), 1)) is None


def test_split_indices_come_back_together():
    domain = Domain({"o": (0, 7), "i": (0, 15)})
    fused = 16 * var("o") + var("i")
    assert domain.simplify(fused // 16) == var("o")
    assert domain.simplify(fused % 16) == var("i")
    assert domain.simplify((fused // 4) * 4 + fused % 4) == fused


def test_a_quotient_by_a_divisor_of_an_empty_range_has_no_bounds():
    domain = Domain({"x": (-5, 5), "d": (1, 0)})
    quotient = var("x") // var("d")
    assert (domain.lower(quotient), domain.upper(quotient)) == (None, None)


@pytest.mark.parametrize("text", ["x floordiv N", "(x + 1) mod N"])
def test_a_divisor_that_is_always_0_simplifies_to_0(text: str):
    assert Domain({"x": (0, 9), "N": (0, 0)}).simplify(parse(text)) == 0


@pytest.mark.parametrize(
    ("text", "value"), [("x floordiv N", 0), ("x mod N", 0), ("M * (x floordiv (M * N)) + x mod (x - 7) + 1", 1)]
)
def test_divided_by_0_is_0_and_leaves_0(text: str, value: int):
    point = {"x": 7, "N": 0, "M": 2}
    assert parse(text).evaluate(point) == parse(text).substitute(point) == value
    several = {"x": np.array([7, 7]), "N": np.array([0, 3]), "M": np.array([2, 2])}
    assert parse(text).evaluate(several).tolist() == [value, parse(text).evaluate({**point, "N": 3})]


def test_sizes_that_broadcast_are_one():
    p, q, r = var("p"), var("q"), var("r")
    assert broadcast(p, 1) == broadcast(p, p) == p
    assert broadcast(p, 6) == broadcast(6, p) == 6
    assert broadcast(broadcast(p, q), r) == broadcast(r, q, p) == broadcast(p, broadcast(q, broadcast(r, q)))
    assert broadcast(p, q).substitute({"q": p}) == p
    assert str(2 * broadcast(p, q) + 1) == "2 * broadcast(p, q) + 1"
    assert parse("r * broadcast(p, q + 1)") == r * broadcast(p, q + 1)


@pytest.mark.parametrize(
    ("p", "q", "both"), [(4, 4, 4), (1, 4, 4), (4, 1, 4), (1, 1, 1), (0, 1, 0), (1, 0, 0), (0, 0, 0)]
)
def test_what_sizes_that_broadcast_are(p: int, q: int, both: int):
    joined, domain = broadcast(var("p"), var("q")), Domain({"p": (0, 4), "q": (0, 4)})
    assert joined.evaluate({"p": p, "q": q}) == both
    assert joined.substitute({"p": p, "q": q}) == both
    assert (domain.lower(joined - var("p")), domain.lower(joined), domain.upper(joined)) == (-4, 0, 4)
    assert domain.simplify(joined) == joined
    assert modular_set(broadcast(4 * var("p") + 1, 6 * var("q") + 3)) == ModularSet(2, 1)
    [(low, high)] = [interval(joined, {"p": (const(2), const(3)), "q": (const(3), var("N"))})]
    assert (low, high) == (const(2), maximum(3, var("N")))


@pytest.mark.parametrize(
    ("text", "message"),
    [("i +", "expected an index expression"), ("i mod 0", "a positive divisor"), ("i j", "expected the end")],
)
def test_bad_text_is_refused(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        parse(text)
