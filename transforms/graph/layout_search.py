"""A search for layouts: which tensors to put into blocks so that all kernels together take the least time."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import f32
from xdsl.ir import Block, SSAValue

from tilework.analysis.layout_classes import CHANNELS, LayoutClass, layout_classes
from tilework.analysis.program_targets import is_on_host
from tilework.dialects.graph.structure import FusedOp
from tilework.targets import Target
from tilework.transforms.graph.algorithms import Algorithms, question_of
from tilework.transforms.graph.packed_groups import pack_result, unpack_argument

Layouts: TypeAlias = Mapping[SSAValue, int]
"""How many channels the blocks have that tensors are in."""


@dataclass(frozen=True)
class InBlocks:
    """Which operands and results of a group are in blocks, by number, and of how many channels."""

    inputs: tuple[tuple[int, int], ...]
    results: tuple[tuple[int, int], ...]


def in_blocks(group: FusedOp, layouts: Layouts) -> InBlocks:
    """The layout in blocks of a group."""
    return InBlocks(
        tuple((i, layouts[v]) for i, v in enumerate(group.inputs) if v in layouts),
        tuple((i, layouts[v]) for i, v in enumerate(group.outputs) if v in layouts),
    )


def put_in_blocks(group: FusedOp, where: InBlocks) -> None:
    """Let the body of a group take and yield blocks; its operands and the types of its results stay."""
    for number, block in where.inputs:
        unpack_argument(group, number, CHANNELS, block)
    for number, block in where.results:
        pack_result(group, number, CHANNELS, block)


class LayoutSearch:
    """From no tensor in blocks or all that can be, one class after the other changes while that saves time."""

    def __init__(self, groups: Sequence[FusedOp], classes: Sequence[LayoutClass], algorithms: Algorithms):
        self._groups = groups
        self._classes = classes
        self._algorithms = algorithms
        # by number, since questions are long, and asked again and again
        numbers: dict[Hashable, int] = {}
        self._questions = {group: numbers.setdefault(question_of(group), len(numbers)) for group in groups}
        self._known: dict[tuple[int, InBlocks], float] = {}

    @classmethod
    def of(cls, graph: Block, target: Target, algorithms: Algorithms) -> LayoutSearch:
        """Make the search for the kernels of a graph."""
        groups = [op for op in graph.ops if isinstance(op, FusedOp) and is_on_host(op)]
        classes = layout_classes(graph, target.blocks(f32.bitwidth))
        return cls(groups, classes, algorithms)

    def first_questions(self) -> Iterator[FusedOp]:
        """Groups whose algorithms `best` is sure to ask for, and which are not known; each with the operands it has in
        the graph, and to be erased."""
        asked, extremes = set[Hashable](), self._extremes()
        for group in self._groups:
            for layouts in extremes:
                trial = _trial(group, in_blocks(group, layouts))
                question = question_of(trial)
                if question in asked or self._algorithms.knows(question):
                    trial.erase()
                else:
                    asked.add(question)
                    yield trial

    def best(self) -> Layouts:
        """The tensors that should be in blocks."""
        none, every = self._extremes()
        least = {g: min(self._cycles([g], none), self._cycles([g], every)) for g in self._groups}
        return self._improved(min(none, every, key=lambda layouts: self._cycles(self._groups, layouts)), least)

    def _extremes(self) -> tuple[Layouts, Layouts]:
        """No tensor in blocks, and all that can be."""
        return {}, {v: c.block for c in self._classes for v in c.values}

    def _improved(self, layouts: Layouts, least: Mapping[FusedOp, float]) -> Layouts:
        """Where no class alone can change to save more.

        A kernel that reads one layout and makes another is taken to need the `least` of both at least.
        """
        touched_by = self._touched()
        changed = True
        while changed:
            changed = False
            for one, touched in zip(self._classes, touched_by, strict=True):
                now = self._cycles(touched, layouts)
                if now > sum(least[g] for g in touched):
                    other = _changed(layouts, one)
                    if self._cycles(touched, other) < now:
                        layouts, changed = other, True
        return layouts

    def _touched(self) -> list[list[FusedOp]]:
        """For every class, the groups that read or make a tensor of it, in program order."""
        class_of = {value: number for number, one in enumerate(self._classes) for value in one.values}
        touched: list[list[FusedOp]] = [[] for _ in self._classes]
        for group in self._groups:
            for number in {class_of[v] for v in (*group.inputs, *group.outputs) if v in class_of}:
                touched[number].append(group)
        return touched

    def _cycles(self, groups: Sequence[FusedOp], layouts: Layouts) -> float:
        return sum(self._cycles_of(group, in_blocks(group, layouts)) for group in groups)

    def _cycles_of(self, group: FusedOp, where: InBlocks) -> float:
        key = (self._questions[group], where)
        if key not in self._known:
            trial = _trial(group, where)
            self._known[key] = self._algorithms.best_for(trial).cycles
            trial.erase()
        return self._known[key]


def _trial(group: FusedOp, where: InBlocks) -> FusedOp:
    """A copy with its body as `where` says."""
    trial = group.clone()
    put_in_blocks(trial, where)
    return trial


def _changed(layouts: Layouts, one: LayoutClass) -> Layouts:
    """With this class in blocks if it was not, else without."""
    others = {v: block for v, block in layouts.items() if v not in one.values}
    return others if len(others) < len(layouts) else others | dict.fromkeys(one.values, one.block)
