"""One form for equal index expressions. The tests are named after TVM's."""

from index_checks import check, condition, value

from tilework.algebra.bounds import Domain
from tilework.analysis.domains import tightened

THOUSAND = (0, 1000)


# tvm: test_arith_canonical_simplify/mul_sum_simplify
def test_mul_sum_simplify():
    check("2 + (3 * x + z + y + 1) * 4 + x", "13 * x + 4 * z + 4 * y + 6")
    check("x * 3 - 4 * x + 1", "1 - x")
    check("y + x * 3 - 5 * x + 1 + y", "2 * y + 1 - 2 * x")
    check("(x + y + x + y * 3) floordiv 2", "2 * y + x")
    check("(x + y + x + y * 3) mod 2", "0")
    check("(x + x + y * 3) mod 2", "(y * 3) mod 2")
    check("(x + x + y * 3) floordiv 2", "(y * 3) floordiv 2 + x")


# tvm: test_arith_canonical_simplify/split_index_simplify
def test_split_index_simplify():
    check("(x floordiv 3) * 3 + x mod 3", "x")
    check("(x floordiv 6) * 6 + ((x floordiv 3) mod 2) * 3 + x mod 3", "x")
    check("((x floordiv 3) mod 2) * 3 + x mod 3", "x mod 6")
    check("((x mod 16) floordiv 2 * 2) floordiv 4", "(x mod 16) floordiv 4")
    check("((x mod 16) floordiv 2 * 2) floordiv 6", "(x mod 16) floordiv 6")
    check("(x mod 2) floordiv 8", "0")
    check("(x mod 2) floordiv 7", "0")
    check("(x * 8) mod 16", "(x mod 2) * 8")
    check("(x * 8) mod 2", "0")
    for bounds in (THOUSAND, (-100, 1000)):
        check("(x * 4 + y) floordiv 2 * 2 + (x * 4 + y) mod 2", "x * 4 + y", x=bounds, y=bounds)
    check("(z * 9 + y) floordiv 2 * 2 + (z * 9 + y) mod 2", "z * 9 + y")
    check("(x * 5) floordiv 2", "(x * 5) floordiv 2")
    # a remainder that cannot be, because of the ranges
    check("(16 * x + y) mod 64", "16 * (x mod 4) + y", x=(0, 9), y=(0, 15))
    check("(16 * x + y) floordiv 64", "x floordiv 4", x=(0, 9), y=(0, 15))


# tvm: test_arith_canonical_simplify/div_simplify
def test_div_simplify():
    check("(16 + 48 * x) floordiv 16", "x * 3 + 1")
    check("(17 + 48 * x) floordiv 16", "x * 3 + 1")
    check("(17 + 47 * x) floordiv 16", "(x * 47 + 1) floordiv 16 + 1")
    # sizes that are not known
    check("(i * N + j) floordiv N", "i", N=(1, None), i=(0, 3), j=(0, 0))
    check("(i * N * M + j * N + k) floordiv N", "i * M + j + k floordiv N", N=(1, 5), M=(1, 5))
    check("(i * (N + 1) + j) mod (N + 1)", "j mod (N + 1)", N=(0, 5))


def test_quotients_and_remainders_by_a_size_come_back_together():
    """They do as those by a number do; both may be multiplied by others, and there may be more besides."""
    sizes = {"N": (1, 9), "M": (1, 9)}
    check("(x floordiv N) * N + x mod N", "x", N=(1, 9))
    check("2 * N * (x floordiv N) + 2 * (x mod N) + y", "2 * x + y", N=(1, 9))
    check("M * N * (x floordiv N) + M * (x mod N)", "M * x", **sizes)
    check("M * N * (x floordiv (M * N)) + x mod (M * N) - x", "0", **sizes)
    # three axes, as of an element of an image whose number is x
    text = "M * N * (x floordiv (M * N)) + N * ((x mod (M * N)) floordiv N) + (x mod (M * N)) mod N"
    check(text, "x", **sizes)
    check("(x floordiv (N + 1)) * (N + 1) + x mod (N + 1)", "x", N=(0, 9))
    # of something else, or by something else, they stay
    check("(x floordiv N) * N + y mod N", "(x floordiv N) * N + y mod N", N=(1, 9))
    check("(x floordiv M) * M + x mod N", "(x floordiv M) * M + x mod N", **sizes)


# tvm: test_arith_canonical_simplify/floormod_simplify
def test_floormod_simplify():
    check("((x * 4 + y - 466036) mod 24528 - 24512) mod 16", "(x * 4 + y + 12) mod 16")
    check("((x * 4) mod 16) mod 8", "(x mod 2) * 4")
    check("(x * 10 + 1 + y * 2 + 2) mod 2", "1")


# tvm: test_arith_canonical_simplify/canonical_mixed
def test_canonical_mixed():
    check("x floordiv 9 - x floordiv 9", "0")
    check("x floordiv 6 - x floordiv 6", "0")
    check("max(x, 1) - max(x, 1)", "0")
    check("min(x, 1) - min(1, x)", "0")
    check("x * x - x * x", "0")
    check("((x mod 20) floordiv 2 * 2) mod 4", "(x mod 4) floordiv 2 * 2")
    assert tightened(condition("x - 2 < 3")) == condition("x < 5")


# tvm: test_arith_canonical_simplify/reduce_simplify
def test_reduce_simplify():
    """A condition on reduce axes that their ranges decide."""
    domain = Domain({"k": (0, 9), "j": (-5, 2)})
    assert domain.proves(condition("k + j < 12")) is True
    assert domain.proves(condition("k > 12")) is False
    check("k floordiv 10", "0", k=(0, 9))


# tvm: test_arith_canonical_simplify/simplify_if_then_else
def test_simplify_if_then_else():
    """Under a condition, the range is what the condition leaves of it."""
    ten_and_more = Domain({"x": (10, None)})
    assert ten_and_more.proves(condition("x floordiv 3 > 2")) is True
    assert ten_and_more.proves(condition("x floordiv 3 < 2")) is False
    check("(x + y + 100) mod 3", "(x + y + 1) mod 3", x=(-1, 20), y=(0, 20))
    check("((x * 4 + y - 466036) mod 24528 - 24512) mod 16", "(x * 4 + y - 4) mod 16", x=(0, 9), y=(0, 9))


# tvm: test_arith_canonical_simplify/complex_cases
def test_complex_cases():
    a = "(x * 128 + y)"
    whole = f"(({a} mod 1296) floordiv 36 * 2 + 1) floordiv 2 * 36 + (({a} mod 36) * 2 + 1) floordiv 2"
    check(f"{whole} - {a} mod 1296 + 1", "1", x=(0, 5), y=(0, 127))
    check(f"{whole} - {a} mod 1296 + 1", "1")
    b = "(x * 1024 + y)"
    digits = f"{b} floordiv 65536 + {b} mod 65536 floordiv 256 + {b} mod 256 floordiv 16 + {b} mod 16"
    rest = "y floordiv 256 - (y mod 256) floordiv 16 - y mod 16 - x * 4"
    check(f"{digits} - {rest}", f"{b} floordiv 256 - y floordiv 256 - x * 4", x=(0, 5), y=(0, 1024))
    assert value(f"{digits} - {rest}", {"x": 3, "y": 1000}) == 0
