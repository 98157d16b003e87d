"""Loops inside each other around one store: what they compute, and how it moves with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from tilework.algebra.index_expr import Expr, Key
from tilework.analysis.accesses import root_buffer
from tilework.dialects import arith
from tilework.dialects.loop import ForOp, IfOp, Kind, LoadOp, StoreOp
from tilework.dialects.support.diagnostics import CompileError

NOTHING_KNOWN: Mapping[SSAValue, Expr] = {}


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

    value_ops: what the stored value is computed from. What stands in front of an inner loop is as good inside.
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


def nests_of(outermost: ForOp, known: Mapping[SSAValue, Expr] = NOTHING_KNOWN) -> list[LoopNest]:
    """The nests that a loop consists of: one, or two that share loops, such as for a sum that is set to zero first.

    known: what indices of loops around are, where bounds and conditions ask for them; a loop inside whose index is
    known is fixed there, and belongs to no nest. Raises NoNest, with the reason, where the loop holds anything else.
    """
    held = (op for op in outermost.body.walk() if isinstance(op.parent_op(), ForOp) or _is_statement(op.parent_op()))
    values = [op for op in held if not isinstance(op, ForOp | StoreOp | arith.ConstantOp) and not _is_statement(op)]
    nests = list(_nests((outermost,), outermost.body.block, known))
    if not 0 < len(nests) < 3:
        raise NoNest(f"the loops are to hold one store, or two, and hold {len(nests) or 'none'}")
    unused = next((op for op in values if not any(op in nest.value_ops for nest in nests)), None)
    if unused is not None:
        raise NoNest(f"besides what they store, the loops hold {unused.name}")
    for i, nest in enumerate(nests):
        _refuse_early(nest, [other.store for other in nests[:i]])
    return nests


def nest_of(outermost: ForOp, known: Mapping[SSAValue, Expr] = NOTHING_KNOWN) -> LoopNest:
    """The one nest that a loop is. Raises NoNest, with the reason, where it holds anything else."""
    nests = nests_of(outermost, known)
    if len(nests) > 1:
        raise NoNest("the loops are to hold one store, and hold two")
    return nests[0]


def _is_statement(op: Operation | None) -> bool:
    """Whether something is done under a condition."""
    return isinstance(op, IfOp) and not op.outputs


def _nests(loops: tuple[ForOp, ...], block: Block, known: Mapping[SSAValue, Expr]) -> Iterator[LoopNest]:
    """The nests inside of a block in loops, in order."""
    trips = [_trip_of(loop, loops, known) for loop in loops]
    for op in block.ops:
        match op:
            case ForOp():
                around = loops if op.index in known else (*loops, op)
                yield from _nests(around, op.body.block, known)
            case IfOp() if not op.outputs and (truth := holds(op, known)) is not None:
                for branch in (op.then_body if truth else op.else_body).blocks:
                    yield from _nests(loops, branch, known)
            case StoreOp():
                type_: Attribute = op.value.type
                if isinstance(type_, VectorType):
                    raise NoNest(f"the loops are to hold scalars, and store a {type_}")
                yield LoopNest(loops, tuple(trips), op, _needed(op, loops[0]))
            case _ if op.regions and not op.results:
                raise NoNest(f"the loops are to hold stores, and hold {op.name}")
            case _:
                pass


def holds(op: IfOp, known: Mapping[SSAValue, Expr]) -> bool | None:
    """Whether all conditions hold where this is known; None where that does not tell."""
    truths = [predicate.substitute(known).constant for predicate in op.conditions]
    return None if None in truths else all(truths)


def _trip_of(loop: ForOp, loops: Sequence[ForOp], known: Mapping[SSAValue, Expr]) -> int:
    if loop.kind.data not in (Kind.SERIAL, Kind.UNROLLED):
        raise NoNest(f"loop '{loop.axis.data}' is {loop.kind.data}, where iterations are to follow each other")
    if any(around.index in loop.lower.variables() for around in loops):
        raise NoNest(f"loop '{loop.axis.data}' begins at another index each time")
    trip = loop.extent.substitute(known).constant
    if trip is None:
        raise NoNest(f"nobody knows how often loop '{loop.axis.data}' runs: {loop.extent}")
    return trip


def only_loop(loop: ForOp) -> ForOp | None:
    """The loop that another one holds, with nothing besides but values that are the same in all iterations of it."""
    if loop.body.block.is_empty:
        return None
    *before, last = loop.body.block.ops
    are_values = all(isinstance(op, LoadOp) or is_side_effect_free(op) for op in before)
    return last if isinstance(last, ForOp) and are_values else None


def _refuse_early(nest: LoopNest, earlier: Sequence[StoreOp]) -> None:
    """Raise NoNest for a load of what is stored to before the value is used."""
    for op in nest.value_ops:
        if not isinstance(op, LoadOp):
            continue
        for store in (nest.store, *earlier):
            if root_buffer(op.memref) is not root_buffer(store.memref):
                continue
            if op.parent is not nest.store.parent:
                raise NoNest(f"{buffer_name(store.memref)} is loaded in front of the loop that stores to it")
            if store is not nest.store and op.parent is store.parent and op.is_before_in_block(store):
                raise NoNest(f"{buffer_name(store.memref)} is loaded before it is set")


def _needed(store: StoreOp, outermost: ForOp) -> tuple[Operation, ...]:
    """The operations in a loop that the stored value is computed from."""
    found: dict[Operation, None] = {}
    pending = [store.value]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner not in found and outermost.is_ancestor(owner):
            found[owner] = None
            pending += owner.operands
    return tuple(found)


def buffer_name(buffer: SSAValue) -> str:
    """The name of a buffer, for messages."""
    return f"%{root_buffer(buffer).name_hint or '?'}"
