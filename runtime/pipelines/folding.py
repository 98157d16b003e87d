"""Sums over the rows of a table, by groups of rows: block after block, each by a call of native code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BLOCK = 4096
"""Rows in a block: what a block becomes stays in the cache."""


def group_sums(
    blocks: Iterator[Sequence[Array]], groups: Array, count: int, sums: Callable[[Sequence[Array]], Array]
) -> list[Array]:
    """For each group of rows the sum of what `sums` makes of its rows.

    blocks: the arrays of consecutive rows, block after block. groups: of each row, from 0 to below `count`.
    """
    found: list[Array | None] = [None] * count
    at = 0
    for block in blocks:
        rows = len(block[0])
        own = groups[at : at + rows]
        at += rows
        for group, part in _parts(block, own):
            made = sums(part)
            total = found[group]
            if total is None:
                found[group] = made
            else:
                total += made
    return [total for total in found if total is not None]


def _parts(block: Sequence[Array], groups: Array) -> Iterator[tuple[int, Sequence[Array]]]:
    """The rows of a block by group."""
    first, last = int(groups[0]), int(groups[-1])
    if first == last and (groups == first).all():
        yield first, block
        return
    order = np.argsort(groups, kind="stable")
    ends = np.flatnonzero(np.diff(groups[order])) + 1
    for places in np.split(order, ends):
        yield int(groups[places[0]]), [array[places] for array in block]


def sums_of_others(sums: Sequence[Array]) -> Iterator[Array]:
    """Return, for each of the sums, that of all others, and subtract nothing: errors of one do not reach the rest."""
    behind = [np.zeros_like(sums[0])]
    for each in reversed(sums[1:]):
        behind.append(behind[-1] + each)
    before = np.zeros_like(sums[0])
    for each, rest in zip(sums, reversed(behind), strict=True):
        yield before + rest
        before = before + each


def joined_states(states: Iterator[Sequence[Array]]) -> list[Array]:
    """The states of all rows from those of each block, as `matrix.summary` tells them: four sums and two extremes."""
    joined = [array.copy() for array in next(states)]
    for each in states:
        for i, join in enumerate((np.add, np.add, np.add, np.add, np.minimum, np.maximum)):
            join(joined[i], each[i], out=joined[i])
    return joined
