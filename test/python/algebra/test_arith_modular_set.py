"""What an index expression is a multiple of, and by how much it is off. The tests are named after TVM's."""

import pytest
from index_checks import points, value

from tilework.algebra.bounds import Domain
from tilework.algebra.modular import ModularSet, modular_set
from tilework.algebra.parse import parse
from tilework.algebra.predicate import Predicate


def check(text: str, coeff: int, base: int) -> None:
    """The set is this, and holds the values at all points."""
    found = modular_set(parse(text))
    assert found == ModularSet(coeff, base)
    assert all(found.contains(value(text, at)) for at in points(text, {}))


# tvm: test_arith_modular_set/add_sub
def test_add_sub():
    check("x * 6 + y * 4", 2, 0)
    check("1 - (x * 4 + 1)", 4, 0)
    check("7", 0, 7)
    check("x", 1, 0)


# tvm: test_arith_modular_set/mul
def test_mul():
    check("(x * 4 + 2) * (y * 6 + 1)", 4, 2)
    check("x * x", 1, 0)


# tvm: test_arith_modular_set/div_shift
def test_floordiv():
    check("(x * 4 + 2) floordiv 2", 2, 1)
    check("(x * 4 + 2) floordiv 3", 1, 0)
    check("(x * 12 + 4) mod 8", 4, 0)


# tvm: test_arith_modular_set/min_max_select
def test_min_max():
    check("min(x * 3, y * 9)", 3, 0)
    check("max(x * 3 + 1, y * 9 + 4)", 3, 1)


# tvm: test_arith_modular_set/mix_index
def test_mix_index():
    check("a * 4 + b * 6 + 7", 2, 1)
    check("(a * 4 + 1) * (b * 8 + 3)", 4, 3)
    check("(a * 4 + 1) * ((b * 8) floordiv 4)", 2, 0)
    check("a * 12 + 1 - (b * 3 * 7 + 2)", 3, 2)
    check("a * 12 + min(b * 3 * 7, 2)", 1, 0)


@pytest.mark.parametrize("low", range(-9, 10))
def test_first_from(low: int):
    for coeff in range(1, 6):
        for base in range(coeff):
            first = ModularSet(coeff, base).first_from(low)
            assert first >= low and first - low < coeff and (first - base) % coeff == 0
    assert ModularSet(0, 3).first_from(low) == low


def test_domain_refutes_by_divisibility():
    assert Domain().proves(Predicate(parse("4 * min(x, y) + 2"), "==")) is False
    assert Domain().proves(Predicate(parse("4 * min(x, y) + 8"), "==")) is None
