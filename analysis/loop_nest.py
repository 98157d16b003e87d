"""Loops inside each other around one store: what they compute, and how it moves with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from tilework.algebra.index_expr import Expr, Key
from tilework.analysis.accesses import root_buffer
from tilework.dialects import arith
from tilework.dialects.loop import ForOp, Kind, LoadOp, StoreOp
from tilework.dialects.support.diagnostics import CompileError

NOTHING_KNOWN: Mapping[SSAValue, Expr] = {}


class Steps(NamedTuple):
    """How an access moves: where it is in the first iteration of all loops, and by how many elements each moves it."""

    access: LoadOp | StoreOp
    start: Expr
    steps: tuple[int, ...]


class NoNest(Exception):
    """Loops are no nest that can be compared with something else; the message says why."""


@dataclass(frozen=True)
class LoopNest:
    """Loops of known trip counts, outermost first, that run one iteration after the other around one store.

    value_ops: what is computed in the loops, the store apart. What stands in front of an inner loop is as good inside.
    """

    loops: tuple[ForOp, ...]
    trips: tuple[int, ...]
    store: StoreOp
    value_ops: tuple[Operation, ...]

    @classmethod
    def from_loop(cls, outermost: ForOp, known: Mapping[SSAValue, Expr] = NOTHING_KNOWN) -> LoopNest:
        """The nest that begins with a loop. Raises NoNest, with the reason, where it holds anything else.

        known: what indices of loops around are, where bounds ask for them.
        """
        loops = [outermost]
        while (inner := only_loop(loops[-1])) is not None:
            loops.append(inner)
        for loop in loops:
            if loop.kind.data not in (Kind.SERIAL, Kind.UNROLLED):
                raise NoNest(f"loop '{loop.axis.data}' is {loop.kind.data}, where iterations are to follow each other")
            if any(around.index in loop.lower.variables() for around in loops):
                raise NoNest(f"loop '{loop.axis.data}' begins at another index each time")
        trips = [loop.extent.substitute(known).constant for loop in loops]
        unknown = next((loop for loop, trip in zip(loops, trips, strict=True) if trip is None), None)
        if unknown is not None:
            raise NoNest(f"nobody knows how often loop '{unknown.axis.data}' runs: {unknown.extent}")
        body = list(loops[-1].body.block.ops)
        store = body[-1] if body else None
        if not isinstance(store, StoreOp):
            found = ", ".join(dict.fromkeys(op.name for op in body)) or "nothing"
            raise NoNest(f"the loops are to hold one store, behind what it stores, and hold {found}")
        type_: Attribute = store.value.type
        if isinstance(type_, VectorType):
            raise NoNest(f"the loops are to hold scalars, and store a {type_}")
        ops = [op for loop in loops for op in loop.body.block.ops if not isinstance(op, ForOp) and op is not store]
        unused = [op for op in ops if op not in _needed(store, ops) and not isinstance(op, arith.ConstantOp)]
        if unused:
            raise NoNest(f"besides one store and what it stores, the loops hold {unused[0].name}")
        _refuse_early(store, ops)
        return cls(tuple(loops), tuple(trip for trip in trips if trip is not None), store, tuple(ops))

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


def only_loop(loop: ForOp) -> ForOp | None:
    """The loop that another one holds, with nothing besides but values that are the same in all iterations of it."""
    if loop.body.block.is_empty:
        return None
    *before, last = loop.body.block.ops
    are_values = all(isinstance(op, LoadOp) or is_side_effect_free(op) for op in before)
    return last if isinstance(last, ForOp) and are_values else None


def _refuse_early(store: StoreOp, ops: Sequence[Operation]) -> None:
    """Raise NoNest for a load in front of the innermost loop of what that may have written."""
    for op in ops:
        same = isinstance(op, LoadOp) and root_buffer(op.memref) is root_buffer(store.memref)
        if same and op.parent is not store.parent:
            raise NoNest(f"{buffer_name(store.memref)} is loaded in front of the loop that stores to it")


def _needed(store: StoreOp, ops: Sequence[Operation]) -> set[Operation]:
    """Those operations that the stored value is computed from."""
    found: set[Operation] = set()
    pending = [store.value]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner in ops and owner not in found:
            found.add(owner)
            pending += owner.operands
    return found


def buffer_name(buffer: SSAValue) -> str:
    """The name of a buffer, for messages."""
    return f"%{root_buffer(buffer).name_hint or '?'}"
