"""Axes that were split and fused are found again in the index expressions. The tests are named after TVM's."""

from itertools import product

from index_checks import check

from tilework.algebra.bounds import Domain
from tilework.algebra.parse import parse


def values(texts: list[str], extents: dict[str, int]) -> list[tuple[int, ...]]:
    """What several expressions are at every point, in the order of the points."""
    parsed = [Domain({k: (0, n - 1) for k, n in extents.items()}).simplify(parse(text)) for text in texts]
    every = product(*(range(n) for n in extents.values()))
    return [tuple(e.evaluate(dict(zip(extents, at, strict=True))) for e in parsed) for at in every]


# tvm: test_arith_iter_affine_map/trivial
def test_trivial():
    check("x mod 3", "x", x=(0, 2))
    check("x floordiv 3", "0", x=(0, 2))
    assert len(set(values(["x", "y", "3"], {"x": 3, "y": 4}))) == 12


# tvm: test_arith_iter_affine_map/fuse
def test_fuse():
    check("(y * 3 + x) floordiv 3", "y", x=(0, 2), y=(0, 3))
    check("(y * 3 + x) mod 3", "x", x=(0, 2), y=(0, 3))
    check("(y * 3 + 1 + c + x - 1 - c) floordiv 3", "y", x=(0, 2), y=(0, 3))
    # axes whose size is not known
    c = parse("c")
    domain = Domain({"c": (1, None), "y": (0, 3), "x": (0, c - 1)})
    assert domain.simplify(parse("(y * c + x) floordiv c")) == parse("y")
    assert domain.simplify(parse("(y * c + x) mod c")) == parse("x")
    assert sorted(values(["y * 3 + x"], {"x": 3, "y": 4})) == [(i,) for i in range(12)]


# tvm: test_arith_iter_affine_map/split
def test_split():
    check("x floordiv 3 * 3 + x mod 3", "x", x=(0, 23))
    check("x floordiv 6 * 6 + (x mod 6) floordiv 2 * 2 + x mod 2", "x", x=(0, 23))
    check("(x * 2) floordiv 4 * 4 + (x * 2) mod 4", "x * 2", x=(0, 7))
    check("(x * 2) mod 4", "(x mod 2) * 2", x=(0, 7))


# tvm: test_arith_iter_affine_map/compound
def test_compound():
    """x and y are split, and of the four parts three fused: each part can be had back."""
    fused = "((y floordiv 3 * 2 + x floordiv 5) * 3 + y mod 3)"
    ranges = {"x": (0, 9), "y": (0, 8)}
    check(f"{fused} floordiv 6", "y floordiv 3", **ranges)
    check(f"({fused} mod 6) floordiv 3", "x floordiv 5", **ranges)
    check(f"{fused} mod 3", "y mod 3", **ranges)
    check(f"({fused} floordiv 3) mod 2", "x floordiv 5", **ranges)
    assert sorted(values([fused, "x mod 5"], {"x": 10, "y": 9})) == [(i, j) for i in range(18) for j in range(5)]
