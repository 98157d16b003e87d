"""The interval an index expression covers while variables run. The tests are named after TVM's."""

import pytest
from index_checks import points, value

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Key, const, var
from tilework.algebra.intervals import Interval, interval
from tilework.algebra.parse import parse

Ends = tuple[str, str]


def ranges_of(given: dict[str, Ends]) -> dict[Key, Interval]:
    return {key: (parse(first), parse(last)) for key, (first, last) in given.items()}


def check(text: str, first: str, last: str, **running: Ends) -> None:
    """The interval is this, once simplified, and holds every value."""
    found = [Domain({"z": (0, 3), "n": (0, None)}).simplify(e) for e in interval(parse(text), ranges_of(running))]
    assert found == [parse(first), parse(last)], found
    inner = {k: (parse(a).constant, parse(b).constant) for k, (a, b) in running.items()}
    if all(None not in ends for ends in inner.values()):
        for at in points(text, {"z": (0, 3), **inner}):
            assert value(first, at) <= value(text, at) <= value(last, at), at


# tvm: test_arith_intset/basic
def test_basic():
    check("x", "2", "3", x=("2", "3"))
    check("x", "z", "z + 7", x=("z", "z + 7"))


# tvm: test_arith_intset/vector
def test_vector():
    """Lanes `stride` apart from a first element."""
    check("10 + 3 * lane", "10", "13", lane=("0", "1"))


# tvm: test_arith_intset/add_sub
def test_add_sub():
    check("x + y", "0", "21", x=("0", "10"), y=("0", "11"))
    check("x - y", "-11", "10", x=("0", "10"), y=("0", "11"))
    check("x - y - z", "-11 - z", "10 - z", x=("0", "10"), y=("0", "11"))
    check("x - x + y", "0", "11", x=("0", "10"), y=("0", "11"))


# tvm: test_arith_intset/mul_div
def test_mul_div():
    check("x * z", "0", "10 * z", x=("0", "10"))
    check("x * -2", "-20", "0", x=("0", "10"))
    check("x floordiv 2", "0", "5", x=("0", "10"))
    check("(x + 8 * z) floordiv 8", "z", "z + 1", x=("0", "10"))


# tvm: test_arith_intset/mod
def test_mod():
    check("x mod 10", "3", "8", x=("3", "8"))
    check("x mod 10", "0", "9", x=("3", "11"))
    check("(8 * z + x) mod 8", "4", "7", x=("4", "7"))
    check("(8 * z + x) mod 4", "0", "3", x=("4", "7"))


# tvm: test_arith_intset/max_min
def test_max_min():
    check("max(x, x + 1)", "1", "11", x=("0", "10"))
    check("min(x - 1, x + 1)", "-1", "9", x=("0", "10"))
    check("min(x, y)", "0", "10", x=("0", "10"), y=("0", "11"))
    check("max(x, y)", "0", "11", x=("0", "10"), y=("0", "11"))


# tvm: test_arith_domain_touched/domain_touched
def test_domain_touched():
    """What `a[i, j] = b[i - 1, j + 1] + a[i - 1, j - 1]` touches while i and j run."""
    running = ranges_of({"i": ("0", "99"), "j": ("0", "n - 1")})
    assert interval(parse("i - 1"), running) == (parse("-1"), parse("98"))
    assert interval(parse("j - 1"), running) == (parse("-1"), parse("n - 2"))
    assert interval(parse("j + 1"), running) == (parse("1"), parse("n"))
    assert interval(parse("j"), running) == (parse("0"), parse("n - 1"))


@pytest.mark.parametrize("first", [-5000, -7, -1, 0, 1, 3])
def test_divisors_that_run(first: int):
    """Also through 0, by which nothing is divided that counts, and over more values than are tried one by one."""
    x, d = var("x"), var("d")
    many = 10_000 if first == -5000 else 9
    ranges = {"x": (const(-20), const(31)), "d": (const(first), const(first + many))}
    xs, divisors = range(-20, 32), [n for n in range(first, first + many + 1) if n]
    for e, values in ((x // d, {i // n for i in xs for n in divisors}), (x % d, {i % n for i in xs for n in divisors})):
        low, high = interval(e, ranges)
        assert low.constant is not None and high.constant is not None
        assert low.constant <= min(values) and max(values) <= high.constant


def test_a_divisor_that_may_be_negative():
    """A difference of sizes is no size."""
    low, high = interval(var("x") // (var("N") - 5), {"x": (const(0), const(20))})
    for n in range(0, 12):
        values = [x // (n - 5) for x in range(21)] if n != 5 else [0]
        assert low.evaluate({"N": n}) <= min(values) and max(values) <= high.evaluate({"N": n})
