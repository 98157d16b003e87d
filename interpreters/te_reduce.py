"""How a reduction joins the values of its elements, in numpy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from tilework.dialects.graph.base import Array, is_float
from tilework.dialects.scalar_meaning import element_dtype, straight_line
from tilework.dialects.te import ReduceOp
from tilework.interpreters.te_bodies import Mask


def reducer_of(op: ReduceOp) -> Reducer:
    """The reducer of a reduction."""
    if op.kind is not None:
        return _Named(op.kind.data, element_dtype(op.values[0].type))
    return _Own(op)


class Reducer(ABC):
    """Joins values, starting from `identities`, one for every result."""

    identities: Sequence[Any]

    def fold(self, total: list[Array], terms: list[Array], taken: Mask) -> list[Array]:
        """Join arrays of shape [...] with terms of shape [n, ...] in order, those where `taken` holds."""
        if taken is not None:
            taken = np.broadcast_to(taken, terms[0].shape)
        if total[0].size > len(terms[0]):
            for i in range(len(terms[0])):
                total = self.join(total, [t[i] for t in terms], None if taken is None else taken[i])
            return total
        if taken is not None:
            terms = [np.where(taken, t, one) for t, one in zip(terms, self.identities, strict=True)]
        return self.along([np.concatenate([t[None], rest]) for t, rest in zip(total, terms, strict=True)])

    @abstractmethod
    def join(self, total: list[Array], term: list[Array], taken: Mask) -> list[Array]:
        """One more term joined where `taken` holds; may reuse the memory of `total`."""

    @abstractmethod
    def along(self, terms: list[Array]) -> list[Array]:
        """All terms of shape [n, ...], n > 0, joined."""


class _Named(Reducer):
    """A reducer that is a function of numpy; `maxui` and `minui` on the bits read as unsigned."""

    def __init__(self, kind: str, dtype: np.dtype[Any]):
        self._function = _FUNCTIONS[kind]
        self._dtype = np.dtype(f"u{dtype}") if kind in ("maxui", "minui") and dtype.kind == "i" else dtype
        self.identities = [_identity(kind, self._dtype).view(dtype)]

    def join(self, total: list[Array], term: list[Array], taken: Mask) -> list[Array]:
        [a], [b] = total, term
        where = True if taken is None else taken
        self._function(a.view(self._dtype), b.view(self._dtype), out=a.view(self._dtype), where=where)
        return total

    def along(self, terms: list[Array]) -> list[Array]:
        [t] = terms
        return [self._function.accumulate(t.view(self._dtype), axis=0, dtype=self._dtype)[-1].view(t.dtype)]


class _Own(Reducer):
    """A reducer that is a region. Many terms are joined by halves, unless that is known to be wrong."""

    def __init__(self, op: ReduceOp):
        self._block = op.combiner.block
        self._in_order = op.why_not_in_parts is not None
        dtypes = [element_dtype(v.type) for v in op.values]
        self.identities = [np.array(n.value.data).astype(d)[()] for n, d in zip(op.numbers, dtypes, strict=True)]

    def join(self, total: list[Array], term: list[Array], taken: Mask) -> list[Array]:
        joined = straight_line(self._block, [*total, *term])
        joined = [np.broadcast_to(j, t.shape) for j, t in zip(joined, total, strict=True)]
        return joined if taken is None else [np.where(taken, j, t) for j, t in zip(joined, total, strict=True)]

    def along(self, terms: list[Array]) -> list[Array]:
        if self._in_order:
            first, *rest = zip(*terms, strict=True)
            return reduce(lambda total, term: self.join(total, term, None), map(list, rest), list(first))
        while (n := len(terms[0])) > 1:
            pairs = self.join([t[0 : n - 1 : 2] for t in terms], [t[1::2] for t in terms], None)
            terms = [np.concatenate([p, t[n - n % 2 :]]) for p, t in zip(pairs, terms, strict=True)]
        return [t[0] for t in terms]


_FUNCTIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "maxui": np.maximum,
    "minui": np.minimum,
    "and": np.logical_and,
    "or": np.logical_or,
}


def _identity(kind: str, dtype: np.dtype[Any]) -> Any:
    """What leaves every other value unchanged."""
    neutral = {"add": 0, "mul": 1, "and": 1, "or": 0}
    if kind in neutral:
        return dtype.type(neutral[kind])
    largest = kind in ("min", "minui")
    if is_float(dtype):
        return dtype.type(np.inf if largest else -np.inf)
    if dtype.kind == "b":
        return dtype.type(largest)
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if largest else limits.min)
