"""Few sums of many terms: blocks sum up parts of them, and one launch later a few blocks sum up the parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilework.analysis.sizes import LARGE, size_of
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.rules.common.axes import joins_parts, may_be_shared
from tilework.rules.gpu.launch import Launch, LaunchRule, LaunchSchedule
from tilework.rules.gpu.shared_rows import Shares, across_memory, along_memory, sums_along_memory
from tilework.targets.gpu.target import GpuTarget

TERMS = 4096
"""So many terms a block sums up, at least: the second launch has to be worth its time."""


class InParts(LaunchRule):
    """For sums so long, and so few, that a block for each would leave most of the device idle."""

    BENEFIT = 3

    def match(self, launch: Launch, target: GpuTarget) -> InPartsSchedule | None:
        if len(launch.reductions) != 1 or size_of(launch.column_axes) > 1:
            return None
        [summed] = launch.reductions
        terms, rows = size_of(summed.reduction), size_of(launch.row_axes)
        if not may_be_shared(summed) or not joins_parts(summed) or not (TERMS < terms < LARGE and 0 < rows < LARGE):
            return None
        along = sums_along_memory(summed)
        shares = along_memory(terms, rows, target) if along else across_memory(terms, target)
        parts = min(target.cores // -(-rows // shares.beside), terms // (TERMS // shares.beside))
        if parts < 2 or shares.threads == 1:
            return None
        length = -(-terms // parts)
        first = along_memory(length, rows * parts, target) if along else across_memory(length, target)
        last = across_memory(parts, target) if rows > 1 else along_memory(parts, rows, target)
        names = tuple(name for name, _ in summed.reduction)
        return InPartsSchedule(launch.root.stage.data, summed.stage.data, names, length, first, last)


@dataclass(frozen=True)
class InPartsSchedule(LaunchSchedule):
    """Parts of so many terms are summed up with these shares, and then the parts with those."""

    root: str
    sums: str
    summed: tuple[str, ...]
    length: int
    first: Shares
    last: Shares

    def write(self, s: ScheduleBuilder) -> None:
        stage = s.stage(self.sums)
        spatial = s.spatial_axes(self.sums)
        terms = ".".join(self.summed)
        part, term = f"{terms}.outer", f"{terms}.inner"
        outer, _ = s.split(s.fuse([stage.axes[name] for name in self.summed]), self.length)
        parts, left = s.rfactor(stage, outer, [part, *spatial, term])
        _share(s, parts, s.cache_write(parts, "local"), [part, *spatial], term, self.first)
        rest = StageHandle(stage.handle, {**{name: stage.axes[name] for name in spatial}, part: left})
        root = rest if self.root == self.sums else s.stage(self.root)
        sums = s.cache_write(rest, "local") if root is rest else rest
        _share(s, root, sums, s.spatial_axes(self.root), part, self.last)


def _share(
    s: ScheduleBuilder, root: StageHandle, sums: StageHandle, spatial: Sequence[str], summed: str, shares: Shares
) -> None:
    """Let threads share the sums that a root takes."""
    row = shares.deal_out(s, root, [root.axes[name] for name in spatial], [])
    shares.sum_up(s, sums, [summed], row)
