"""Whether a reducer of the program's own is one, as far as trying it on a handful of numbers shows.

It is commutative and associative, and its identities leave alone whatever it makes: then elements may be joined in any
order, and parts of them by themselves, each from the identities on (`why_not_in_parts`). One that only joins elements
with what there is so far, as `x + y * y` does, is taken as well, if their order does not matter and identities that
come in change nothing; but nobody may join parts of its elements. Any other one is refused (`why_no_reducer`).

Numbers are small and whole, so that no rounding plays a part, and no few of them add up to 0. Of several values that
are joined at once, those that vary are apart from each other, because which of two equal ones wins is left open; a
value that is a constant of the program is that constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Block

from tilework.dialects.support.diagnostics import CompileError

Values = Sequence[Any]
"""What a reducer joins, as arrays that broadcast together."""

Number = IntegerAttr[IntegerType] | FloatAttr[AnyFloat]

NUMBERS = (1, 2, 4, 7, -12, -20, 0)

ROUNDINGS = 16
"""Two numbers that should be equal may differ by so many units of the last place: that much is rounding."""

Known = Sequence[Number | None]
"""The number that each value that is joined always is; None for one that varies."""


def why_no_reducer(name: str, identities: Sequence[Number], combiner: Block, known: Known) -> str | None:
    """An example of what is wrong with a reducer, or None where none is found.

    name: for the message. combiner: takes values so far and values that come in.
    """
    trial = _Trial(name, identities, combiner, known)
    return _found(lambda: None if trial.is_fold() else trial.of_parts())


def why_not_in_parts(name: str, identities: Sequence[Number], combiner: Block, known: Known) -> str | None:
    """An example that shows that parts of the elements cannot be joined by themselves, or None; as `why_no_reducer`."""
    return _found(_Trial(name, identities, combiner, known).of_parts)


def _found(example: Callable[[], str | None]) -> str | None:
    try:
        with np.errstate(all="ignore"):
            return example()
    except CompileError:  # an operation that has no meaning in numpy
        return None


class _Trial:
    """One reducer on numbers along three axes, of which two numbers of one axis are never the same."""

    def __init__(self, name: str, identities: Sequence[Number], combiner: Block, known: Sequence[Number | None]):
        from tilework.dialects.scalar_meaning import element_dtype, straight_line  # which imports the te dialect

        self.name = name
        self._join: Callable[[Values], Values] = lambda values: straight_line(combiner, values)
        self._dtypes = [element_dtype(n.type) for n in identities]
        self._known = known
        self.identities = [_as(n, d) for n, d in zip(identities, self._dtypes, strict=True)]
        values = [self._numbers(i) for i in range(len(identities))]
        self.x, self.y, self.z = ([v.reshape(shape) for v in values] for shape in ((-1, 1, 1), (1, -1, 1), (1, 1, -1)))

    def _numbers(self, i: int) -> Any:
        number, dtype = self._known[i], self._dtypes[i]
        if number is not None:
            return np.full(len(NUMBERS), _as(number, dtype))
        return np.array([*NUMBERS[i % len(NUMBERS) :], *NUMBERS[: i % len(NUMBERS)]]).astype(dtype)

    def join(self, a: Values, b: Values) -> Values:
        """What two values, or several, become."""
        return self._join([*a, *b])

    def of_parts(self) -> str | None:
        """An example of what parts that are joined by themselves would make wrong."""
        return self.of_order() or self.of_grouping() or self.of_identities()

    def is_fold(self) -> bool:
        """Whether elements may come in in any order, identities among them, whatever becomes of parts."""
        x, y, start = self.x, self.y, self.identities
        one, other = self.join(self.join(start, x), y), self.join(self.join(start, y), x)
        made = self.join(x, y)
        in_order = self._first(~self._same(one, other) & self._finite(one, other) & self._apart(x, y))
        return in_order is None and self._changed(made, start) is None

    def of_order(self) -> str | None:
        """An example of two values that count in one order for something else than in the other."""
        one, other = self.join(self.x, self.y), self.join(self.y, self.x)
        at = self._first(~self._same(one, other) & self._finite(one, other) & self._apart(self.x, self.y))
        if at is None:
            return None
        x, y = at.of(self.x), at.of(self.y)
        said = f"{self._call(x, y)} is {at.of(one)} but {self._call(y, x)} is {at.of(other)}"
        return f"{said}: a reducer is commutative, as elements are joined in any order"

    def of_grouping(self) -> str | None:
        """An example of three values for which it matters which two are joined first."""
        x, y, z = self.x, self.y, self.z
        one, other = self.join(self.join(x, y), z), self.join(x, self.join(y, z))
        apart = self._apart(x, y) & self._apart(y, z) & self._apart(x, z)
        at = self._first(~self._same(one, other) & self._finite(one, other) & apart)
        if at is None:
            return None
        a, b, c = (at.of(v) for v in (x, y, z))
        left, right = self._call(self._call(a, b), c), self._call(a, self._call(b, c))
        said = f"{left} is {at.of(one)} but {right} is {at.of(other)}"
        return f"{said}: a reducer is associative, as parts of the elements may be joined by themselves"

    def of_identities(self) -> str | None:
        """An example of what the reducer makes and joining it with the identities changes."""
        made = self.join(self.x, self.y)
        for first, second in ((self.identities, made), (made, self.identities)):
            at = self._changed(first, second)
            if at is not None:
                said = f"{self._call(at.of(first), at.of(second))} is {at.of(self.join(first, second))}"
                which = f"the identity {at.of(self.identities)}"
                return f"{said}: {which} must leave every other value as it is, here {at.of(made)}"
        return None

    def _changed(self, first: Values, second: Values) -> _Example | None:
        """Where one of them is the identities, and the other is another value afterwards."""
        made = self.join(self.x, self.y)
        usual = self._finite(made) & self._apart(self.x, self.y) & self._apart(made, self.identities)
        return self._first(~self._same(self.join(first, second), made) & usual)

    # -- where examples are

    def _first(self, found: Any) -> _Example | None:
        places = np.argwhere(np.broadcast_to(found, np.broadcast_shapes(np.shape(found), (1, 1, 1))))
        if not len(places):
            return None
        return _Example(tuple(map(int, places[np.argmin(places.max(axis=1))])))  # all of whose numbers come early

    def _same(self, one: Values, other: Values) -> Any:
        return _every(_is_same(a, b, d) for a, b, d in zip(one, other, self._dtypes, strict=True))

    def _finite(self, *several: Values) -> Any:
        return _every(np.isfinite(v.astype(np.float64)) for values in several for v in map(np.asarray, values))

    def _apart(self, one: Values, other: Values) -> Any:
        """Where no two values that vary are the same; a single value is apart everywhere."""
        if len(self._dtypes) == 1:
            return np.True_
        pairs = zip(one, other, self._known, strict=True)
        return _every(np.not_equal(a, b) for a, b, number in pairs if number is None)

    def _call(self, a: str, b: str) -> str:
        return f"{self.name}({a}, {b})"


@dataclass(frozen=True)
class _Example:
    """A place among the numbers that were tried."""

    place: tuple[int, ...]

    def of(self, values: Values) -> str:
        """The values there, as text."""
        texts: list[str] = []
        for value in map(np.asarray, values):
            at = tuple(i if n > 1 else 0 for i, n in zip(self.place, value.shape, strict=False))
            texts.append(f"{value[at].item():g}" if isinstance(value[at].item(), float) else str(value[at]))
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _as(number: Number, dtype: np.dtype[Any]) -> Any:
    return np.array(number.value.data).astype(dtype)[()]


def _is_same(a: Any, b: Any, dtype: np.dtype[Any]) -> Any:
    if not (dtype.kind == "f" or dtype == ml_dtypes.bfloat16):
        return np.equal(a, b)
    one, other = (np.asarray(v).astype(np.float64) for v in (a, b))
    eps = float(cast(Any, ml_dtypes).finfo(dtype).eps)
    nearly = ROUNDINGS * eps * np.maximum(1, np.maximum(np.abs(one), np.abs(other)))
    return (one == other) | (np.isfinite(one) & np.isfinite(other) & (np.abs(one - other) <= nearly))


def _every(conditions: Any) -> Any:
    result: Any = np.True_
    for condition in conditions:
        result = result & condition
    return result
