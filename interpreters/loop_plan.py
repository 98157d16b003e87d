"""How the loop interpreter runs each loop: all iterations at once as a dimension of arrays, or one by one.

Loops without a dependence become *axes*, numbered from outside inwards, as long as the arrays stay of a size that the
memory holds; the others are Python loops. Parallel loops that are not proved independent run backwards, so that a race
changes the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from enum import Enum
from math import prod

from xdsl.ir import Block, Operation, SSAValue

from tilework.analysis.domains import loops_around
from tilework.analysis.launches import mapped_threads
from tilework.dialects.loop import CallOp, ForOp, KernelOp, Kind, LoadOp, StoreOp
from tilework.dialects.loop.buffer_regions import BufferRegionsOp
from tilework.interpreters.independence import Dependences

LARGEST_ARRAY = 1 << 21
"""How many iterations run at once, at most."""


class Mode(Enum):
    """How the iterations of one loop are run."""

    AXIS = "all at once"
    SERIAL = "one by one"
    BACKWARDS = "one by one, last first"
    SAMPLED = "a few of them"


@dataclass(frozen=True)
class Plan:
    """The mode of every loop, and how many axes enclose it.

    Several iterations of axes may store to one element by one of the `overlapping` stores: the same value, or else the
    order matters.
    """

    modes: Mapping[ForOp, Mode]
    positions: Mapping[ForOp, int]
    overlapping: Set[StoreOp]

    @property
    def rank(self) -> int:
        """How many axes are nested at most."""
        return max((p + 1 for loop, p in self.positions.items() if self.modes[loop] is Mode.AXIS), default=0)

    def axes_around(self, op: Operation) -> int:
        """How many axes enclose an operation."""
        parent = op.parent_op()
        while parent is not None and not isinstance(parent, ForOp):
            parent = parent.parent_op()
        if parent is None:
            return 0
        return self.positions[parent] + (self.modes[parent] is Mode.AXIS)


def plan_loops(kernel: KernelOp, facts: Dependences, *, sampled: bool = False, overlaps: bool = True) -> Plan:
    """Decide for every loop. With `sampled`, outermost independent loops whose results nobody reads are sampled.

    With `overlaps`, a loop may be an axis although its iterations may store to the same elements. Threads that wait for
    each other are axes, and nothing else is.
    """
    threads = mapped_threads(kernel)
    if threads:
        return _threads_together(kernel, threads)
    modes: dict[ForOp, Mode] = {}
    stores: dict[ForOp, set[StoreOp]] = {}
    for loop in kernel.walk():
        if isinstance(loop, ForOp):
            calls = any(isinstance(op, CallOp) for op in loop.walk())  # of kernels that are run one after the other
            found = None if calls else facts.overwritten_by(loop)
            modes[loop] = Mode.AXIS if found is not None and (overlaps or not found) else _in_order(loop)
            stores[loop] = found or set()
    if sampled:
        _sample(kernel, facts, modes)
    for block in kernel.body.blocks:
        _limit(block, facts, modes)
    for loop in reversed(modes):  # inner ones first
        if any(modes[between] is not Mode.AXIS for s in stores[loop] for between in loops_around(s, loop)):
            modes[loop] = _in_order(loop)
    positions: dict[ForOp, int] = {}
    for block in kernel.body.blocks:
        _number(block, 0, modes, positions)
    overlapping = {s for loop, found in stores.items() if modes[loop] is Mode.AXIS for s in found}
    return Plan(modes, positions, overlapping)


def _threads_together(kernel: KernelOp, threads: Set[ForOp]) -> Plan:
    modes = {op: Mode.AXIS if op in threads else Mode.SERIAL for op in kernel.walk() if isinstance(op, ForOp)}
    positions: dict[ForOp, int] = {}
    for block in kernel.body.blocks:
        _number(block, 0, modes, positions)
    return Plan(modes, positions, frozenset())


def _in_order(loop: ForOp) -> Mode:
    return Mode.BACKWARDS if loop.kind.data is Kind.PARALLEL else Mode.SERIAL


def _limit(block: Block, facts: Dependences, modes: dict[ForOp, Mode]) -> int:
    """Keep the innermost axes, up to the largest array; how many iterations of axes there are inside `block`.

    An element of a part of a buffer counts as one.
    """
    most = 1
    for op in block.ops:
        if isinstance(op, BufferRegionsOp):
            most = max(most, *(prod(part.form.shape) for part in op.buffer_regions))
        inside = max((_limit(b, facts, modes) for region in op.regions for b in region.blocks), default=1)
        if isinstance(op, ForOp) and modes[op] is Mode.AXIS:
            first, last = facts.ranges.get(op.index, (0, LARGEST_ARRAY))
            if inside * (last - first + 1) > LARGEST_ARRAY:
                modes[op] = Mode.SERIAL
            else:
                inside *= last - first + 1
        most = max(most, inside)
    return most


def _number(block: Block, depth: int, modes: Mapping[ForOp, Mode], positions: dict[ForOp, int]) -> None:
    for op in block.ops:
        inner = depth
        if isinstance(op, ForOp):
            positions[op] = depth
            inner += modes[op] is Mode.AXIS
        for region in op.regions:
            for b in region.blocks:
                _number(b, inner, modes, positions)


def _sample(kernel: KernelOp, facts: Dependences, modes: dict[ForOp, Mode]) -> None:
    """Sample perfectly nested independent loops at the root, where nothing outside reads what they store."""
    outputs = set(map(facts.root, kernel.outputs))
    for op in kernel.body.block.ops:
        if not isinstance(op, ForOp) or not _is_last_use(op, outputs, facts):
            continue
        loop: Operation | None = op
        while isinstance(loop, ForOp) and modes[loop] is Mode.AXIS:
            modes[loop] = Mode.SAMPLED
            loop = _only_loop(loop.body.block)


def _is_last_use(loop: ForOp, outputs: set[SSAValue], facts: Dependences) -> bool:
    """Whether a loop at the root stores to nothing but outputs that no other loop touches."""
    inside = {a.root for a in facts.accesses if a.is_store and loop.is_ancestor(a.op)}
    shared = {root for root in inside if not isinstance(root.owner, Operation)}
    elsewhere = {a.root for a in facts.accesses if not loop.is_ancestor(a.op) and not a.is_store}
    return shared <= outputs and not shared & elsewhere


def _only_loop(block: Block) -> ForOp | None:
    """The one operation of a block, if it is a loop with more than arithmetic inside."""
    ops = [op for op in block.ops if not isinstance(op, LoadOp | StoreOp)]
    first = block.first_op
    return first if len(ops) == 1 and isinstance(first, ForOp) and first is block.last_op else None
