"""Which operators become one kernel: TVM's fusion over the post-dominator tree.

Every operator starts as a group of its own. In program order, each is merged, together with everything on the way, into
the group of its immediate post-dominator where the categories allow it. A group has at most one anchor, a convolution,
product or pooling (category complex). There are two phases, so that an anchor takes its element-wise followers before
movement of elements (category injective) does:

  1. an anchor, and element-wise and broadcasting operators, into what follows;
  2. injective operators into injective and simpler ones.

TVM's third phase is about tuples, which this dialect does not have: graph.concat takes its operands directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block

from tilework.analysis.post_dominators import Dataflow, PostDominators
from tilework.dialects.graph.base import Category, GraphOp

MAX_OPERATORS = 256
"""No kernel computes more operators than this, as in TVM: code size."""


@dataclass
class _Group:
    """A node of a union-find forest; only a root speaks for the group."""

    members: list[int]
    category: Category
    merged_into: _Group | None = field(default=None, repr=False)

    def root(self) -> _Group:
        """The group that this one is part of by now. Halves the path to it."""
        group = self
        while group.merged_into is not None:
            if group.merged_into.merged_into is not None:
                group.merged_into = group.merged_into.merged_into
            group = group.merged_into
        return group

    def take(self, other: _Group) -> None:
        """Merge another root into this one. An anchor among its members becomes the anchor of the whole."""
        self.members += other.members
        if other.category is Category.COMPLEX:
            assert self.category <= Category.BROADCAST, "a group has one anchor"
            self.category = Category.COMPLEX
        other.merged_into = self


class FusionGroups:
    """The groups of a block's operators, and why neighbours are not in one."""

    def __init__(self, block: Block, max_operators: int = MAX_OPERATORS):
        self._flow = Dataflow.of(block)
        self._tree = PostDominators(self._flow)
        self._max_operators = max_operators
        self._groups = [_Group([i], op.category) for i, op in enumerate(self._flow.ops)]
        self._refusals: dict[int, str] = {}
        for phase in (1, 2):
            for i in range(len(self._groups)):
                self._try(i, phase)

    def groups(self) -> list[list[GraphOp]]:
        """Each group in program order, its last operator the one whose results leave it; in order of those."""
        roots = [sorted(group.members) for group in self._groups if group.merged_into is None]
        return [[self._flow.ops[i] for i in members] for members in sorted(roots, key=lambda members: members[-1])]

    def refusals(self) -> Iterator[tuple[GraphOp, GraphOp, str]]:
        """(producer, consumer, why they are not in one group) for every two neighbours that are not."""
        for i, edges in enumerate(self._flow.edges):
            for consumer in dict.fromkeys(edge.consumer for edge in edges):
                if self._groups[i].root() is not self._groups[consumer].root():
                    yield self._flow.ops[i], self._flow.ops[consumer], self._why_apart(i, consumer)

    # -- merging

    def _try(self, i: int, phase: int) -> None:
        """Merge operator i into the group of its post-dominator, or note why not."""
        sink = self._tree.parent[i]
        if sink is None or self._groups[i].root() is self._groups[sink].root():
            return
        between = self._flow.between(i, sink, self._max_operators)
        involved = {id(group): group for group in self._roots((i, *between, sink))}
        if sum(len(group.members) for group in involved.values()) > self._max_operators:
            self._refusals[i] = f"together they would be more than {self._max_operators} operators"
            return
        refusal = self._refusal(i, sink, between, phase)
        if refusal is not None:
            self._refusals[i] = refusal
            return
        target = self._groups[sink].root()
        for group in involved.values():
            if group is not target:
                target.take(group)

    def _refusal(self, i: int, sink: int, between: list[int], phase: int) -> str | None:
        """Why operator i and what lies between are not merged into the sink's group, None where they are."""
        own, edges = self._groups[i].category, self._tree.category[i]
        at_sink = self._groups[sink].root().category
        way = max((group.category for group in self._roots(between)), default=Category.ELEMENTWISE)
        if own is Category.COMPLEX:
            if phase == 1 and edges is Category.ELEMENTWISE and max(way, at_sink) <= Category.BROADCAST:
                return None
            return self._anchor_refusal(i, edges, max(way, at_sink))
        if own <= Category.BROADCAST:
            # the sink may be in an anchor's group: it is one of those that follow the anchor, else `edges` were complex
            if edges <= Category.REDUCTION and way <= Category.INJECTIVE and at_sink <= Category.COMPLEX:
                return None
            return f"{self._name(sink)} needs its operand whole, not element by element"
        if own is Category.INJECTIVE:
            if phase == 2 and max(way, at_sink) <= Category.INJECTIVE:
                return None
            return "moved elements are fused only with element-wise operators and other movement that follow"
        return f"{self._name(i)} is finished before anything can read its result"

    def _anchor_refusal(self, i: int, edges: Category, met: Category) -> str:
        if edges is not Category.ELEMENTWISE:
            return f"only what reads its result element by element is fused behind {self._name(i)}"
        if met is Category.COMPLEX:
            return "a kernel computes one convolution, product or pooling"
        return f"only element-wise and broadcasting operators are fused behind {self._name(i)}"

    def _roots(self, numbers: Iterable[int]) -> Iterator[_Group]:
        return (self._groups[i].root() for i in numbers)

    # -- explaining

    def _why_apart(self, i: int, consumer: int) -> str:
        for op in (i, consumer):
            if self._flow.ops[op].category is Category.OPAQUE:
                return f"{self._name(op)} is a kernel of its own"
        if self._flow.escapes[i]:
            where = "returned, seen through a view, or read by a kernel of rows"
            return f"the result of {self._name(i)} is needed in memory: it is {where}"
        if self._tree.parent[i] is None:
            return f"not everything that uses the result of {self._name(i)} comes together again"
        return self._refusals[i]

    def _name(self, i: int) -> str:
        return self._flow.ops[i].title
