"""How much memory accesses touch while some of the loops around them run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from tilework.algebra.index_expr import Key
from tilework.targets.base import LINE_BYTES
from tilework.tuning.features.box import Box
from tilework.tuning.features.numbers import Number
from tilework.tuning.features.program import Access, Form


@dataclass(frozen=True)
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

    @property
    def bytes(self) -> Number:
        """Whole lines count."""
        return self.lines * LINE_BYTES

    def ways(self, sets: int) -> Number:
        """How many of the lines share one place of a cache that has so many, at most."""
        apart, inside = np.floor_divide(self.gap, LINE_BYTES), np.mod(self.gap, LINE_BYTES)
        shared = np.gcd(np.asarray(apart, np.int64), sets)
        places = np.where(np.equal(inside, 0), sets / np.maximum(shared, 1), sets)
        reached = np.minimum(np.minimum(places, self.rows) * np.ceil(self.run / LINE_BYTES), sets)
        return np.ceil(self.lines / reached)


class Movement:
    """How one access moves with the loops around it."""

    def __init__(self, access: Access, box: Box):
        self.access = access
        self.box = box
        numbers, buffer = box.numbers, access.buffer
        self._sizes = [numbers.of(e) for e in buffer.dims]
        self._strides = [numbers.of(e) for e in buffer.strides]

    @cached_property
    def steps(self) -> Mapping[Key, Number]:
        """By how many elements the access moves in the first step of each loop; loops that it stands still in lack."""
        total: dict[Key, Number] = {}
        for form, size, stride in zip(self.access.subscripts, self._sizes, self._strides, strict=True):
            steps = dict.fromkeys(self.box.extents, size) if form.unknown else self.box.steps(form)
            for key, step in steps.items():
                total[key] = total.get(key, 0.0) + step * stride
        return total

    def moves(self, key: Key) -> Number:
        """Whether the access reaches other elements while a loop runs: 1 or 0."""
        reaches = [r[key] for r in self._reaches if key in r]
        return reduce(np.logical_or, (np.greater(r, 0) for r in reaches)) * 1.0 if reaches else 0.0

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
            if isinstance(span, float) and span == 0:
                continue
            elements, apart = elements * count, stride * width
            joined = np.less(apart, run + LINE_BYTES)
            gap = np.where(np.logical_or(joined, np.greater(rows, 1)), gap, np.where(np.greater(count, 1), apart, 0.0))
            rows = np.where(joined, rows, rows * count)
            run = np.where(joined, run + span * apart, run)
        return Footprint(np.minimum(elements, points), rows * np.ceil(run / LINE_BYTES), run, gap, rows)
