"""Deducing the range of one variable from a condition. The tests are named after TVM's."""

from collections.abc import Iterable

import pytest
from index_checks import condition

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const, maximum, minimum, var
from tilework.algebra.intervals import interval
from tilework.algebra.parse import parse
from tilework.algebra.predicate import Predicate
from tilework.analysis.domains import ends_from, tightened

ANY = range(-60, 61)


def for_all(text: str, ranges: dict[str, tuple[int, int]]) -> Predicate:
    """The condition that `text` holds whatever the variables with ranges are."""
    p = condition(text)
    return Predicate(interval(p.expr, {k: (const(a), const(b)) for k, (a, b) in ranges.items()})[0])


def admitted(text: str, b: Iterable[int]) -> list[int]:
    """The values of a with which `text` holds for every b."""
    return [a for a in ANY if all(condition(text).evaluate({"a": a, "b": value}) for value in b)]


# tvm: test_arith_deduce_bound/deduce
def test_deduce():
    assert ends_from(condition("a * 4 + b < c"), "a") == (None, (parse("c - b") - 1) // 4)
    assert ends_from(condition("c > a * 4 + b"), "a") == (None, (parse("c - b") - 1) // 4)
    assert ends_from(condition("a == b"), "a") == (var("b"), var("b"))
    assert ends_from(condition("a - c == b + d"), "a") == (parse("b + d + c"), parse("b + d + c"))
    assert ends_from(tightened(condition("5 * a == -10")), "a") == (-2, -2)
    assert Domain().proves(condition("max(5, a * 4) < 0")) is False
    # no number satisfies it
    assert tightened(condition("4 * a == 4 * b + 2")).constant is False
    # not for a factor that is a variable
    assert ends_from(condition("b * a <= c"), "a") == (None, None)


# tvm: test_arith_deduce_bound/check
def test_check():
    """A variable that occurs twice counts with what it amounts to; one inside a remainder has no bound."""
    assert ends_from(condition("a * 2 - a > b"), "a") == (parse("b + 1"), None)
    assert ends_from(condition("a mod 4 + a > b"), "a") == (None, None)


# tvm: test_arith_deduce_bound/deduce_basic
@pytest.mark.parametrize("ends", [(0, 4), (1, 5), (2, 6)])
@pytest.mark.parametrize("factor", [4, -4])
@pytest.mark.parametrize("comparison", ["< 17", "> 17", "<= 17", ">= 17"])
def test_deduce_basic(ends: tuple[int, int], factor: int, comparison: str):
    text = f"b + a * {factor} + 3 {comparison}"
    check_deduced(text, ends)


# tvm: test_arith_deduce_bound/deduce_complex
@pytest.mark.parametrize("ends", [(0, 4), (1, 5), (2, 6)])
@pytest.mark.parametrize("factor", [4, -4])
@pytest.mark.parametrize("comparison", ["< 63", "> 63", "<= 63", ">= 63"])
def test_deduce_complex(ends: tuple[int, int], factor: int, comparison: str):
    check_deduced(f"(b * 3 + a * {factor}) * 4 {comparison}", ends)


def check_deduced(text: str, ends: tuple[int, int]) -> None:
    """The range of a is exactly where `text` holds for every b."""
    first, last = ends_from(for_all(text, {"b": ends}), "a")
    expected = admitted(text, range(ends[0], ends[1] + 1))
    assert (first is None) != (last is None)
    assert expected == [a for a in ANY if (first is None or a >= number(first)) and (last is None or a <= number(last))]


def number(e: Expr) -> int:
    assert e.constant is not None
    return e.constant


# tvm: test_arith_detect_clip_bound/basic
def test_clip_bound():
    """The conditions of a conjunction, one by one; those on other variables say nothing."""
    conditions = [condition("a * 1 < b * 6"), condition("a - 1 > 0"), condition("b > 3")]
    ends = [ends_from(p, "a") for p in conditions]
    assert maximum(*(first for first, _ in ends if first is not None)) == 2
    assert minimum(*(last for _, last in ends if last is not None)) == parse("b * 6 - 1")
    assert ends_from(condition("a + 10 * c <= 20"), "a") == (None, parse("20 - 10 * c"))


# tvm: test_arith_detect_linear_equation/basic
def test_linear_equation():
    e = parse("a * 4 + (a + 1) + b * 6 + 7")
    assert e.coefficient("a") == 5 and e.is_affine_in("a")
    assert e - 5 * var("a") == parse("b * 6 + 8")
    assert parse("b * 7").coefficient("a") == 0 and parse("b * 7").is_affine_in("a")
    for text in ("a * 4 * (a + 1) + b * 6 + 7", "a mod 4 + b", "min(a, b)"):
        assert not parse(text).is_affine_in("a")
    # a factor that is a variable is none: no pass divides by one
    assert not parse("a * b + 7").is_affine_in("a")


# tvm: test_arith_detect_linear_equation/multivariate
def test_linear_equation_of_several_variables():
    e = parse("((v1 * 3 + v0) * 8 + v2 + 1) * 2")
    assert [e.coefficient(v) for v in ("v0", "v1", "v2", "v3")] == [16, 48, 2, 0]
    assert e.offset == 2
    products = parse("v0 * 4 + v1 * 8 * v2")
    assert products.is_affine_in("v0") and not products.is_affine_in("v1") and not products.is_affine_in("v2")
