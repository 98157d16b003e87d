"""Passes over the rows of a table on the workers of Dask: a task for each range of rows, and a tree that joins them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.runtime.module import Module
from tilework.runtime.pipelines.columns import between
from tilework.runtime.pipelines.folding import BLOCK, State, as_state, group_states, joined
from tilework.runtime.pipelines.interface import Part

Array = NDArray[Any]

RANGE = 4 * BLOCK
"""Rows in a task: how many workers there are changes no result."""


@dataclass(frozen=True)
class Pass:
    """A pass over rows, as it travels to workers: the native code as its bytes, and what it is given.

    parts: in which arrays the table lies. others: what is the same for all rows. count: how many groups there are.
    """

    native: Module
    parts: tuple[Part, ...]
    others: tuple[Array, ...]
    count: int

    def states(self, rows: Any, target: Array | None, groups: Array) -> dict[int, State]:
        """The state of each group that some of these rows are in."""
        present, own = np.unique(groups, return_inverse=True)
        blocks = self._blocks(rows, target)
        found = group_states(blocks, own, len(present), lambda arrays: as_state(self.native(*arrays, *self.others)))
        return dict(zip(present.tolist(), found, strict=True))

    def _blocks(self, rows: Any, target: Array | None) -> Iterator[Sequence[Array]]:
        readers = [part.reader(rows) for part in self.parts]
        for start in range(0, rows.shape[0], BLOCK):
            stop = min(start + BLOCK, rows.shape[0])
            block = [read(start, stop) for read in readers]
            yield block if target is None else [*block, target[start:stop, None]]


def states_on(client: Any, given: Pass, rows: Any, target: Array | None, groups: Array) -> list[State]:
    """The state of each group of rows, computed by the workers of a client. Raises what a task raises.

    Tasks bring their rows along, so that another worker can do again what was lost with one.
    """
    tasks: list[Any] = []
    for start in range(0, rows.shape[0], RANGE):
        stop = min(start + RANGE, rows.shape[0])
        own = None if target is None else target[start:stop]
        tasks.append(client.submit(given.states, between(rows, start, stop), own, groups[start:stop], pure=False))
    found: dict[int, State] = _tree(tasks, lambda *pair: client.submit(joined_groups, *pair, pure=False)).result()
    return [found[group] for group in range(given.count)]


def states_of_partitions(
    client: Any, given: Pass, partitions: Sequence[Any], lengths: Sequence[int], target: Array | None, groups: Array
) -> list[State]:
    """The same of rows that lie in partitions of Dask, of so many rows each: none of them moves."""
    delayed = import_module("dask").delayed
    states, tasks = delayed(given.states), list[Any]()
    stops = np.cumsum(lengths)
    for partition, start, stop in zip(partitions, [0, *stops], stops, strict=False):
        tasks.append(states(partition, None if target is None else target[start:stop], groups[start:stop]))
    total = _tree(tasks, delayed(joined_groups))
    found: dict[int, State] = client.compute(total).result()
    return [found[group] for group in range(given.count)]


def _tree(tasks: list[Any], join: Callable[..., Any]) -> Any:
    """What joins tasks two by two."""
    while len(tasks) > 1:
        pairs = [tasks[i : i + 2] for i in range(0, len(tasks), 2)]
        tasks = [join(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return tasks[0]


def joined_groups(a: dict[int, State], b: dict[int, State]) -> dict[int, State]:
    """The states of groups that have rows in two ranges."""
    both = {group: joined(state, b[group]) for group, state in a.items() if group in b}
    return {**a, **b, **both}
