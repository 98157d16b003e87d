"""Stages that are computed inside of another one, row by row: what a softmax, or a normalization, knows of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.sizes import size_of
from tilework.dialects.te import ComputeOp, ReadOp
from tilework.rules.common.readers import is_needed_whole, readers_of

LONGEST = 1 << 15
"""Longer rows take a block too long: what is known of them is summed up by several blocks, in a launch of its own."""

Place = tuple[str | None, ...]
"""For each dimension of a stage the axis of the root that goes along it; None for one of a single element."""


@dataclass
class RowGroup:
    """A root, and the stages inside of it, by where their elements are in it."""

    root: ComputeOp
    places: dict[ComputeOp, Place] = field(default_factory=dict[ComputeOp, Place])

    @property
    def inside(self) -> list[ComputeOp]:
        """The stages inside, in program order."""
        return list(self.places)[::-1]

    @property
    def rows(self) -> list[str]:
        """The axes of the root that say which elements of these it needs."""
        used = {axis for place in self.places.values() for axis in place}
        return [name for name, _ in self.root.spatial if name in used]

    def take(self, stage: ComputeOp, *, whole: bool) -> bool:
        """Take a stage in that nothing else reads, if there is one place for its elements in every row.

        whole: whether it has to be of the root's shape.
        """
        if is_needed_whole(stage) or (size_of(stage.reduction) > LONGEST and stage.spatial != self.root.spatial):
            return False
        places = {self._place(stage, reader, read) for reader, read in readers_of(stage)}
        place = places.pop() if len(places) == 1 else None
        if place is None or (self.places and {*place} - {None} != {*self.rows}):
            return False
        own = [name if extent != 1 else None for name, extent in self.root.spatial]
        if whole and list(place) != own:
            return False
        self.places[stage] = place
        return True

    def _place(self, stage: ComputeOp, reader: ComputeOp, read: ReadOp) -> Place | None:
        """Where in the root an element of a stage is that a reader needs; None where that is not one of a row."""
        if reader is self.root:
            axes = {name: name for name, _ in reader.spatial}
        elif reader in self.places:
            own = zip(reader.spatial, self.places[reader], strict=True)
            axes = {name: axis for (name, _), axis in own if axis is not None}
        else:
            return None
        extents = dict(self.root.spatial)
        found = [_axis(e, extent, axes) for e, (_, extent) in zip(read.exprs, stage.spatial, strict=True)]
        used = [axis for axis in found if axis is not None]
        covered = [const(1) if axis is None else extents[axis] for axis in found]
        is_whole = covered == [extent for _, extent in stage.spatial]
        return tuple(found) if is_whole and len({*used}) == len(used) else None


def _axis(e: Expr, extent: Expr, axes: Mapping[str, str]) -> str | None:
    """The axis of the root that an index is; None for another index, and for that of the only element there is."""
    key = e.as_var
    return axes.get(key) if isinstance(key, str) and extent != 1 else None


def row_groups(stages: Sequence[ComputeOp], products: Sequence[ComputeOp]) -> list[RowGroup]:
    """The launches of a kernel, in program order: each stage is the root of one, or inside of one.

    products: stages that are in no row but are launches of their own, with what takes their results element by element.
    """
    groups: list[RowGroup] = []
    for stage in reversed(stages):
        takers = [group for group in groups if _may_take(group, stage, products)]
        if not any(group.take(stage, whole=stage in products) for group in takers[:1]):
            groups.append(RowGroup(stage))
    return groups[::-1]


def _may_take(group: RowGroup, stage: ComputeOp, products: Sequence[ComputeOp]) -> bool:
    """Whether all that reads a stage is in a group, which is a product's alone if it is one's at all."""
    readers = {reader for reader, _ in readers_of(stage)}
    if not readers or not readers <= {group.root, *group.places}:
        return False
    held = [group.root, *group.places]
    return held == [group.root] if stage in products else not any(other in products for other in held)
