"""Read and write lanes that lie far apart by transposing in registers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, StringAttr, VectorType, f32, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, const, var
from tilework.analysis.accesses import NEAR, buffer_dims, element_strides, memory_space, root_buffer
from tilework.analysis.intrinsics import intrinsic_buffers, written_buffers
from tilework.dialects.loop import ForOp, IfOp, KernelOp, Kind, LoadOp, StoreOp, TransposeOp
from tilework.dialects.loop.transpose import LANES
from tilework.dialects.support.locations import copy_location
from tilework.transforms.loop.rewriting import chunked, constant_trip, remainder
from tilework.transforms.patterns import PatternPass

CHUNK = 64
"""For how many iterations columns are kept in a local buffer, at most."""


@dataclass(frozen=True)
class Transpose(PatternPass):
    """Where a loop loads or stores lanes that lie far apart, load or store what its iterations do in rows instead.

                                                   loop.for %b = 0 to 4 "x.block" {
                                                     %r0 = loop.load %a[16 * %b] : .., vector<16xf32>
                                                     %r1 = loop.load %a[16 * %b + 900] : .., vector<16xf32>
    loop.for %x = 0 to 64 "x" {                      ..
      %v = loop.load %a[%x] stride 900        ->     %c0, %c1, .. = loop.transpose %r0, %r1, .. : vector<16xf32>
        : .., vector<16xf32>                         loop.store %c0, %t[256 * %b] : .., vector<16xf32>
      ..                                             ..
                                                   loop.for %x = 0 to 64 "x" {
                                                     %v = loop.load %t[16 * %x] : .., vector<16xf32>

    The loop runs a constant number of times and stores nothing to what it loads from; a longer one is cut into chunks
    of 64.
    A condition around the load that is the same in all iterations goes around the transposition, too.
    Columns behind the last whole block are transposed with some of those before them once more.

    What a loop of 4 to 16 iterations stores is kept, transposed and stored behind it, if nothing else in the loop is
    loaded from there or stored there:

                                                   loop.for %x = 0 to 14 "x" unrolled {
    loop.for %x = 0 to 14 "x" unrolled {             loop.store %v, %t[16 * %x] : .., vector<16xf32>
      loop.store %v, %a[%x] stride 900        ->   }
        : .., vector<16xf32>                       %r0, %r1, .. = loop.transpose %c0, %c1, .. : vector<16xf32>
                                                   loop.store %r0, %a[0] : .., vector<14xf32>
                                                   loop.store %r1, %a[900] : .., vector<14xf32>
                                                   ..

    Requires vectors (`loop-vectorize`); leaves accesses that are not all of a vector as they are.
    """

    name = "loop-transpose"
    anchor = KernelOp

    def operations(self, op: Operation) -> Iterable[Operation]:
        """Inner loops first, so that copies of outer ones have nothing left to transpose."""
        return reversed(list(super().operations(op)))


class StoreRows(RewritePattern):
    """Columns that the iterations of a loop store are stored in rows behind it, all iterations in each."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        for store in list(_scatters(op)):
            _store_rows(store, op, rewriter)


class LoadRows(RewritePattern):
    """Columns that the iterations of a loop load are loaded in rows in front of it, all iterations in each."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        if not any(_gathers(op)):
            return
        for piece in _pieces(op):
            for load in list(_gathers(piece)):
                _load_rows(load, piece, rewriter)


def _gathers(loop: ForOp) -> Iterator[LoadOp]:
    """The loads that become columns."""
    trip = constant_trip(loop)
    if trip is None or loop.kind.data not in (Kind.SERIAL, Kind.UNROLLED):
        return
    if loop.kind.data is Kind.UNROLLED and trip > CHUNK:
        return  # chunks would hide the constants that subscripts are
    stored = written_buffers(loop)
    for op in _always_or_never_run(loop):
        if isinstance(op, LoadOp) and root_buffer(op.memref) not in stored and _is_column(op, loop):
            if trip >= _vector_type(op).get_shape()[0] // 2:
                yield op


def _scatters(loop: ForOp) -> Iterator[StoreOp]:
    """The stores of columns that become stores of rows."""
    trip = constant_trip(loop)
    if trip is None or trip not in LANES or loop.kind.data not in (Kind.SERIAL, Kind.UNROLLED):
        return
    accesses = Counter(root_buffer(op.memref) for op in loop.walk() if isinstance(op, LoadOp | StoreOp))
    tiled = intrinsic_buffers(loop)
    for op in loop.body.block.ops:
        if not isinstance(op, StoreOp) or root_buffer(op.memref) in tiled:
            continue
        if accesses[root_buffer(op.memref)] == 1 and _is_column(op, loop):
            if trip <= abs(op.lane_stride):  # else rows overlap
                yield op


def _always_or_never_run(loop: ForOp) -> Iterator[Operation]:
    """The operations that all iterations run or none."""
    for op in loop.body.block.ops:
        yield op
        if isinstance(op, IfOp) and not any(_is_inside(v, loop) for v in op.operands):
            yield from op.then_body.block.ops


def _is_column(access: LoadOp | StoreOp, loop: ForOp) -> bool:
    """Whether an access is of whole vectors, of lanes far apart, and the next iteration's lie right behind them."""
    if not isinstance(_accessed(access).type, VectorType) or len(access.indices) != 1:
        return False
    if access.count is not None or access.first is not None:
        return False
    [lanes], element = _vector_type(access).get_shape(), _vector_type(access).element_type
    if lanes not in LANES or element not in (f32, i32) or abs(access.lane_stride) <= NEAR:
        return False
    buffer = access.memref
    if memory_space(buffer) == "register" or element_strides(buffer.type, buffer_dims(buffer))[-1] != 1:
        return False
    [e] = access.exprs
    moves_along = e.coefficient(loop.index) == 1 and e.is_affine_in(loop.index)
    where = [buffer, *access.index_operands]
    return moves_along and all(v is loop.index or not _is_inside(v, loop) for v in where)


def _is_inside(value: SSAValue, loop: ForOp) -> bool:
    owner = value.owner.parent_op() if isinstance(value.owner, Block) else value.owner
    return owner is not None and loop.is_ancestor(owner)


def _pieces(loop: ForOp) -> list[ForOp]:
    """A long loop in chunks, and what is left of it."""
    trip = constant_trip(loop)
    assert trip is not None
    whole, rest = divmod(trip, CHUNK)
    if trip <= CHUNK:
        return [loop]
    behind = [remainder(loop, loop.lower + CHUNK * whole)] if rest else []
    return [chunked(loop, const(whole), CHUNK), *behind]


def _accessed(access: LoadOp | StoreOp) -> SSAValue:
    """What is loaded or stored."""
    return access.value if isinstance(access, StoreOp) else access.result


def _vector_type(access: LoadOp | StoreOp) -> VectorType[Attribute]:
    return cast("VectorType[Attribute]", _accessed(access).type)


def _width(access: LoadOp | StoreOp) -> int:
    """How far apart columns lie, so that all are aligned; of loads, how many are transposed together."""
    [lanes] = _vector_type(access).get_shape()
    return 1 << (lanes - 1).bit_length()


def _columns(access: LoadOp | StoreOp, loop: ForOp, rewriter: PatternRewriter) -> SSAValue:
    """A local buffer for the column of each iteration, in front of the loop and all unrolled ones around it."""
    trip = constant_trip(loop)
    assert trip is not None
    type_ = MemRefType(_vector_type(access).element_type, [_width(access) * trip], memory_space=StringAttr("local"))
    alloca = memref.AllocaOp(operands=[[], []], result_types=[type_])
    alloca.memref.name_hint = "columns"
    copy_location(alloca, access)
    return rewriter.insert(alloca, InsertPoint.before(_outside_unrolled(loop))).memref


def _store_rows(store: StoreOp, loop: ForOp, rewriter: PatternRewriter) -> None:
    """Keep what is stored in each iteration in a local buffer, and store it in rows behind the loop."""
    trip, type_, width = constant_trip(loop), _vector_type(store), _width(store)
    assert trip is not None
    columns = _columns(store, loop, rewriter)
    loads = [LoadOp(columns, [width * i], type_) for i in range(trip)]
    transposed = TransposeOp([op.result for op in loads])
    start = store.exprs[0].substitute({loop.index: loop.lower})
    stores = [StoreOp(r, store.memref, [start + store.lane_stride * i]) for i, r in enumerate(transposed.columns)]
    behind = [*loads, transposed, *stores]
    copy_location(behind, store)
    rewriter.insert(behind, InsertPoint.after(loop))
    kept = StoreOp(store.value, columns, [width * (var(loop.index) - loop.lower)])
    copy_location(kept, store)
    rewriter.replace(store, kept)


def _load_rows(load: LoadOp, loop: ForOp, rewriter: PatternRewriter) -> None:
    """Keep what the load gives in each iteration in a local buffer, in front of the loop."""
    trip, type_, width = constant_trip(loop), _vector_type(load), _width(load)
    assert trip is not None
    columns = _columns(load, loop, rewriter)
    place = _in_front(load, loop, rewriter)
    whole, rest = divmod(trip, width)
    if whole:
        blocks = ForOp(0, whole, f"{loop.axis.data}.block")
        copy_location(blocks, load)
        rewriter.insert(blocks, place)
        inside = InsertPoint.at_end(blocks.body.block)
        rewriter.insert(_transposed(load, loop, columns, width * var(blocks.index), width), inside)
    if rest:
        count = min(trip, width)
        rewriter.insert(_transposed(load, loop, columns, const(trip - count), count), place)
    new = LoadOp(columns, [width * (var(loop.index) - loop.lower)], type_)
    copy_location(new, load)
    new.result.name_hint = load.result.name_hint
    rewriter.replace(load, new)


def _in_front(load: LoadOp, loop: ForOp, rewriter: PatternRewriter) -> InsertPoint:
    """A place in front of the loop that is reached where the load is."""
    condition = load.parent_op()
    if not isinstance(condition, IfOp):
        return InsertPoint.before(loop)
    guard = IfOp(condition.conditions, Region(Block()))
    copy_location(guard, condition)
    rewriter.insert(guard, InsertPoint.before(loop))
    return InsertPoint.at_end(guard.then_body.block)


def _outside_unrolled(loop: ForOp) -> ForOp:
    """The outermost loop that copies of this one are in: all of them use one buffer."""
    outer = loop.parent_op()
    return _outside_unrolled(outer) if isinstance(outer, ForOp) and outer.kind.data is Kind.UNROLLED else loop


def _transposed(load: LoadOp, loop: ForOp, into: SSAValue, first: Expr, columns: int) -> Sequence[Operation]:
    """Store the columns that iterations `first`, counted from the first of the loop, and the next ones load."""
    [lanes], width = _vector_type(load).get_shape(), _width(load)
    start = load.exprs[0].substitute({loop.index: loop.lower + first})
    row = VectorType(_vector_type(load).element_type, [columns])
    loads = [LoadOp(load.memref, [start + load.lane_stride * lane], row) for lane in range(lanes)]
    last = loads[-1].result  # fills columns up: machines hand a part of a vector over from store to load with delay
    transposed = TransposeOp([*(op.result for op in loads), *[last] * (width - lanes)])
    stores = [StoreOp(c, into, [width * (first + i)]) for i, c in enumerate(transposed.columns)]
    new = [*loads, transposed, *stores]
    copy_location(new, load)
    return new
