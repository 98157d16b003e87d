"""How much memory accesses touch while some of the loops around them run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np

from tilework.algebra.index_expr import Key
from tilework.targets.base import LINE_BYTES
from tilework.tuning.features.box import Box
from tilework.tuning.features.numbers import Number
from tilework.tuning.features.program import Access, Form


@dataclass(frozen=True, eq=False)
class Footprint:
    """The elements and the lines of the caches that are touched.

    run: how many bytes lie in one piece. gap: how many bytes such pieces are apart that follow each other. rows: how
    many pieces there are.
    """

    elements: Number
    lines: Number
    run: Number
    gap: Number
    rows: Number
    _ways: dict[int, Number] = field(default_factory=dict[int, Number], repr=False)

    @property
    def bytes(self) -> Number:
        """Whole lines count."""
        return self.lines * LINE_BYTES

    def ways(self, places: int) -> Number:
        """How many of the lines share one place of a cache that has so many, a power of 2; at most."""
        known = self._ways.get(places)
        if known is None:
            known = self._ways[places] = self._shared(places)
        return known

    def _shared(self, places: int) -> Number:
        gap = np.asarray(self.gap, np.int64)
        apart = gap // LINE_BYTES
        # pieces at multiples of a power of 2 reach that part of the places; those that are no whole lines apart, all
        steps = np.where(gap % LINE_BYTES == 0, np.minimum(apart & -apart, places), 1)
        reached = np.minimum(places / np.maximum(steps, 1), self.rows) * np.ceil(self.run / LINE_BYTES)
        return np.ceil(self.lines / np.minimum(reached, places))


class Movement:
    """How one access moves with the loops around it."""

    def __init__(self, access: Access, box: Box):
        self.access = access
        self.box = box
        numbers, buffer = box.numbers, access.buffer
        self._sizes = [numbers.of(e) for e in buffer.dims]
        self._strides = [numbers.of(e) for e in buffer.strides]
        self._moves: dict[Key, Number] = {}

    @cached_property
    def steps(self) -> Mapping[Key, Number]:
        """How many elements the access moves in the first step of each loop; loops that it stands still in lack."""
        total: dict[Key, Number] = {}
        for form, size, stride in zip(self.access.subscripts, self._sizes, self._strides, strict=True):
            steps = dict.fromkeys(self.box.extents, size) if form.unknown else self.box.steps(form)
            for key, step in steps.items():
                total[key] = total.get(key, 0.0) + step * stride
        return total

    def moves(self, key: Key) -> Number:
        """Whether the access reaches other elements while a loop runs: 1 or 0."""
        known = self._moves.get(key)
        if known is None:
            reaches = [np.greater(r[key], 0) for r in self._reaches if key in r]
            known = self._moves[key] = reduce(np.logical_or, reaches) * 1.0 if reaches else 0.0
        return known

    @cached_property
    def _reaches(self) -> list[Mapping[Key, Number]]:
        return [self._reach(form, size) for form, size in zip(self.access.subscripts, self._sizes, strict=True)]

    def _reach(self, form: Form, size: Number) -> Mapping[Key, Number]:
        return dict.fromkeys(self.box.extents, size - 1) if form.unknown else self.box.reaches(form)

    @cached_property
    def footprints(self) -> Sequence[Footprint]:
        """What is touched while all loops run, all but the outermost, and so on; the last is one element."""
        spans: list[Number] = [0.0] * len(self._sizes)
        counts: list[Number] = [1.0] * len(self._sizes)
        points: Number = 1.0
        found = [self._footprint(spans, counts, points)]
        for loop in reversed(self.box.loops):
            key, extent = loop.index, self.box.extents[loop.index]
            reaches = [r.get(key) for r in self._reaches]
            if all(r is None for r in reaches):
                found.append(found[-1])
                continue
            for d, reach in enumerate(reaches):
                if reach is not None:
                    spans[d] = np.minimum(spans[d] + reach, self._sizes[d] - 1)
                    counts[d] = np.minimum(counts[d] * np.where(np.greater(reach, 0), extent, 1.0), spans[d] + 1)
            points = points * np.where(self.moves(key), extent, 1.0)
            found.append(self._footprint(spans, counts, points))
        return found[::-1]

    def _footprint(self, spans: Sequence[Number], counts: Sequence[Number], points: Number) -> Footprint:
        width = float(self.access.buffer.element_bytes)
        run: Number = width
        rows: Number = 1.0
        gap: Number = 0.0
        elements: Number = 1.0
        for span, count, stride in reversed(list(zip(spans, counts, self._strides, strict=True))):
            if isinstance(span, float) and not span:
                continue
            elements, apart = elements * count, stride * width
            joined = np.less(apart, run + LINE_BYTES)
            gap = np.where(np.logical_or(joined, np.greater(rows, 1)), gap, np.where(np.greater(count, 1), apart, 0.0))
            rows = np.where(joined, rows, rows * count)
            run = np.where(joined, run + span * apart, run)
        return Footprint(np.minimum(elements, points), rows * np.ceil(run / LINE_BYTES), run, gap, rows)
