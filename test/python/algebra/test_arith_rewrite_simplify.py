"""Identities of index arithmetic, and comparisons. The tests are named after TVM's."""

from itertools import product

import pytest
from index_checks import check, condition, points
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import const
from tilework.algebra.parse import parse
from tilework.analysis.domains import Scope, ends_from, tightened

SOME = (0, 30)


# tvm: test_arith_rewrite_simplify/add_index_simplify
def test_add_index_simplify():
    check("x + (y - x)", "y")
    check("x - (y + 1) + (y + 1)", "x")
    check("(x - 10) + (10 - z)", "x - z")
    check("(x - y) + (z - x)", "z - y")
    check("min(x, y - z) + z", "min(x + z, y)")
    check("min(x - z, y) + z", "min(x, y + z)")
    check("max(x, y - 10) + 10", "max(x + 10, y)")
    check("max(x - 11, y) + 11", "max(x, y + 11)")
    check("max(x, y + 2) + -2", "max(x + -2, y)")
    check("min(x + 2, y + 3) + -2", "min(x, y + 1)")
    check("x * y + x * 10", "x * (y + 10)")
    check("y * (x mod 8) + 10 * (x mod 8)", "(x mod 8) * (y + 10)")
    check("(x floordiv 8) * 8 + x mod 8", "x")
    check("x + 2 + 3 + 4 + x * 3", "x * 4 + 9")


# tvm: test_arith_rewrite_simplify/sub_index_simplify
def test_sub_index_simplify():
    check("x + y - y", "x")
    check("x - (y + x)", "0 - y")
    check("min(x, y) - x", "min(0, y - x)")
    check("min(x, y) - y", "min(x - y, 0)")
    check("max(x, y) - x", "max(0, y - x)")
    check("x - min(x, y)", "max(0, x - y)")
    check("y - max(x, y)", "min(y - x, 0)")
    check("x * y - 10 * x", "x * (y - 10)")
    check("y * x - x * z", "x * (y - z)")
    check("(y + x) - (z + x)", "y - z")
    check("min(x + y, z) - x", "min(y, z - x)")
    check("x - min(z, y + x)", "max(x - z, 0 - y)")
    check("min(x, y) - min(y, x)", "0")
    check("min(x, y) - min(x + 10, y + 10)", "-10")
    check("min(x + 10, y + 1) - min(x, y - 9)", "10")
    check("x - (x floordiv 3) * 3", "x mod 3")
    check("(y floordiv 3) * 3 - y", "0 - y mod 3")
    check("y - ((y - 6) floordiv 5) * 5", "(y + 4) mod 5 + 6")


# tvm: test_arith_rewrite_simplify/mul_index_simplify
def test_mul_index_simplify():
    check("(x + 2) * 3", "x * 3 + 6")
    check("(x * 2) * 3", "x * 6")
    check("(x - y) * -2", "(y - x) * 2")


# tvm: test_arith_rewrite_simplify/div_index_simplify test_arith_rewrite_simplify/floordiv_index_simplify
def test_floordiv_index_simplify():
    check("x floordiv 2 floordiv 3", "x floordiv 6")
    check("(x floordiv 2 + 1) floordiv 3", "(x + 2) floordiv 6")
    check("x * 2 floordiv 4", "x floordiv 2")
    check("x * 4 floordiv 2", "x * 2")
    check("(x * 4 + y) floordiv 2", "x * 2 + y floordiv 2")
    check("(x * 6 + y + z) floordiv 2", "x * 3 + (y + z) floordiv 2")
    check("(x * 6 - y + (y + 3)) floordiv 2", "x * 3 + 1")
    check("(x + 4) floordiv 2", "x floordiv 2 + 2")
    check("(x + y) floordiv x", "y floordiv x + 1", x=(1, 9))
    check("(y + (z + x)) floordiv x", "(y + z) floordiv x + 1", x=(1, 9))
    check("(x * y) floordiv y", "x", y=(1, 9))
    check("(x * z + y) floordiv z", "x + y floordiv z", z=(1, 9))
    check("(y + z * x) floordiv z", "y floordiv z + x", z=(1, 9))
    check("(32 * x * z + y * z) floordiv (2 * z)", "16 * x + (y * z) floordiv (2 * z)", z=(1, 9))


# tvm: test_arith_rewrite_simplify/mod_index_simplify test_arith_rewrite_simplify/floormod_index_simplify
def test_floormod_index_simplify():
    check("x * 10 mod 2", "0")
    check("(x * 10 + y) mod 2", "y mod 2")
    check("(x + 10) mod 2", "x mod 2")
    check("(x + y * 10) mod 2", "x mod 2")
    check("(x * 10 + 1 + y * 2 + 2) mod 2", "1")
    check("(x mod 12) mod 4", "x mod 4")
    check("(x + 3 * (y mod 8)) mod 4", "(x + 3 * y) mod 4")
    check("(x * z + y) mod z", "y mod z", z=(1, 9))
    check("x mod y", "x", x=(0, 7), y=(8, 9))


# tvm: test_arith_rewrite_simplify/min_index_simplify
def test_min_index_simplify():
    check("min(x mod 2, y mod 2 + 10)", "x mod 2")
    check("min(x + 111, x + 10)", "x + 10")
    check("min(x, x + 2)", "x")
    check("min(3 - x, 2 - x)", "2 - x")
    check("min((x + 3) floordiv 4 * 4, x)", "x")
    check("min((x + 3) floordiv 4 * 4, max(x, 4))", "max(x, 4)", x=(1, 40))
    check("min(max(x, y), min(x, y))", "min(x, y)")
    check("min(max(x, y), x)", "x")
    check("min(x, max(y, x))", "x")
    check("min(y, min(x, y))", "min(x, y)")
    check("min(min(min(min(x, y), z), x * 2), y)", "min(min(min(x, y), z), x * 2)")
    check("min(min(x, 11), 10)", "min(x, 10)")
    check("min(x, 9)", "x", x=(-3, 9))


# tvm: test_arith_rewrite_simplify/max_index_simplify
def test_max_index_simplify():
    check("max(x mod 2, y mod 2 + 10)", "y mod 2 + 10")
    check("max(x + 111, x + 10)", "x + 111")
    check("max(1 - x, 2 - x)", "2 - x")
    check("max((x + 3) floordiv 4 * 4, x)", "(x + 3) floordiv 4 * 4")
    check("max(min(x, y), max(x, y))", "max(x, y)")
    check("max(min(x, y), x)", "x")
    check("max(y, max(x, y))", "max(x, y)")
    check("max(max(max(max(x, y), z), x * 2), y)", "max(max(max(x, y), z), x * 2)")
    check("max(max(x, 1), 10)", "max(x, 10)")


@pytest.mark.parametrize(
    ("given", "simple"),
    [
        ("x - 10 == 0", "x == 10"),
        ("x + y < x + z", "y < z"),
        ("x - y < x - z", "z < y"),
        ("x < z + x", "0 < z"),
        ("100 < x + 1", "99 < x"),
        ("x * 3 < y * 3", "x < y"),
        ("x * 3 >= y * 3", "y <= x"),
        ("x * 4 >= 2", "x >= 1"),
        ("x * 4 <= 2", "x <= 0"),
        ("x * 2 >= -3", "x >= -1"),
        ("x * -2 >= 3", "x <= -2"),
        ("x * -2 <= -3", "x >= 2"),
        ("2 * x - 4 * y <= 0", "x - 2 * y <= 0"),
        ("x floordiv 2 < 3", "x < 6"),
        ("3 < x floordiv 2", "7 < x"),
        ("x floordiv 3 >= 0", "x >= 0"),
        ("x floordiv 2 <= -1", "x <= -1"),
        ("2 * ((x + y) floordiv 4) >= 3", "x + y >= 8"),
        ("x floordiv 4 * 4 >= x", "x mod 4 <= 0"),
        ("(x + 2) floordiv 4 * 4 >= x + y", "(x + 2) mod 4 + y <= 2"),
    ],
)
# tvm: test_arith_rewrite_simplify/cmp_simplify
def test_cmp_simplify(given: str, simple: str):
    p, q = condition(given), condition(simple)
    for at in points(given, {}):
        assert p.evaluate(at) == q.evaluate(at) == tightened(p).evaluate(at), at
    simplify = Domain().simplify
    assert simplify(tightened(p).expr) == simplify(tightened(q).expr)


# tvm: test_arith_rewrite_simplify/cmp_simplify
def test_comparisons_that_ranges_decide():
    anywhere = Domain()
    for text, truth in {
        "x mod 2 + 10 == 0": False,
        "x mod 2 + 10 > 1": True,
        "x * 3 + 10 == 0": False,
        "4 * x + 6 * y + 1 == 0": False,
        "min(x, 8) < 10": True,
    }.items():
        assert anywhere.proves(condition(text)) is truth, text
    ranges = Domain({"x": (0, 10), "y": (-10, 0), "z": (-5, 5)})
    for text, truth in {
        "x < 11": True,
        "z <= 5": True,
        "x + y >= -10": True,
        "z - 5 <= y + 10": True,
        "x * y <= 0": True,
        "(x + 1) * (y - 1) < 0": True,
        "y * y >= 0": True,
        "x * 6 <= -3": False,
        "z <= x + 4": None,
    }.items():
        assert ranges.proves(condition(text)) is truth, text


# tvm: test_arith_rewrite_simplify/logical_simplify
def test_logical_simplify():
    """Where one condition holds, another that contradicts it does not, and one that it implies does."""
    never = ["x < 1, 0 < x", "x < 0, 1 < x", "x <= 1, 1 < x", "2 <= x, x <= 1", "x <= y, y < x", "x == 1, x > 1"]
    for conditions in never:
        first, second = map(condition, conditions.split(", "))
        assert Scope(Domain({"x": (None, None)})).inside_if([first]).proves(second) is False, conditions
        assert Scope(Domain({"x": (None, None)})).inside_if([second]).proves(first) is False, conditions
    one = Scope(Domain({"x": (None, None)})).inside_if([condition("x == 1")])
    assert one.proves(condition("x < 2")) is True
    assert one.inside_if([condition("y > x")]).proves(condition("y >= 2")) is True


def test_conditions_bound_a_variable():
    assert ends_from(condition("3 * x - y >= 0"), "x") == (-(-parse("y") // 3), None)
    assert ends_from(tightened(condition("x floordiv 4 < 3")), "x") == (None, 11)


@pytest.mark.parametrize(
    ("extent", "holds", "open_"),
    [
        ("N", ["N >= 1"], ["N >= 2"]),
        ("N - 3", ["N >= 4"], ["N >= 5"]),
        ("N + 3", ["N >= 0"], ["N >= 1"]),
        ("2 * N", ["N >= 1"], []),
        ("2 * N - 5", ["N >= 3"], ["N >= 4"]),
        ("N * M", ["N >= 1", "M >= 1"], ["N * M >= 2"]),
        ("N * M * 8", ["N >= 1", "M >= 1"], []),
        ("N floordiv 4", ["N >= 4", "N floordiv 4 >= 1"], ["N >= 5"]),
        ("(N + 7) floordiv 8", ["N >= 1"], ["N >= 2"]),
        ("(N * M + 7) floordiv 8", ["N >= 1", "M >= 1"], ["N >= 2"]),
        # of these there may be one that is less than 0, or one that is not
        ("N * (M - 2)", [], ["N >= 1", "M >= 1"]),
        ("N + M", [], ["N >= 1", "M >= 1"]),
        ("4 - N", [], ["N >= 1"]),
    ],
)
def test_inside_a_loop_that_runs_no_factor_of_its_extent_is_0(extent: str, holds: list[str], open_: list[str]):
    """`open_`: what is not known in there. Everything is at every point."""
    sizes = Scope(Domain({"N": (0, None), "M": (0, None)}))
    [index] = Block(arg_types=[IndexType()]).args
    for lower in (const(0), const(2)):
        inside = sizes.inside_loop(index, lower, parse(extent) + lower)
        for text in holds:
            assert inside.proves(condition(text)) is True, text
        for text in open_:
            assert inside.proves(condition(text)) is None, text
    for n, m in product(range(12), repeat=2):
        runs = parse(extent).evaluate({"N": n, "M": m}) >= 1
        assert not runs or all(condition(text).evaluate({"N": n, "M": m}) for text in holds), (n, m)


def test_sizes_that_are_known_better_stay_so():
    [index] = Block(arg_types=[IndexType()]).args
    inside = Scope(Domain({"N": (5, 9)})).inside_loop(index, const(0), parse("N"))
    assert inside.proves(condition("N >= 5")) is True and inside.proves(condition("N <= 9")) is True
    around = Scope(Domain({"N": (0, 9)}))
    assert around.inside_loop(index, const(0), parse("N")).proves(condition("N <= 9")) is True
    assert around.proves(condition("N >= 1")) is None


def test_conditions_bound_what_they_are_about():
    """Where one holds, a sum that it is about is no less than it says; not elsewhere."""
    around = Scope(Domain({"N": (1, None), "M": (1, None), "x": (0, None)}))
    inside = around.inside_if([condition("N - 4 * (x floordiv M) >= 6")])
    for text, low in (("N - 4 * (x floordiv M)", 6), ("N - 4 * (x floordiv M) - 1", 5)):
        assert inside.domain.lower(parse(text)) == low, text
    assert inside.proves(condition("N - 4 * (x floordiv M) >= 5")) is True
    assert inside.proves(condition("N - 4 * (x floordiv M) >= 7")) is None
    assert around.domain.lower(parse("N - 4 * (x floordiv M)")) is None
    assert around.inside_else([condition("x - N >= 0")]).domain.upper(parse("x - N")) == -1
    other = around.inside_else([condition("x - 2 * N >= 0"), condition("x >= 1")])
    assert other.domain.upper(parse("x - 2 * N")) is None  # it may be the other that does not hold
