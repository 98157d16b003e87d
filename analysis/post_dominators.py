"""The post-dominator tree of a dataflow of operators: where all that is made of a value comes together again.

conv -> relu -> add        the post-dominator of conv is add: every path from conv to a result of the function
   \\-> tanh -/            goes through it, and relu and tanh lie between
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Block, Operation

from tilework.dialects.graph.base import Category, GraphOp

VIEW = "graph.view"
"""The attribute of an operator that is no computation: its result and its operands share a buffer."""


class Edge(NamedTuple):
    """A use of an operator's result by operator number `consumer`, which reads it as `category` says."""

    consumer: int
    category: Category


@dataclass(frozen=True)
class Dataflow:
    """The operators of a block, numbered in program order, and who uses whom.

    `escapes[i]`: a result of operator i is needed outside too, by the function's caller or by what is no kernel.
    """

    ops: tuple[GraphOp, ...]
    edges: tuple[tuple[Edge, ...], ...]
    escapes: tuple[bool, ...]

    @classmethod
    def of(cls, block: Block) -> Dataflow:
        """The dataflow of the operators in `block` that compute something."""
        ops = tuple(op for op in block.ops if isinstance(op, GraphOp) and VIEW not in op.attributes)
        number: dict[Operation, int] = {op: i for i, op in enumerate(ops)}
        edges: list[tuple[Edge, ...]] = []
        escapes: list[bool] = []
        for op in ops:
            uses = [use for result in op.results for use in result.uses]
            inside = ((number[u.operation], u) for u in uses if u.operation in number)
            edges.append(tuple(Edge(n, edge_category(u.operation, u.index)) for n, u in sorted(inside, key=_first)))
            escapes.append(any(u.operation not in number for u in uses) or not uses)
        return cls(ops, tuple(edges), tuple(escapes))

    def between(self, i: int, sink: int, most: int) -> list[int]:
        """The operators on the ways from i to its post-dominator; of more than `most`, only some."""
        found: dict[int, None] = {}
        pending = [i]
        while pending and len(found) <= most:
            for edge in self.edges[pending.pop()]:
                if edge.consumer != sink and edge.consumer not in found:
                    found[edge.consumer] = None
                    pending.append(edge.consumer)
        return list(found)


def edge_category(consumer: Operation, operand: int) -> Category:
    """How `consumer` reads that operand: a broadcasting operator reads one of its own shape element by element."""
    assert isinstance(consumer, GraphOp)
    if consumer.category is Category.BROADCAST and consumer.operands[operand].type == consumer.results[0].type:
        return Category.ELEMENTWISE
    return consumer.category_of(operand)


@dataclass(frozen=True)
class _Link:
    """A step up the tree to `node`, and the largest category of the edges on the way."""

    node: int
    category: Category


class PostDominators:
    """`parent[i]` is the immediate post-dominator of operator i, None where a result of i escapes on some path.

    `category[i]` is the largest category of the edges between the two, which is what decides about fusing them.
    Each node also has a link to a farther ancestor, at a distance that doubles as in skew-binary numbers, so that the
    whole tree costs n log n.
    """

    def __init__(self, flow: Dataflow):
        count = len(flow.ops)
        self.parent: list[int | None] = [None] * count
        self.category: list[Category] = [Category.OPAQUE] * count
        self._depth = [0] * count
        self._jump: list[_Link | None] = [None] * count
        for i in reversed(range(count)):
            if not flow.escapes[i]:
                self._attach(i, flow.edges[i])

    def _attach(self, i: int, edges: Sequence[Edge]) -> None:
        meeting: int | None = edges[0].consumer
        category = edges[0].category
        for edge in edges[1:]:
            if meeting is None:
                break
            meeting, above = self.meet(meeting, edge.consumer)
            category = max(category, edge.category, above)
        if meeting is None:
            return
        self.parent[i], self.category[i] = meeting, category
        self._depth[i] = self._depth[meeting] + 1
        self._jump[i] = self._farther(i)

    def _farther(self, i: int) -> _Link:
        """The long link of i: over two long links of equal length where there are such, else the step to the parent."""
        step = _Link(self._parent(i), self.category[i])
        first = self._jump[step.node]
        second = None if first is None else self._jump[first.node]
        if first is None or second is None:
            return step
        depth = self._depth
        if depth[step.node] - depth[first.node] != depth[first.node] - depth[second.node]:
            return step
        return _Link(second.node, max(step.category, first.category, second.category))

    def meet(self, a: int, b: int) -> tuple[int | None, Category]:
        """The nearest common ancestor (a node is its own), and the largest category on the two ways there."""
        largest = Category.ELEMENTWISE
        if self._depth[a] < self._depth[b]:
            a, b = b, a
        while self._depth[a] > self._depth[b]:
            jump = self._jump[a]
            assert jump is not None
            link = jump if self._depth[jump.node] >= self._depth[b] else _Link(self._parent(a), self.category[a])
            a, largest = link.node, max(largest, link.category)
        while a != b:
            one, other = self._jump[a], self._jump[b]
            if one is None or other is None:
                return None, largest
            if one.node == other.node:
                one = _Link(self._parent(a), self.category[a])
                other = _Link(self._parent(b), self.category[b])
            a, b = one.node, other.node
            largest = max(largest, one.category, other.category)
        return a, largest

    def _parent(self, i: int) -> int:
        parent = self.parent[i]
        assert parent is not None
        return parent


def _first(pair: tuple[int, object]) -> int:
    return pair[0]
