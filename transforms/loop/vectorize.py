"""Turn vectorized loops into vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import at_least
from tilework.analysis.domains import Scope, Scopes, scope_of_block
from tilework.analysis.lanes import lane_subscript, why_serial
from tilework.dialects.loop import ForOp, KernelOp, Kind, KindAttr, LoadOp, StoreOp
from tilework.dialects.support.inlining import replace_by_block
from tilework.transforms.loop.local_counts import TouchAllLanes
from tilework.transforms.loop.rewriting import chunked, guarded, remainder, set_access
from tilework.transforms.loop.vector_body import VectorBody, some_lane
from tilework.transforms.patterns import PatternPass

REMARK = "tilework.remark"
"""The attribute of a loop that says what a pass could not do with it, and why."""


def _legal(op: Operation) -> str | None:
    if isinstance(op, ForOp) and op.kind.data is Kind.VECTORIZED:
        return f"the vectorized loop '{op.axis.data}'"
    return None


@dataclass(frozen=True)
class Vectorize(PatternPass):
    """Replace every vectorized loop by its body on vectors, one lane an iteration.

    loop.for %i = 0 to 16 "i" vectorized {            %v = loop.load %x[0] : memref<64xf32>, vector<16xf32>
      %v = loop.load %x[%i] : memref<64xf32>     ->   %w = math.exp %v : vector<16xf32>
      %w = math.exp %v : f32                          loop.store %w, %y[0] stride 4 : memref<64xf32>, vector<16xf32>
      loop.store %w, %y[4 * %i] : memref<64xf32>

    An extent that is known at run time only but bounded gives lanes up to the bound, rounded up to a power of two, and
    every access a `count`, but for local buffers that can do without; a longer loop is cut into chunks of
    `max_lanes` and a remainder. Buffers local to the body get an element a lane. A body without vector form stays a
    serial loop, whose attribute `tilework.remark` says why; lanes that depend on each other are refused.
    Requires one-dimensional accesses (`loop-flatten-storage`); leaves no vectorized loop.
    """

    name = "loop-vectorize"
    anchor = KernelOp
    legal_after = staticmethod(_legal)

    max_lanes: int = 64

    def operations(self, op: Operation) -> Iterable[Operation]:
        """Inner loops first, and local buffers when all accesses to them are vectors."""
        inside = list(super().operations(op))
        loops = [inner for inner in inside if isinstance(inner, ForOp) and inner.kind.data is Kind.VECTORIZED]
        return [*reversed(loops), *(inner for inner in inside if isinstance(inner, memref.AllocaOp))]

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        return [LoopToVectors(self.max_lanes, Scopes()), TouchAllLanes()]


@dataclass(frozen=True)
class LoopToVectors(RewritePattern):
    """A loop whose iterations are the lanes of vectors is its body on vectors, once for every `max_lanes` of them."""

    max_lanes: int
    scopes: Scopes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        if op.kind.data is not Kind.VECTORIZED:
            return
        rewriter.notify_op_modified(op)
        scope = self.scopes.at(op)
        reason = why_serial(op, scope)
        if reason is not None:
            op.properties["kind"] = KindAttr(Kind.SERIAL)
            op.attributes[REMARK] = StringAttr(f"not vectorized: {reason}")
            return
        _make_affine(op.body.block, op.index, scope)  # of the whole loop: less is known of chunks
        extent = scope.domain.simplify(op.extent)
        most = scope.domain.upper(extent)
        if most is not None and most <= self.max_lanes:
            _to_vectors(op, self._lanes(extent, most), extent, scope, rewriter)
        else:
            self._in_chunks(op, extent, scope, rewriter)

    def _in_chunks(self, loop: ForOp, extent: Expr, scope: Scope, rewriter: PatternRewriter) -> None:
        if not scope.proves(at_least(extent, 0)):
            # an extent below 0 has no chunks, and no remainder either
            guarded(loop, [at_least(extent, 1)])
            scope = scope.inside_if([at_least(extent, 1)])
        chunks, full = extent // self.max_lanes, extent // self.max_lanes * self.max_lanes
        rest_loop = remainder(loop, loop.lower + full)
        chunk = chunked(loop, chunks, self.max_lanes)
        _to_vectors(chunk, self.max_lanes, const(self.max_lanes), scope, rewriter)
        rest = scope.domain.simplify(extent - full)
        _to_vectors(rest_loop, self._lanes(rest, self.max_lanes), rest, scope, rewriter)

    def _lanes(self, extent: Expr, most: int) -> int:
        """The lanes of a vector: as many as the extent; where that is known at run time only, a power of two, which
        machines have."""
        if extent.constant is not None:
            return max(extent.constant, 0)
        return most if most <= 1 else min(self.max_lanes, 1 << (most - 1).bit_length())


def _make_affine(block: Block, index: SSAValue, scope: Scope) -> None:
    """Write subscripts in the form that has a distance between lanes."""
    inside = scope_of_block(block, scope)
    for op in block.ops:
        if isinstance(op, LoadOp | StoreOp):
            set_access(op, [lane_subscript(op, index, inside)])
        for inner in (b for region in op.regions for b in region.blocks):
            _make_affine(inner, index, inside)


def _to_vectors(loop: ForOp, lanes: int, extent: Expr, scope: Scope, rewriter: PatternRewriter) -> None:
    """Replace a loop that has a vector form by vectors of `lanes`, of which the first `extent` count."""
    count = None if scope.proves(at_least(extent, lanes)) else extent
    open_ends = [] if count is None else [p for p in some_lane(count) if not scope.proves(p)]
    if lanes <= 1:
        loop.properties["kind"] = KindAttr(Kind.SERIAL)
        if lanes == 1 and open_ends:
            guarded(loop, open_ends)
            loop.set_bounds(loop.lower, loop.lower + 1)  # constant, so that registers around it are found
        return
    VectorBody(loop, lanes).rewrite(count)
    if open_ends:
        guarded(loop, open_ends)
    loop.body.block.erase_arg(loop.index)  # whose place the lanes have taken
    replace_by_block(loop, loop.body.block, rewriter)
