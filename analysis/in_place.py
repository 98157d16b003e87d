"""Which output of a kernel may share its memory with an input: proved from the kernel's accesses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, VectorType
from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Expr, Var, divide, var
from tilework.algebra.predicate import at_least, less_than
from tilework.analysis.accesses import accesses
from tilework.analysis.domains import Scope, scope_at
from tilework.analysis.intrinsics import intrinsic_buffers
from tilework.dialects.loop import CallOp, ForOp, KernelOp, LoadOp, StoreOp

AccessT = TypeVar("AccessT", LoadOp, StoreOp)


def in_place_pairs(kernel: KernelOp) -> list[tuple[int, int]]:
    """Pairs (input, output), numbered within their groups, that may be one buffer; of a declaration what it declares.

    A pair is listed where both have the same type and dimensions and every element is read, for the last time, before
    or in the iteration that writes it; none of what intrinsics on buffers touch, or other kernels that it calls.
    """
    if kernel.is_declaration:
        declared = cast("DenseArrayBase[IntegerType] | None", kernel.in_place)
        flat = () if declared is None else declared.get_values()
        return list(zip(flat[::2], flat[1::2], strict=True))
    called = {value for op in kernel.walk() if isinstance(op, CallOp) for value in op.arguments}
    by_buffer, tiled = accesses(kernel), intrinsic_buffers(kernel) | called
    places = {op: i for i, op in enumerate(kernel.body.block.ops)}
    loads = {x: _by_place(by_buffer.get(x, ()), LoadOp, places) for x in kernel.inputs}
    stores = {y: _by_place(by_buffer.get(y, ()), StoreOp, places) for y in kernel.outputs}
    pairs: list[tuple[int, int]] = []
    for i, x in enumerate(kernel.inputs):
        for o, y in enumerate(kernel.outputs):
            if {x, y} & tiled or x.type != y.type or kernel.dims_of(x) != kernel.dims_of(y):
                continue
            if _all_read_before_written(loads[x], stores[y]):
                pairs.append((i, o))
    return pairs


def _by_place(
    found: Iterable[LoadOp | StoreOp], kind: type[AccessT], places: Mapping[Operation, int]
) -> dict[int, list[AccessT]]:
    """Accesses of one kind by the number of the operation of the kernel's block that they are in."""
    by_place: dict[int, list[AccessT]] = {}
    for access in found:
        if isinstance(access, kind):
            by_place.setdefault(places[_ancestors(access)[0]], []).append(access)
    return by_place


def _all_read_before_written(loads: Mapping[int, list[LoadOp]], stores: Mapping[int, list[StoreOp]]) -> bool:
    """Whether no load reads an element that a store has written. Only of those in one nest that is asked in detail."""
    last, first = max(loads, default=-1), min(stores, default=-1)
    if last != first or last < 0:
        return not loads or not stores or last < first
    return all(read_before_write(load, store) for load in loads[last] for store in stores[first])


def read_before_write(load: LoadOp, store: StoreOp, inside: Operation | None = None) -> bool:
    """Whether `load` never reads an element that `store` wrote in an earlier iteration, or earlier in the same one.

    With `inside`, iterations of the loops around that operation do not count: the buffers live for one of them.
    """
    above_load, above_store = _ancestors(load), _ancestors(store)
    depth = next(i for i, (a, b) in enumerate(zip(above_load, above_store, strict=False)) if a is not b)
    first, second = above_load[depth], above_store[depth]
    if first.parent is second.parent and not first.is_before_in_block(second):
        return False
    if len(load.indices) != len(store.indices):
        return False
    around = [op for op in above_load[:depth] if inside is None or inside.is_ancestor(op)]
    common = [op.index for op in around if isinstance(op, ForOp)]
    at_load, at_store = scope_at(load), scope_at(store)
    # in branches of a choice, indices have other values in the one than in the other
    together = scope_at(first if first.parent is second.parent else above_load[depth - 1])
    # the element read at one iteration of the common loops is the element written at another one: is it the same one?
    free: set[SSAValue] = {v for v in common if _span(together, v) != 0}
    lanes = [0] * (len(load.indices) - 1) + [max(_reach(load), _reach(store))]
    for e, f, reach in zip(load.exprs, store.exprs, lanes, strict=True):
        free -= _pinned_by_both(_Place(e, at_load), _Place(f, at_store), common, free, reach, together)
    return not free


class _Place(NamedTuple):
    """A subscript and the scope it stands in."""

    subscript: Expr
    scope: Scope


def _pinned_by_both(
    read: _Place, written: _Place, common: Sequence[SSAValue], free: set[SSAValue], reach: int, together: Scope
) -> set[SSAValue]:
    """The indices that are the same where two subscripts are, or are at most `reach` apart; `together`: the scope of
    what stands around both.

    Rows whose length is a symbol come first: equal `N * q + r` with r in 0 .. N - 1 have equal q, and equal r.
    """
    for length in _row_lengths(read.subscript, common):
        (row, inside), (other_row, other_inside) = (divide(place.subscript, length) for place in (read, written))
        limit = length - reach
        if _is_within(inside, limit, read.scope) and _is_within(other_inside, limit, written.scope):
            rows = _Place(row, read.scope), _Place(other_row, written.scope)
            insides = _Place(inside, read.scope), _Place(other_inside, written.scope)
            pinned = _pinned_by_both(*rows, common, free, 0, together)
            return pinned | _pinned_by_both(*insides, common, free - pinned, reach, together)
    slack = _slack(read, written, common)
    return set() if slack is None else _pinned(read.subscript, free, slack + reach, together)


def _row_lengths(e: Expr, common: Sequence[SSAValue]) -> Iterator[Expr]:
    """What is known at run time only of that by which a term of `e` multiplies an index."""
    for term in e.terms:
        for v in common:
            length, rest = divide(Expr((term,), 0), var(v))
            if rest == 0 and not length.is_constant and not any(k in common for k in length.variables()):
                yield length


def _is_within(e: Expr, length: Expr, scope: Scope) -> bool:
    return scope.proves(at_least(e, 0)) is True and scope.proves(less_than(e, length)) is True


def _slack(read: _Place, written: _Place, common: Sequence[SSAValue]) -> int | None:
    """How far two equal subscripts can be apart in their parts over `common`; None where that has no bound."""
    e, f = read.subscript, written.subscript
    for v in common:
        if e.coefficient(v) != f.coefficient(v) or not e.is_affine_in(v) or not f.is_affine_in(v):
            return None
    linear = {Var(v) for v in common}
    same = {term for term in e.terms if term in f.terms} | {term for term in e.terms if term[0] in linear}
    e = Expr(tuple(t for t in e.terms if t not in same), e.offset)
    f = Expr(tuple(t for t in f.terms if t not in same), f.offset)
    ends = [
        (read.scope.domain.lower(e), written.scope.domain.upper(f)),
        (written.scope.domain.lower(f), read.scope.domain.upper(e)),
    ]
    distances = [None if low is None or high is None else high - low for low, high in ends]
    return None if None in distances else max(0, *(d for d in distances if d is not None))


def _pinned(e: Expr, free: set[SSAValue], slack: int, scope: Scope) -> set[SSAValue]:
    """The indices whose value follows from that of their part of `e`, known up to `slack`.

    The index with the largest factor is known if all the others together cannot make up for one step of it.
    """
    pinned: set[SSAValue] = set()
    by_factor = sorted((v for v in free if e.coefficient(v)), key=lambda v: abs(e.coefficient(v)))
    while by_factor:
        v = by_factor.pop()
        spans = [_span(scope, other) for other in by_factor]
        if None in spans:
            break
        others = sum(abs(e.coefficient(o)) * s for o, s in zip(by_factor, spans, strict=True) if s is not None)
        if abs(e.coefficient(v)) <= slack + others:
            break
        pinned.add(v)
    return pinned


def _span(scope: Scope, index: SSAValue) -> int | None:
    """The largest distance between two values of an index."""
    first, last = scope.domain.range_of(index)
    low = None if first is None else scope.domain.lower(first)
    high = None if last is None else scope.domain.upper(last)
    return None if low is None or high is None else high - low


def _reach(access: LoadOp | StoreOp) -> int:
    """How far the last lane of a vector access is from the first."""
    type_ = access.value.type if isinstance(access, StoreOp) else access.result.type
    lanes = type_.get_shape()[0] if isinstance(type_, VectorType) else 1
    return abs(access.lane_stride) * (lanes - 1)


def _ancestors(op: Operation) -> list[Operation]:
    """The operations around `op` inside its kernel, outermost first, and `op` itself."""
    found = [op]
    while (parent := found[-1].parent_op()) is not None and not isinstance(parent, KernelOp):
        found.append(parent)
    return found[::-1]
