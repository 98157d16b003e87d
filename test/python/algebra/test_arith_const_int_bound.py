"""The least and greatest value of an index expression. The tests are named after TVM's."""

from itertools import product

from index_checks import check_bounds

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import maximum, minimum, var
from tilework.algebra.predicate import at_least

X, Y = (-9, 4), (4, 10)


# tvm: test_arith_const_int_bound/add_sub_bound
def test_add_sub_bound():
    check_bounds("x + y", None, None)
    check_bounds("x + y", 1, 14, x=(0, 4), y=(1, 10))
    check_bounds("x - y", -10, 3, x=(0, 4), y=(1, 10))
    check_bounds("x - y", -10, None, x=(0, None), y=(1, 10))
    check_bounds("1 - x", None, 1, x=(0, None))


# tvm: test_arith_const_int_bound/mul_bound
def test_mul_bound():
    check_bounds("x * y + 20", 0, 60, x=(-2, 4), y=(4, 10))
    check_bounds("x * y", -32, 24, x=(-3, 4), y=(-8, 2))
    check_bounds("x * y", None, None, x=(None, 4), y=(-8, 2))
    check_bounds("x * y * z", 6, None, x=(1, None), y=(2, 4), z=(3, 3))


# tvm: test_arith_const_int_bound/floordiv_bound
def test_floordiv_bound():
    check_bounds("x floordiv y", -9 // 4, 1, x=X, y=Y)
    check_bounds("x floordiv y", 0, 2, x=(3, 9), y=Y)
    check_bounds("x floordiv y", -3, -1, x=(-9, -3), y=(4, None))
    check_bounds("x floordiv y", None, 1, x=(None, 4), y=Y)
    check_bounds("x floordiv 4", -3, 1, x=X)


# tvm: test_arith_const_int_bound/floormod_bound
def test_floormod_bound():
    check_bounds("x mod y", 0, 9, x=X, y=Y)
    check_bounds("x mod y", 0, 9, y=Y)
    check_bounds("x mod y", 0, 9, x=(1, None), y=Y)
    check_bounds("x mod 8", 0, 4, x=(0, 4))
    check_bounds("(4 * x) mod 16", 0, 12)


# tvm: test_arith_const_int_bound/min_max_bound
def test_min_max_bound():
    check_bounds("min(x, y)", -9, 10, x=(-9, 11), y=Y)
    check_bounds("min(x, y)", None, 10, y=Y)
    check_bounds("max(x, y)", 4, None, y=Y)
    check_bounds("max(x, y)", 4, None, x=(1, None), y=Y)
    check_bounds("x - min(x, y)", 0, 18, x=(0, 18), y=(0, 18))


# tvm: test_arith_const_int_bound/mix_index_bound
def test_mix_index_bound():
    check_bounds("x mod 8 + x floordiv 8 * 8", 0, 23, x=(0, 23))
    check_bounds("y + x * 3", 0, 24 * 3 - 1, x=(0, 23), y=(0, 2))
    check_bounds("x mod 7 + x floordiv 7 * 7", 0, 27, x=(0, 23))
    check_bounds("4 * ((x + 3) floordiv 4) - x", 0, 3)


def test_size_var_bound():
    check_bounds("N", 0, None, N=(0, None))
    check_bounds("N mod 4", 0, 3, N=(0, None))


def test_bounds_by_divisibility():
    """What the ranges alone show is not attained: multiples of 4 above 1 begin at 4."""
    check_bounds("4 * max(x, y)", 4, 12, x=(1, 3), y=(-5, 2))
    check_bounds("6 * x * y + 4 * z", -20, 28, x=(-1, 1), y=(-2, 2), z=(-2, 4))


def test_quotients_that_cancel():
    """What is in an extremum, or in a quotient of quotients, is looked at before the quotients that it may cancel."""
    check_bounds("14 * (x floordiv 16) + 2 * max(1 - 7 * (x floordiv 16), 0)", 2, 14, x=(0, 31))
    check_bounds("28 * (x floordiv 32) - 6 * ((14 * (x floordiv 32) + 2) floordiv 3)", -4, 0, x=(0, 63))


def test_quotients_by_nested_steps():
    """A quotient and a multiple of a coarser one are compared exactly; other quotients lose what is rounded."""
    check_bounds("(N + 1) floordiv 2 - 4 * ((N + 1) floordiv 8)", 0, 3, N=(0, None))
    check_bounds("4 * ((N + 1) floordiv 8) - (N + 1) floordiv 2", -3, 0, N=(0, None))
    check_bounds("(N + 8) floordiv 2 - 4 * (N floordiv 8)", 4, 7, N=(0, None))
    check_bounds("(N + 1) floordiv 2 - 4 * ((N + 9) floordiv 8)", -4, -1, N=(0, None))
    check_bounds("N floordiv 2 - 5 * (N floordiv 8)", None, 4, N=(0, None))
    check_bounds("N floordiv 2 - 4 * (M floordiv 8)", None, None, M=(0, None), N=(0, None))
    check_bounds("2 * (N floordiv 4) - 3 * (N floordiv 6)", -1, 2, N=(0, None))


def test_quotients_by_symbols():
    """A range that ends before a multiple of the divisor."""
    n, x, y, z = map(var, ("N", "x", "y", "z"))
    domain = Domain({"N": (0, None), "x": (0, 2 * n - 1), "y": (0, x), "z": (0, 2 * n)})
    assert [domain.upper(e // maximum(1, n)) for e in (x, y, x + 1, z)] == [1, 1, None, None]
    assert domain.upper(x // (n + 1)) == 1


def test_quotients_and_remainders_by_symbols():
    """Points are counted through: the row is one of P, the column one of Q, whether or not they are a part."""
    p, q, t, u = map(var, ("P", "Q", "t", "u"))
    sizes = Domain({"P": (1, None), "Q": (1, None), "u": (0, None)})
    counted = sizes.extended("t", 0, p * q - 1)
    assert (counted.lower(t // q), counted.upper(t // q - p), counted.upper(t % q - q)) == (0, -1, -1)
    block = sizes.extended("t", 0, minimum(p * q - 60 * u, 60) - 1)
    assert block.upper((t + 60 * u) // q - p) == -1
    assert block.upper(t // q) == 59
    reversed_sizes = Domain({"Q": (1, None), "P": (1, None)}).extended("t", 0, p * q - 1)
    assert (reversed_sizes.upper(t // q - p), reversed_sizes.upper(t // p - q)) == (-1, -1)  # in any order of symbols
    for last in (p * q, p * q + 5):  # one of them is in the row behind
        assert sizes.extended("t", 0, last).upper(t // q - p) is None
    anything = Domain({"Q": (1, None)}).extended("t", None, p * q - 1)
    assert anything.upper(t // maximum(10, q) - p) is None  # P may be less than 0
    empty = Domain({"P": (0, None), "Q": (0, None)}).extended("t", 0, p * q - 1)
    assert (empty.upper(t // q - p), empty.upper(t % q - q)) == (None, None)  # nobody divides by 0


def test_rows_and_columns_of_counted_points_at_every_size():
    """The bounds by symbols hold wherever they are tried."""
    p, q, t = map(var, "PQt")
    domain = Domain({"P": (1, None), "Q": (1, None)}).extended("t", 0, p * q - 1)
    bounded = [t // q - p, t % q - q, p - t // q, q - t % q, t - q * (t // q), t // (q + 1) - p, t // q - p * q]
    for e in bounded:
        low, high = domain.lower(e), domain.upper(e)
        for rows, columns in product(range(1, 5), repeat=2):
            for point in range(rows * columns):
                at = e.evaluate({"P": rows, "Q": columns, "t": point})
                assert (low is None or low <= at) and (high is None or at <= high), (str(e), rows, columns, point)


def test_bounds_that_are_known_besides_ranges():
    x, y = map(var, "xy")
    anywhere = Domain({"x": (0, None), "y": (0, None)})
    domain = anywhere.knowing(x - y - 2)
    assert (domain.lower(x - y), domain.upper(y - x), domain.lower(x - y + 5)) == (2, -2, 7)
    assert (domain.lower(y - x), domain.lower(x)) == (None, 0)
    assert domain.proves(at_least(x, y)) and anywhere.proves(at_least(x, y)) is None
    assert domain.knowing(x - y - 1).lower(x - y) == domain.knowing(x - y - 2).lower(x - y) == 2
    assert domain.knowing(x - y - 7).lower(x - y) == 7  # the stronger one, in any order
    assert Domain({"x": (5, 9), "y": (0, 2)}).knowing(x - y - 1).lower(x - y) == 3  # that of ranges, where it is more
    assert domain.extended("z", 0, 3).lower(x - y) == 2  # also in a copy
