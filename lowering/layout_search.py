"""A search for layouts: which tensors to put into blocks so that all kernels together take the least time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilework.analysis.layout_classes import CHANNELS
from tilework.dialects.graph.structure import FusedOp
from tilework.lowering.algorithms import Algorithms, parameters_of
from tilework.lowering.packed_groups import pack_result, unpack_argument
from tilework.lowering.te_kernels import content_of


@dataclass(frozen=True)
class InBlocks:
    """Which operands and results of a group are in blocks, by number."""

    inputs: frozenset[int]
    results: frozenset[int]


def in_blocks(group: FusedOp, packed: Set[SSAValue]) -> InBlocks:
    """Of a group, given the tensors that are."""
    return InBlocks(
        frozenset(i for i, v in enumerate(group.inputs) if v in packed),
        frozenset(i for i, v in enumerate(group.outputs) if v in packed),
    )


def put_in_blocks(group: FusedOp, where: InBlocks, block: int) -> None:
    """Let the body of a group take and yield blocks; its operands and the types of its results stay."""
    for number in where.inputs:
        unpack_argument(group, number, CHANNELS, block)
    for number in where.results:
        pack_result(group, number, CHANNELS, block)


class LayoutSearch:
    """From no tensor in blocks or all that can be, one class after the other changes while that saves time."""

    def __init__(
        self, groups: Sequence[FusedOp], classes: Sequence[Sequence[SSAValue]], algorithms: Algorithms, block: int
    ):
        self._groups = groups
        self._classes = classes
        self._algorithms = algorithms
        self._block = block
        self._content = {group: (content_of(group.body.block), parameters_of(group)) for group in groups}
        self._known: dict[Hashable, float] = {}

    def best(self) -> set[SSAValue]:
        """The tensors that should be in blocks."""
        none, every = set[SSAValue](), {v for values in self._classes for v in values}
        least = {g: min(self._cycles([g], none), self._cycles([g], every)) for g in self._groups}
        return self._improved(min(none, every, key=lambda packed: self._cycles(self._groups, packed)), least)

    def _improved(self, packed: set[SSAValue], least: Mapping[FusedOp, float]) -> set[SSAValue]:
        """Where no class alone can change to save more.

        A kernel that reads one layout and makes another is taken to need the `least` of both at least.
        """
        changed = True
        while changed:
            changed = False
            for values in self._classes:
                touched = [g for g in self._groups if not {*g.inputs, *g.outputs}.isdisjoint(values)]
                now = self._cycles(touched, packed)
                other = packed.symmetric_difference(values)
                if now > sum(least[g] for g in touched) and self._cycles(touched, other) < now:
                    packed, changed = other, True
        return packed

    def _cycles(self, groups: Sequence[FusedOp], packed: Set[SSAValue]) -> float:
        return sum(self._cycles_of(group, in_blocks(group, packed)) for group in groups)

    def _cycles_of(self, group: FusedOp, where: InBlocks) -> float:
        key = (self._content[group], where)
        if key not in self._known:
            trial = group.clone()
            put_in_blocks(trial, where, self._block)
            self._known[key] = self._algorithms.best_for(trial).cycles
            trial.erase()
        return self._known[key]
