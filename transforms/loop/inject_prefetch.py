"""Ask for memory some iterations before it is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FixedBitwidthType
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, Key, ceildiv, const, maximum, minimum, var
from tilework.algebra.intervals import Interval, interval
from tilework.analysis.accesses import element_position, memref_type, root_buffer
from tilework.analysis.domains import loops_around
from tilework.analysis.intrinsics import is_tensorized
from tilework.analysis.program_targets import target_of
from tilework.dialects.loop import ForOp, KernelOp, Kind, LoadOp, PrefetchOp
from tilework.dialects.loop.annotations import PREFETCH, PREFETCH_SPREAD
from tilework.dialects.loop.common import integers
from tilework.dialects.loop.prefetch import ALL_CACHES, SECOND_CACHE
from tilework.dialects.support.locations import copy_location
from tilework.targets.base import LINE_BYTES
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class InjectPrefetch(PatternPass):
    """At the top of loops with `loop.prefetch`, ask for the lines that the loop will read so many iterations later.

    loop.for %i = 0 to 8 "i"                         loop.for %i = 0 to 8 "i" {
        attributes {loop.prefetch = [                  loop.for %l = 0 to 2 "prefetch" {
            array<i64: 0, 2>]} {                 ->      loop.prefetch %x[%i + 2, 16 * %l] : memref<8x32xf32>
      loop.for %j = 0 to 32 "j" {                      }
        loop.load %x[%i, %j] : memref<8x32xf32>        loop.for %j = 0 to 32 "j" {

    The region is the box around all that the loads of the argument read in one iteration, taken in lines along the last
    dimension. It may reach beyond the buffer, which does no harm. Loads at subscripts that are data are left out.

    With `loop.prefetch_spread`, what an iteration will read is asked for piece by piece, in the innermost loop that a
    load follows and in which each piece fills a line, if there is one; loops between that all read the same, as tiles
    with one block of weights do, ask for a part each, and iterations of that loop for what is far apart.
    Left out are loads that do not move evenly with the loop.
    Requires scalar loads (before `loop-vectorize`); leaves none of the requests.
    """

    name = "loop-inject-prefetch"
    anchor = KernelOp


class PrefetchAhead(RewritePattern):
    """An iteration asks for the box around all that the loads of a buffer read so many iterations later."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        for buffer, ahead in _requests(PREFETCH, op, rewriter):
            later: dict[Key, Expr] = {op.index: var(op.index) + ahead}
            boxes = [[_shifted(end, later) for end in _region(load, op)] for load in _loads(op, buffer)]
            if boxes:
                ends = [_around(intervals) for intervals in zip(*boxes, strict=True)]
                _insert(_nest(buffer, ends), op, rewriter)


class PrefetchPieces(RewritePattern):
    """What an iteration reads is asked for so many iterations before, in pieces, by the loops inside that read it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        for buffer, ahead in _requests(PREFETCH_SPREAD, op, rewriter):
            for load in _loads(op, buffer):
                _ask_for_pieces(load, op, ahead, rewriter)


def _requests(name: str, loop: ForOp, rewriter: PatternRewriter) -> list[tuple[SSAValue, int]]:
    """The buffers that a loop asks for ahead of time, and how many iterations ahead; the requests are gone then."""
    requests = loop.attributes.pop(name, None)
    if requests is None:
        return []
    rewriter.notify_op_modified(loop)
    arguments = _kernel_of(loop).body.block.args
    pairs = map(integers, cast("ArrayAttr[DenseArrayBase]", requests))
    return [(arguments[argument], ahead) for argument, ahead in pairs]


def _kernel_of(op: Operation) -> KernelOp:
    while not isinstance(op, KernelOp):
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _ask_for_pieces(load: LoadOp, loop: ForOp, ahead: int, rewriter: PatternRewriter) -> None:
    buffer, position = root_buffer(load.memref), element_position(load)
    around = list(loops_around(load, loop))
    followed = [f for f in around if f.index in position.variables()]
    if not all(position.is_affine_in(f.index) for f in (loop, *followed)):
        return
    blocks = [_Block(position, followed, row, loop, ahead) for row in _rows(position, followed)]
    for i, block in enumerate(blocks, 1):
        sharing = [f for f in around[around.index(block.row) + 1 :] if f not in followed]
        if i == len(blocks) or block.fills_line(buffer, sharing):
            nest = _part_of_block(block, buffer, sharing)
            if nest is not None:
                _insert(nest, block.row, rewriter)
            return


def _rows(position: Expr, followed: Sequence[ForOp]) -> list[ForOp]:
    """The innermost of the loops that run one iteration after the other, and those around it that go on behind it.

    Nests that become one operation are left alone.
    """
    rows: list[ForOp] = []
    for f in followed:
        if f.kind.data is Kind.SERIAL and not is_tensorized(f):
            if rows and position.coefficient(f.index) < position.coefficient(rows[-1].index):
                break
            rows.append(f)
    return rows


@dataclass(frozen=True)
class _Block:
    """What `loop` reads `ahead` iterations later, at positions of a buffer that follow the loops inside it.

    An iteration of `row` reads what lies side by side, by loops inside, and perhaps the same of several blocks.
    """

    position: Expr
    followed: Sequence[ForOp]
    row: ForOp
    loop: ForOp
    ahead: int

    def step(self, loop: ForOp) -> int:
        """How many elements lie between neighbouring iterations."""
        return self.position.coefficient(loop.index)

    @property
    def inside(self) -> Sequence[ForOp]:
        """The loops inside the row's."""
        return self.followed[: self.followed.index(self.row)]

    @property
    def others(self) -> list[ForOp]:
        """The loops from block to block."""
        return [f for f in self.inside if self.step(f) >= self.step(self.row)]

    @property
    def size(self) -> int:
        """Elements of one of the blocks; 0 for what is not known."""
        widest = max((f for f in self.followed if f not in self.others), key=self.step)
        return self.step(widest) * (widest.extent.constant or 0)

    def fills_line(self, buffer: SSAValue, sharing: Sequence[ForOp]) -> bool:
        """Whether each of the loops that share a block has a line of a cache to ask for in an iteration of `row`."""
        low, high = self.in_row()
        count, parts = (high - low).constant, math.prod(f.extent.constant or 0 for f in sharing)
        return count is not None and count + 1 >= parts * _per_line(buffer)

    def in_row(self) -> Interval:
        """The first and the last position that an iteration of `row` reads, of the first block."""
        ranges: dict[Key, Interval] = {f.index: (f.lower, f.upper - 1) for f in self.inside if f not in self.others}
        low, high = interval(self.position, ranges)
        return _at_zero(low, self.others), _at_zero(high, self.others)


def _part_of_block(block: _Block, buffer: SSAValue, sharing: Sequence[ForOp]) -> Operation | None:
    """Ask for the part of an iteration of `row`, and of the loops that share a block, each of which reads all of it."""
    low, high = block.in_row()
    count, parts = (high - low).constant, math.prod(f.extent.constant or 0 for f in sharing)
    if count is None or not parts or not block.size or any(f.extent.constant is None for f in block.others):
        return None
    part = const(0)
    for f in reversed(sharing):
        part = part * f.extent.offset + (var(f.index) - f.lower)
    start = _at_zero(low, [block.loop, *block.followed])
    divides = block.step(block.row) % parts == 0  # else the places of runs take too long to compute
    most = target_of(block.loop).measured.prefetch_runs
    runs = math.gcd(block.row.extent.constant or 1, block.size, most) if divides else 1
    run = (var(block.row.index) - block.row.lower) % runs
    within = _at_zero(low, [block.loop]) - start - block.step(block.row) * run
    first = start + block.step(block.loop) * (var(block.loop.index) + block.ahead)
    first += block.size // runs * run + (block.size * part + within) // (parts * runs)
    copies = [(ForOp(0, f.extent, "prefetch"), block.step(f)) for f in block.others]
    first += sum((step * var(copy.index) for copy, step in copies), const(0))
    zeros = [(const(0), const(0))] * (memref_type(buffer.type).get_num_dims() - 1)
    nest = _nest(buffer, [*zeros, (first, first + count // parts)], SECOND_CACHE)
    for copy, _ in copies:
        copy.body.block.add_op(nest)
        nest = copy
    return nest


def _at_zero(position: Expr, loops: Sequence[ForOp]) -> Expr:
    """In the iteration of these loops whose index is 0."""
    return position.substitute({f.index: const(0) for f in loops})


def _loads(loop: ForOp, buffer: SSAValue) -> list[LoadOp]:
    """The loads of a buffer at subscripts that are no data."""
    loads = (op for op in loop.body.walk() if isinstance(op, LoadOp) and root_buffer(op.memref) is buffer)
    return [load for load in loads if not _is_data(load, loop)]


def _insert(nest: Operation, loop: ForOp, rewriter: PatternRewriter) -> None:
    """Insert operations at the top of a loop."""
    copy_location(nest, loop)
    rewriter.insert(nest, InsertPoint.at_start(loop.body.block))


def _is_data(load: LoadOp, loop: ForOp) -> bool:
    """Whether a subscript is computed inside the loop, so that nobody knows it earlier."""
    owners = [operand.owner for operand in load.index_operands]
    return any(isinstance(owner, Operation) and loop.is_ancestor(owner) for owner in owners)


def _around(intervals: Sequence[Interval]) -> Interval:
    """The smallest interval that holds all of these."""
    return minimum(*(low for low, _ in intervals)), maximum(*(high for _, high in intervals))


def _shifted(ends: Interval, later: dict[Key, Expr]) -> Interval:
    return ends[0].substitute(later), ends[1].substitute(later)


def _region(load: LoadOp, loop: ForOp) -> list[Interval]:
    """What a load reads in one iteration of the loop."""
    inner: dict[Key, Interval] = {op.index: (op.lower, op.upper - 1) for op in loops_around(load, loop)}
    return [interval(e, inner) for e in load.exprs]


def _per_line(buffer: SSAValue) -> int:
    """How many elements lie in a line of a cache."""
    element = memref_type(buffer.type).element_type
    assert isinstance(element, FixedBitwidthType)
    return max(1, LINE_BYTES // element.size)


def _nest(buffer: SSAValue, ends: Sequence[Interval], locality: int = ALL_CACHES) -> Operation:
    """Loops over a box, by lines along the last dimension, and the prefetch inside."""
    per_line = _per_line(buffer)
    loops: list[ForOp] = []
    indices: list[Expr] = []
    for d, (low, high) in enumerate(ends):
        step = per_line if d == len(ends) - 1 else 1
        count = ceildiv(high - low + 1, step)
        if count == 1:
            indices.append(low)
            continue
        loop = ForOp(0, count, "prefetch")
        loops.append(loop)
        indices.append(low + var(loop.index) * step)
    op: Operation = PrefetchOp(buffer, indices, locality)
    for loop in reversed(loops):
        loop.body.block.add_op(op)
        op = loop
    return op
