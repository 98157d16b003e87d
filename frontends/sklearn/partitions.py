"""Frames of Dask: their rows stay in the partitions that they lie in, and workers tell what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from tilework.frontends.sklearn.emitter import Array, Unsupported
from tilework.frontends.sklearn.training_data import Rows, RowsAndTarget, middle
from tilework.runtime.pipelines.cluster import Pass, states_of_partitions
from tilework.runtime.pipelines.columns import between, column, taken, without_na
from tilework.runtime.pipelines.dictionary import Dictionary
from tilework.runtime.pipelines.encoded import EncodedColumn
from tilework.runtime.pipelines.folding import BLOCK, State
from tilework.runtime.pipelines.interface import Input, Part

Counts = dict[Any, tuple[tuple[Any, ...], Array]]
"""The values of columns, and how often each stands there."""


@dataclass(frozen=True)
class Described:
    """What a partition holds: how many rows, a few of them at their places, the values of its columns of words."""

    rows: int
    sample: Any
    places: Array
    counts: Counts


@dataclass(frozen=True)
class UnifiedColumn(EncodedColumn):
    """A column of a few rows of all partitions, in which every value stands; counted is how often, in all rows."""

    counted: Array

    @property
    def counts(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]  it is known already
        """How often each value stands in all rows."""
        return self.counted


def described(partition: Any) -> Described:
    """What a worker tells of its partition."""
    if not len(partition):
        return Described(0, partition, np.zeros(0, int), {})
    data = Rows(partition)
    parts: list[Part] = []
    for key, dtype in data.dtypes.items():
        if dtype is None:
            parts.append(Part((Input(key, "int32", Dictionary(data.encoded(key).values)),)))
        else:
            data.first_missing(key, None)
            parts.append(Part((Input(key, "float64"),)))
    places = data.sample_places(parts)
    words = [key for key, dtype in data.dtypes.items() if dtype is None]
    return Described(
        len(data), without_na(taken(partition, places)), places, {key: counted(partition, key) for key in words}
    )


def counted(partition: Any, key: Any) -> tuple[tuple[Any, ...], Array]:
    """The values of a column of a partition, and how often each stands there."""
    found = EncodedColumn.of(column(partition, key))
    return found.values, found.counts


class InPartitions(Rows):
    """Rows of a frame of Dask; `frame` is a few of them, in which there is every value that there is."""

    def __init__(self, rows: Any, client: Any, *target: Any):
        self._client = client
        delayed = import_module("dask").delayed
        self.partitions: list[Any] = rows.to_delayed()
        told: list[Described] = client.gather(client.compute([delayed(described)(each) for each in self.partitions]))
        self.lengths = [each.rows for each in told]
        there = [each for each in told if each.rows]
        if not there:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        starts = np.cumsum([0, *(each.rows for each in there)])
        self._numbers = np.concatenate([start + each.places for start, each in zip(starts, there, strict=False)])
        self._counts = [each.counts for each in there]
        super().__init__(import_module("pandas").concat([each.sample for each in there]), *target)

    def __len__(self) -> int:
        return sum(self.lengths)

    def encoded(self, key: Any) -> EncodedColumn:
        """The values of a column in a few rows, and how often each stands in all."""
        if key not in self._encoded:
            near = EncodedColumn.of(column(self.frame, key))
            counts = np.zeros(len(near.values), int)
            for values, found in self._counted(key):
                counts += EncodedColumn(values, np.repeat(np.arange(len(values)), found)).counts_of(near.values)
            self._encoded[key] = UnifiedColumn(near.values, near.codes, counts)
        return self._encoded[key]

    def _counted(self, key: Any) -> Sequence[tuple[tuple[Any, ...], Array]]:
        if key in self._counts[0]:
            return [counts[key] for counts in self._counts]
        raise Unsupported(f"the values of {key}, numbers of a Dask frame, are not told apart")

    def first_missing(self, key: Any, missing: float | None) -> int | None:
        """The first of the few rows in which a number is missing; NaN alone says so in all partitions."""
        if missing is not None:
            raise Unsupported(f"in which rows of a Dask frame {key} is {missing} is not known")
        return super().first_missing(key, None)

    def row_numbers(self, places: Array) -> Array:
        """The numbers that a few rows have among all."""
        return self._numbers[places]

    def shift(self, part: Part) -> Array:
        """What the numbers of each column are summed about: what is in the middle of the first rows."""
        return middle(part.reader(self._first)(0, self._first.shape[0]))

    @cached_property
    def _first(self) -> Any:
        """The first rows, as many as make a block; they may lie in several partitions."""
        found: list[Any] = []
        wanted, delayed = BLOCK, import_module("dask").delayed
        for partition, length in zip(self.partitions, self.lengths, strict=True):
            if wanted and length:
                found.append(self._client.compute(delayed(between)(partition, 0, min(wanted, length))).result())
                wanted -= min(wanted, length)
        return import_module("pandas").concat(found)

    def states_on(self, client: Any, given: Pass, groups: Array) -> list[State]:
        """The state of each group of rows, computed where the partitions are."""
        return states_of_partitions(client, given, self.partitions, self.lengths, self.target, groups)


class PartitionedRows(InPartitions):
    """What something is fitted to that lies in partitions."""


class PartitionedRowsAndTarget(InPartitions, RowsAndTarget):
    """The rows of a search that lie in partitions, and the target of each."""
