"""Comparing what two versions of a program compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np

from tilework.dialects.graph.base import Array, is_float

SLACK = 4
"""How many times the error bound of a sum may be exceeded: operations around it round too."""


@dataclass(frozen=True)
class Answer:
    """The outputs of one run. `computed` says which elements; None for all of all outputs.

    `exact` says that all arithmetic was on small integers, so that rounding cannot explain a difference. `roundings`
    is how many operations round on the way to one element, at most; `scale` the size of the numbers that went in.
    """

    outputs: list[Array]
    computed: list[Array] | None
    exact: bool
    roundings: float
    scale: float


@dataclass(frozen=True)
class Difference:
    """The first element that differs by more than is allowed."""

    output: int
    position: tuple[int, ...]
    reference: Any
    found: Any
    allowed: float

    def __str__(self) -> str:
        where = f"output {self.output} at [{', '.join(map(str, self.position))}]"
        bound = f" (allowed error {self.allowed:.2g})" if self.allowed else ""
        return f"{where} was {self.reference!s} and is {self.found!s}{bound}"


def compare(reference: Answer, found: Answer, *, bitwise: bool) -> tuple[int, Difference | None]:
    """How many numbers were compared, and the first difference.

    Elements are compared that both runs computed. With `bitwise`, or where elements are no floats, they must be equal;
    else they may differ by the error bound. NaN equals NaN. Elements that are NaN before are not counted.
    """
    compared = 0
    for i, (a, b) in enumerate(zip(reference.outputs, found.outputs, strict=True)):
        if a.shape != b.shape:
            return compared, Difference(i, (), f"of shape {list(a.shape)}", f"of shape {list(b.shape)}", 0.0)
        chosen = _chosen(reference, i) & _chosen(found, i)
        allowed = 0.0 if bitwise or not is_float(a.dtype) else _bound(reference, found, a)
        wrong = chosen & ~_close(a, b, allowed)
        if wrong.any():
            position = tuple(int(p) for p in np.unravel_index(int(np.argmax(wrong)), a.shape))
            return compared, Difference(i, position, a[position], b[position], allowed)
        compared += int(np.count_nonzero(np.broadcast_to(chosen, a.shape) & (a == a)))
    return compared, None


def is_exact(arrays: Sequence[Array]) -> bool:
    """Whether all elements are integers that their type holds exactly, with all integers below them."""
    return all(not is_float(a.dtype) or _small_integers(a) for a in arrays)


def largest(arrays: Sequence[Array]) -> float:
    """The largest absolute value among the finite elements; 0 for none."""
    sizes = [np.abs(a[np.isfinite(a)], dtype=np.float64) for a in arrays if is_float(a.dtype)]
    return max((float(s.max()) for s in sizes if s.size), default=0.0)


def _chosen(answer: Answer, i: int) -> Any:
    return np.True_ if answer.computed is None else answer.computed[i]


def _bound(reference: Answer, found: Answer, a: Array) -> float:
    roundings = max(reference.roundings, found.roundings)
    return SLACK * roundings * float(_info(a).eps) * max(largest([a]), reference.scale)


def _close(a: Array, b: Array, allowed: float) -> Array:
    with np.errstate(all="ignore"):
        near = (a == b) | (np.abs(a - b) <= allowed) if allowed else a == b
        return near | ((a != a) & (b != b))


def _info(a: Array) -> Any:
    """The limits of a floating-point type."""
    return cast(Any, ml_dtypes).finfo(a.dtype)


def _small_integers(a: Array) -> bool:
    with np.errstate(all="ignore"):
        limit = 2.0 ** (_info(a).nmant + 1)
        return bool(((np.abs(a) < limit) & (a == np.rint(a)) | np.isinf(a)).all())
