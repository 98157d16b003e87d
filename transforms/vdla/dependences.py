"""Which operations of one unit have to wait for which of a neighbour, and tokens that make them wait.

Operations of a unit run in order, and tokens come out of a queue in the order in which they came in. So an operation
that waits for the latest of those that it needs waits for all of them, and a token that is pushed later does too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from tilework.analysis.loop_nest import buffer_name
from tilework.dialects.loop.common import memref_of
from tilework.dialects.support.diagnostics import CompileError
from tilework.targets.vdla.units import Queue, Unit
from tilework.transforms.vdla.accesses import Tiles
from tilework.transforms.vdla.trace import Instance, Trace

Needs = Mapping[int, int]
"""The number of an instance -> how many instances there are up to the last of another unit that it needs."""


class Edge(NamedTuple):
    """A token from behind one statement of a block to the place before another one.

    lag: so many runs of the block later it is taken; as many tokens are there at first.
    at_once: the other unit takes it right behind the first statement, whatever it does next.
    """

    source: Operation
    target: Operation
    lag: int
    at_once: bool = False


@dataclass(frozen=True)
class Tokens:
    """The tokens of one queue: the edges that they go along, and how many are in it at first.

    scope: the loop before which these are pushed, and behind which as many are taken; None for all of the function.
    """

    first: int
    edges: tuple[Edge, ...]
    scope: Operation | None


def needs_of(trace: Trace) -> dict[Queue, dict[int, int]]:
    """What each instance needs of each neighbour: that it has written what is read here, and read what is written.

    The last instance needs all that ran before.
    """
    found: dict[Queue, dict[int, int]] = {queue: {} for queue in Queue}
    reads, writes = _Last(), _Last()
    for number, instance in enumerate(trace.instances):
        unit, (read, written) = instance.op.unit, instance.touched
        for queue in Queue:
            if queue.destination is unit:
                needed = 0
                for buffer, tiles in read:
                    needed = max(needed, writes.of(queue.source, buffer, tiles))
                for buffer, tiles in written:
                    needed = max(needed, reads.of(queue.source, buffer, tiles), writes.of(queue.source, buffer, tiles))
                if number == len(trace.instances) - 1:
                    needed = max((n + 1 for n, i in enumerate(trace.instances) if i.op.unit is queue.source), default=0)
                if needed:
                    found[queue][number] = needed
        _refuse_far(instance, reads, writes)
        for buffer, tiles in read:
            reads.put(unit, buffer, tiles, number + 1)
        for buffer, tiles in written:
            writes.put(unit, buffer, tiles, number + 1)
    return found


class _Last:
    """For each tile, how many instances had run when one of a unit had touched it last; 0 for never."""

    def __init__(self):
        self._counts: dict[tuple[Unit, SSAValue], Tiles] = {}

    def of(self, unit: Unit, buffer: SSAValue, tiles: Tiles) -> int:
        """The greatest number of some tiles."""
        counts = self._counts.get((unit, buffer))
        return 0 if counts is None or not len(tiles) else int(counts[tiles].max())

    def put(self, unit: Unit, buffer: SSAValue, tiles: Tiles, number: int) -> None:
        """Let a number be that of some tiles."""
        if (unit, buffer) not in self._counts:
            self._counts[unit, buffer] = np.zeros(memref_of(buffer).get_shape()[0], np.int64)
        self._counts[unit, buffer][tiles] = number


def _refuse_far(instance: Instance, reads: _Last, writes: _Last) -> None:
    """Raise CompileError where units have to wait for each other that are no neighbours."""
    far = {Unit.LOAD: Unit.STORE, Unit.STORE: Unit.LOAD}.get(instance.op.unit)
    if far is None:
        return
    for buffer, tiles in (*instance.touched.reads, *instance.touched.writes):
        if writes.of(far, buffer, tiles) or (
            any(buffer is b for b, _ in instance.touched.writes) and reads.of(far, buffer, tiles)
        ):
            raise CompileError(
                f"{buffer_name(buffer)} is stored, and loaded by another unit: no token goes from one to the other; "
                "compute with it in two kernels",
                instance.op,
            )


def edges_for(trace: Trace, queue: Queue, needs: Needs) -> list[Edge]:
    """Tokens that meet all needs if each is taken by whom it is meant for."""
    latest: dict[tuple[Block, Operation], tuple[int, Edge]] = {}
    waited = 0
    for number, needed in needs.items():
        if needed <= waited:
            continue
        waited = needed
        block, edge = _edge(trace.instances[needed - 1], trace.instances[number])
        place = _place(block, edge)
        known = latest.get((block, edge.target))
        if known is None or known[0] < place:
            latest[block, edge.target] = place, edge
    by_block: dict[Block, list[tuple[int, Edge]]] = {}
    for (block, _), found in latest.items():
        by_block.setdefault(block, []).append(found)
    return [edge for block, found in by_block.items() for edge in _strictly_later(block, found)]


def _edge(source: Instance, target: Instance) -> tuple[Block, Edge]:
    """A token between the statements of the innermost block around two instances, and that block."""
    one, other = _statements(source.op), _statements(target.op)
    depth = max(d for d in range(min(len(one), len(other))) if one[d].parent is other[d].parent)
    block = one[depth].parent
    assert block is not None
    return block, Edge(one[depth], other[depth], target.runs[depth] - source.runs[depth])


def _statements(op: Operation) -> list[Operation]:
    """An operation, and those around it that blocks inside of the function hold, outermost first."""
    found = [op]
    while isinstance(around := found[-1].parent_op(), scf.ForOp):
        found.append(around)
    return found[::-1]


def _place(block: Block, edge: Edge) -> int:
    """How late the source of a token is, in statements from the beginning of the run of the block that takes it."""
    return block.get_operation_index(edge.source) - edge.lag * _length(block)


def _length(block: Block) -> int:
    return len(list(block.ops))


def _strictly_later(block: Block, found: Sequence[tuple[int, Edge]]) -> list[Edge]:
    """The tokens that are pushed later than those that the same unit has taken before, in this run and the last."""
    kept: list[tuple[int, Edge]] = []
    ordered = sorted(found, key=lambda one: block.get_operation_index(one[1].target))
    for at, (place, edge) in enumerate(ordered):
        earlier = [p for p, _ in ordered[:at]] + [p - _length(block) for p, _ in ordered[at:]]
        if place > max(earlier):
            kept.append((place, edge))
    return [edge for _, edge in kept]


def settled(trace: Trace, queue: Queue, needs: Needs, depth: int) -> Tokens:
    """Tokens of a queue that meet all needs in the order in which they come out of it, as few and as early as may be.

    depth: so many tokens the queue holds.
    """
    if not _loops(trace):
        return Tokens(0, tuple(_straight(trace, queue, needs, depth)), None)
    edges = edges_for(trace, queue, needs)
    for scope in (None, *_loops(trace)):
        inside = [edge for edge in edges if not edge.lag or _holds(scope, edge.source)]
        tokens = _with_first(trace, queue, needs, inside, scope, depth)
        if tokens is not None:
            return _fewest(trace, queue, needs, tokens, depth)
    at_once = dict.fromkeys(edge.source for edge in edges)
    return Tokens(0, tuple(Edge(source, source, 0, at_once=True) for source in at_once), None)


def _straight(trace: Trace, queue: Queue, needs: Needs, depth: int) -> list[Edge]:
    """The tokens where there are no loops: each goes from the last operation that is needed to the one that needs it.

    Where that would be more at a time than the queue holds, one is pushed no sooner than another one has been taken.
    """
    edges: list[Edge] = []
    takers: list[int] = []
    waited = 0
    for number, needed in needs.items():
        if needed <= waited:
            continue
        waited = needed
        at = max(needed - 1, takers[-depth]) if len(takers) >= depth else needed - 1
        edges.append(Edge(trace.instances[at].op, trace.instances[number].op, 0))
        takers.append(number)
    return edges


def _loops(trace: Trace) -> list[Operation]:
    """The loops that a function runs, outer ones first."""
    return list(dict.fromkeys(event.statement for event in trace.events if isinstance(event.statement, scf.ForOp)))


def _holds(scope: Operation | None, op: Operation) -> bool:
    return scope is None or (scope is not op and scope.is_ancestor(op))


def _fewest(trace: Trace, queue: Queue, needs: Needs, tokens: Tokens, depth: int) -> Tokens:
    """The same without the edges that are not needed, if all others keep their distance."""
    for edge in reversed(tokens.edges):
        fewer = replace(
            tokens, first=tokens.first - edge.lag, edges=tuple(other for other in tokens.edges if other is not edge)
        )
        if fewer.first >= 0 and _meets(trace, queue, needs, fewer, depth):
            tokens = fewer
    return tokens


def _with_first(
    trace: Trace, queue: Queue, needs: Needs, edges: Sequence[Edge], scope: Operation | None, depth: int
) -> Tokens | None:
    """Tokens along some edges, with as many at first as may be; None where no number of them meets the needs."""
    for first in range(sum(edge.lag for edge in edges), -1, -1):
        tokens = Tokens(first, tuple(edges), scope)
        if _meets(trace, queue, needs, tokens, depth):
            return tokens
    return None


def _meets(trace: Trace, queue: Queue, needs: Needs, tokens: Tokens, depth: int) -> bool:
    """Whether every instance has waited for what it needs, if tokens come out of a queue in order."""
    pushes = {edge.source for edge in tokens.edges}
    pops = {edge.target for edge in tokens.edges}
    end = trace.instances[-1].op
    pushed = [0] * (tokens.first if tokens.scope is None else 0)
    taken = waited = done = 0
    for statement, is_behind, now in trace.events:
        if any(needs.get(number, 0) > waited for number in range(done, now)):
            return False
        done = now
        takes, puts = (statement in pops, 0) if not is_behind else (False, statement in pushes)
        if statement is tokens.scope:
            takes, puts = (takes + tokens.first * is_behind, puts + tokens.first * (not is_behind))
        elif statement is end and not is_behind and queue.destination is end.unit:
            takes = len(pushed) - taken  # it runs behind all tokens that are left
        for _ in range(takes):
            if taken == len(pushed):
                return False
            waited = max(waited, pushed[taken])
            taken += 1
        pushed += [now] * puts
        if len(pushed) - taken > depth:
            return False
    return True
