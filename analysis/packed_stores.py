"""Whether threads may write 4-bit integers of one byte: a byte is read, changed and written whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from tilework.algebra.index_expr import Expr, const, var
from tilework.algebra.modular import modular_set
from tilework.analysis.accesses import root_buffer
from tilework.analysis.domains import Scope, loops_around, scope_at
from tilework.dialects.loop import THREADS, ForOp, Kind, StoreOp
from tilework.dialects.support.diagnostics import CompileError


def check_whole_bytes(stores: Sequence[StoreOp]) -> None:
    """Raise CompileError where two iterations of a parallel loop may write to one byte.

    stores: of one-dimensional subscripts, all those of one buffer of 4-bit integers that is shared by the loops around.
    """
    inside: dict[ForOp, list[StoreOp]] = {}
    for store in stores:
        for loop in loops_around(store):
            if loop.kind.data in THREADS:
                raise CompileError(
                    f"4-bit integers of {_name(store)} are stored by the threads of loop '{loop.axis.data}', "
                    "which may write halves of one byte: store 8-bit integers, or bind no threads",
                    store,
                )
            if loop.kind.data is Kind.PARALLEL:
                inside.setdefault(loop, []).append(store)
    for loop, group in inside.items():
        if not _owns_whole_bytes(loop, group):
            raise CompileError(
                f"two iterations of the parallel loop '{loop.axis.data}' may write 4-bit integers of one byte of "
                f"{_name(group[0])}: let each iteration write an even number of neighbours, or leave the loop serial",
                group[0],
            )


class _Reach(NamedTuple):
    """What a store touches: `step` elements an iteration, from `shared` on, those at `low` to `high`.

    step: None for a store that takes place in the iteration `only`, which `shared` is about then.
    """

    step: int | None
    shared: Expr
    low: int
    high: int
    only: int = 0


def _owns_whole_bytes(loop: ForOp, stores: Sequence[StoreOp]) -> bool:
    """Whether no byte is written in two iterations of the loop."""
    reaches = [_reach(loop, store, scope_at(store)) for store in stores]
    known = [reach for reach in reaches if reach is not None]
    if len(known) < len(reaches):
        return False
    steps = {reach.step for reach in known if reach.step is not None}
    if not steps:
        return len({reach.only for reach in known}) == 1
    [step, *others] = steps
    if others or step % 2:
        return False
    starts = [reach.shared - (step * reach.only if reach.step is None else 0) for reach in known]
    apart = [start - starts[0] for start in starts]
    if any(not e.is_constant for e in apart):
        return False
    low = min(reach.low + e.offset for reach, e in zip(known, apart, strict=True))
    high = max(reach.high + e.offset for reach, e in zip(known, apart, strict=True))
    start = modular_set(starts[0])
    parities = (0, 1) if start.coeff % 2 else (start.base % 2,)
    return all((p + high) // 2 - (p + low) // 2 < abs(step) // 2 for p in parities)


def _reach(loop: ForOp, store: StoreOp, scope: Scope) -> _Reach | None:
    """None where that is not a constant number of elements for every iteration."""
    (e,) = store.exprs
    index = var(loop.index)
    only = scope.domain.lower(index)
    if only is not None and only == scope.domain.upper(index):
        step, rest = None, e.substitute({loop.index: only})
    else:
        e = e if e.is_affine_in(loop.index) else scope.domain.simplify(e)
        if not e.is_affine_in(loop.index):
            return None
        step = e.coefficient(loop.index)
        rest = e - step * index
    terms = [Expr(((atom, c),), 0) for atom, c in rest.terms]
    varying = sum((t for t in terms if any(_is_made_in(loop, v) for v in t.variables())), const(0))
    low, high = scope.domain.lower(varying), scope.domain.upper(varying)
    if low is None or high is None:
        return None
    stored: Attribute = store.value.type
    lanes = stored.get_shape()[0] if isinstance(stored, VectorType) else 1
    last = store.lane_stride * (lanes - 1)
    return _Reach(step, rest - varying, low + min(0, last), high + max(0, last), only or 0)


def _is_made_in(loop: ForOp, key: object) -> bool:
    """Whether an index is a loop's inside, or computed there."""
    assert isinstance(key, SSAValue)
    owner = key.owner if isinstance(key.owner, Operation) else key.owner.parent_op()
    return owner is not None and owner is not loop and loop.is_ancestor(owner)


def _name(store: StoreOp) -> str:
    return f"%{root_buffer(store.memref).name_hint or '?'}"
