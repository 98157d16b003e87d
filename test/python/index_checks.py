"""What the tests of index arithmetic share: expressions as text, simplified and tried at every point."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Key
from tilework.algebra.parse import parse
from tilework.algebra.predicate import Predicate

Range = tuple[int | None, int | None]
ANYWHERE = range(-9, 10)
"""Where a variable without a range is tried."""


def points(text: str, ranges: dict[str, Range]) -> Iterator[dict[Key, int]]:
    """Values of the variables: all of a range, a sample of a long one, and those near 0 without a range."""
    names = [*dict.fromkeys([*re.findall(r"[A-Za-z_]\w*", text), *ranges])]
    names = [name for name in names if name not in ("floordiv", "mod", "min", "max")]
    for values in product(*(_tried(ranges.get(name, (None, None))) for name in names)):
        yield dict(zip(names, values, strict=True))


def _tried(given: Range) -> list[int]:
    first, last = given
    if first is None and last is None:
        return list(ANYWHERE)
    first = last - 18 if first is None and last is not None else first
    assert first is not None
    values = range(first, first + 19 if last is None else last + 1)
    return [*values] if len(values) <= 60 else [*values[:20], *values[len(values) // 2 :][:5], *values[-20:]]


def value(text: str, at: dict[Key, int]) -> int:
    """What a text says at a point, by Python's own arithmetic."""
    names = {str(key): number for key, number in at.items()}
    return eval(text.replace("floordiv", "//").replace("mod", "%"), {"min": min, "max": max}, names)


def check(text: str, expected: str, **ranges: Range) -> None:
    """`text` has the value of `expected` at every point, and the same form once both are simplified."""
    domain = Domain(dict(ranges))
    found, wanted = domain.simplify(parse(text)), domain.simplify(parse(expected))
    for at in points(text, ranges):
        assert value(text, at) == value(expected, at) == found.evaluate(at), (text, at)
    assert found == wanted, f"{text} is {found}, not {wanted}"


def check_bounds(text: str, low: int | None, high: int | None, **ranges: Range) -> None:
    """The bounds of `text` are these, and no value is outside."""
    domain = Domain(dict(ranges))
    assert (domain.lower(parse(text)), domain.upper(parse(text))) == (low, high)
    for at in points(text, ranges):
        assert (low is None or low <= value(text, at)) and (high is None or value(text, at) <= high), at


def condition(text: str) -> Predicate:
    """`a >= b`, `a > b`, `a <= b`, `a < b` or `a == b`."""
    for sign, build in _COMPARISONS.items():
        left, found, right = text.partition(f" {sign} ")
        if found:
            return build(parse(left), parse(right))
    raise ValueError(text)


_COMPARISONS = {
    ">=": lambda a, b: Predicate(a - b),
    "<=": lambda a, b: Predicate(b - a),
    "==": lambda a, b: Predicate(a - b, "=="),
    ">": lambda a, b: Predicate(a - b - 1),
    "<": lambda a, b: Predicate(b - a - 1),
}
