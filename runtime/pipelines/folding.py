"""Sums over the rows of a table, by groups of rows: block after block, each by a call of native code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BLOCK = 4096
"""Rows in a block: what a block becomes stays in the cache."""


State = tuple[Array, ...]
"""What is known of some rows: sums of products; the least and the greatest of columns behind them, if asked for."""

JOINS = (np.add, np.minimum, np.maximum)
"""What makes a state of two, part for part."""


def joined(a: State, b: State) -> State:
    """The state of rows of which two parts have these."""
    return tuple(join(x, y) for join, x, y in zip(JOINS, a, b, strict=False))


def group_states(
    blocks: Iterator[Sequence[Array]], groups: Array, count: int, state: Callable[[Sequence[Array]], State]
) -> list[State]:
    """Return, for each group of rows, the state of its rows.

    blocks: the arrays of consecutive rows, block after block. groups: of each row, from 0 to below `count`.
    """
    found: list[State | None] = [None] * count
    at = 0
    for block in blocks:
        own = groups[at : at + len(block[0])]
        at += len(block[0])
        for group, part in _parts(block, own):
            made, total = state(part), found[group]
            found[group] = made if total is None else joined(total, made)
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


def states_of_others(states: Sequence[State]) -> Iterator[State]:
    """Return, for each of several states, that of all other rows, and subtract nothing: errors stay where they are."""
    behind = [*accumulate(reversed(states[1:]), joined)][::-1]
    before: State | None = None
    for i, each in enumerate(states):
        others = [part for part in (before, *behind[i : i + 1]) if part is not None]
        yield reduce(joined, others)
        before = each if before is None else joined(before, each)


def as_state(made: Array | tuple[Array, ...]) -> State:
    """What native code tells of some rows as their state; of `matrix.summary`, whose first results are all sums."""
    if not isinstance(made, tuple):
        return (made,)
    *sums, low, high = made
    return (sums[0] if len(sums) == 1 else np.stack(sums), low, high)
