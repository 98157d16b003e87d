"""Loops inside each other around one store: what they compute, and how it moves with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from tilework.algebra.index_expr import Expr, Key
from tilework.analysis.accesses import root_buffer
from tilework.dialects import arith
from tilework.dialects.loop import ForOp, Kind, LoadOp, StoreOp
from tilework.dialects.support.diagnostics import CompileError


class Steps(NamedTuple):
    """How an access moves: where it is in the first iteration of all loops, and by how many elements each moves it."""

    access: LoadOp | StoreOp
    start: Expr
    steps: tuple[int, ...]


class NoNest(Exception):
    """Loops are no nest that can be compared with something else; the message says why."""


class ShortNest(NoNest):
    """Loops differ in nothing else than that they have fewer iterations."""


@dataclass(frozen=True)
class LoopNest:
    """Loops of known trip counts, outermost first, that run one iteration after the other around one store.

    value_ops: what is computed in front of the store, in the innermost loop.
    """

    loops: tuple[ForOp, ...]
    trips: tuple[int, ...]
    store: StoreOp
    value_ops: tuple[Operation, ...]

    def steps(self, access: LoadOp | StoreOp) -> Steps:
        """How an access moves. Raises NoNest where it moves unevenly, CompileError where it has several subscripts."""
        if len(access.indices) != 1:
            raise CompileError(
                f"{access.name} has {len(access.indices)} subscripts: run loop-flatten-storage first", access
            )
        [e] = access.exprs
        first = {loop.index: loop.lower for loop in self.loops}
        if not all(e.is_affine_in(index) for index in first):
            raise NoNest(f"{buffer_name(access.memref)} is not accessed evenly: {self.text_of(access)}")
        return Steps(access, e.substitute(first), tuple(e.coefficient(index) for index in first))

    def text_of(self, access: LoadOp | StoreOp) -> str:
        """An access with the names of the loops, for messages."""
        names: dict[Key, str] = {loop.index: loop.axis.data for loop in self.loops}
        exprs = (e.rename(lambda key: names.get(key) or getattr(key, "name_hint", None) or "?") for e in access.exprs)
        return f"{buffer_name(access.memref)}[{', '.join(map(str, exprs))}]"


def nests_of(outermost: ForOp) -> list[LoopNest]:
    """The nests that a loop consists of: one, or two that share loops, such as for a sum that is set to zero first.

    Raises NoNest, with the reason, where it holds anything else.
    """
    nests = list(_nests((outermost,)))
    if not 0 < len(nests) < 3:
        raise NoNest(f"the loops are to hold one store, or two, and hold {len(nests) or 'none'}")
    return nests


def _nests(loops: tuple[ForOp, ...]) -> Iterator[LoopNest]:
    """The nests inside of loops, in order."""
    trips = [_trip_of(loop, loops) for loop in loops]
    before: list[Operation] = []
    for op in loops[-1].body.block.ops:
        match op:
            case ForOp():
                yield from _nests((*loops, op))
            case StoreOp():
                type_: Attribute = op.value.type
                if isinstance(type_, VectorType):
                    raise NoNest(f"the loops are to hold scalars, and store a {type_}")
                needed = _needed(op)
                unused = next((o for o in before if o not in needed and not isinstance(o, arith.ConstantOp)), None)
                if unused is not None:
                    raise NoNest(f"besides what they store, the loops hold {unused.name}")
                yield LoopNest(loops, tuple(trips), op, tuple(before))
                before = []
            case _ if op.regions:
                raise NoNest(f"the loops are to hold stores, and hold {op.name}")
            case _:
                before.append(op)
    unused = next((op for op in before if not isinstance(op, arith.ConstantOp)), None)
    if unused is not None:
        raise NoNest(f"besides what they store, the loops hold {unused.name}")


def _trip_of(loop: ForOp, loops: Sequence[ForOp]) -> int:
    if loop.kind.data not in (Kind.SERIAL, Kind.UNROLLED):
        raise NoNest(f"loop '{loop.axis.data}' is {loop.kind.data}, where iterations are to follow each other")
    if any(around.index in loop.lower.variables() for around in loops):
        raise NoNest(f"loop '{loop.axis.data}' begins at another index each time")
    trip = loop.extent.constant
    if trip is None:
        raise NoNest(f"nobody knows how often loop '{loop.axis.data}' runs: {loop.extent}")
    return trip


def _needed(store: StoreOp) -> set[Operation]:
    """What the stored value is computed from, in the block of the store."""
    found: set[Operation] = set()
    pending = [store.value]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner.parent is store.parent and owner not in found:
            found.add(owner)
            pending += owner.operands
    return found


def buffer_name(buffer: SSAValue) -> str:
    """The name of a buffer, for messages."""
    return f"%{root_buffer(buffer).name_hint or '?'}"
