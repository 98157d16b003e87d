"""Nests of loops that a schedule has tensorized become operations on tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import copysign
from typing import NamedTuple, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, StringAttr, bf16, f32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr
from tilework.analysis.accesses import memory_space, memref_type, root_buffer
from tilework.analysis.domains import loops_around
from tilework.analysis.tiles import is_tensorized
from tilework.dialects import arith
from tilework.dialects.isa.amx import COLUMNS, PAIR, ROWS, SCOPE, TileMulFOp, TileOp, TileStoreOp, TileZeroOp
from tilework.dialects.loop import ForOp, KernelOp, Kind, LoadOp, StoreOp
from tilework.dialects.loop.annotations import TENSORIZE
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.transforms.loop.rewriting import constant_trip
from tilework.transforms.patterns import PatternPass


def _legal(op: Operation) -> str | None:
    return "a loop that is to be tensorized" if TENSORIZE in op.attributes else None


@dataclass(frozen=True)
class Tensorize(PatternPass):
    """Replace nests with the attribute `loop.tensorize = "amx"` by the operation on tiles that does the same.

    loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
      loop.for %n = 0 to 16 "n" {
        loop.for %k = 0 to 16 "k" {
          loop.for %h = 0 to 2 "h" {                                 amx.tile_mulf %acc[0] stride 32,
            %c = loop.load %acc[32 * %m + %n] : ..                ->   %a[0] stride 64, %b[0] stride 32 : ..
            %x = loop.load %a[64 * %m + 2 * %k + %h] : ..
            %w = loop.load %b[32 * %k + 2 * %n + %h] : ..
            ..                           // %c + extf(%x) * extf(%w)
            loop.store %s, %acc[32 * %m + %n] : ..

    The loops may be in any order: which is which, the distances between what their iterations access say. A nest that
    stores zeros to a tile becomes `amx.tile_zero`, one that copies a tile from a buffer of scope "amx"
    `amx.tile_store`. Any other is refused, and so is what else touches buffers of that scope.
    Requires one-dimensional buffers (`loop-flatten-storage`); leaves no requests.
    """

    name = "loop-tensorize"
    anchor = KernelOp
    legal_after = staticmethod(_legal)

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        super().run(ctx, op)
        for access in op.body.walk():
            if isinstance(access, LoadOp | StoreOp) and memory_space(access.memref) == SCOPE:
                name = root_buffer(access.memref).name_hint or "?"
                raise CompileError(f'%{name} of scope "{SCOPE}" is touched by loops that are not tensorized', access)


class NestToTiles(RewritePattern):
    """A nest of loops over the elements of tiles is the operation on tiles that does the same."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        asked = op.attributes.get(TENSORIZE)
        if asked is None or any(is_tensorized(around) for around in loops_around(op)):
            return
        if asked != StringAttr(SCOPE):
            raise CompileError(f"loop '{op.axis.data}' is to be {asked}: the known intrinsic is \"{SCOPE}\"", op)
        tiles = _Nest(op).matched()
        copy_location(tiles, op)
        rewriter.replace(op, tiles, [])


class _Steps(NamedTuple):
    """By how many elements an access moves with each loop of a nest, and where it begins."""

    access: LoadOp | StoreOp
    start: Expr
    steps: tuple[int, ...]


class _Nest:
    """Loops inside each other, and what the innermost one does."""

    def __init__(self, outermost: ForOp):
        self.outermost = outermost
        self.loops = [outermost]
        while isinstance(inner := self.loops[-1].body.block.first_op, ForOp) and inner.next_op is None:
            self.loops.append(inner)
        self.body = list(self.loops[-1].body.block.ops)
        self.trips = [constant_trip(loop) for loop in self.loops]

    def matched(self) -> TileOp:
        """The operation on tiles that does what the nest does; CompileError where there is none."""
        for loop in self.loops:
            if loop.kind.data not in (Kind.SERIAL, Kind.UNROLLED):
                self.refuse("loops that run one iteration after the other", f"'{loop.axis.data}' is {loop.kind.data}")
            if any(around.index in loop.lower.variables() for around in self.loops):
                self.refuse("loops that begin at the same index each time", f"'{loop.axis.data}' that does not")
        store = self.body[-1] if self.body else None
        if not isinstance(store, StoreOp):
            self.refuse("loops inside each other around one store", _listed(self.body) or "nothing")
        value = store.value.owner
        match value:
            case arith.ConstantOp(value=FloatAttr(value=number)) if _is_register(store) and _is_zero(number.data):
                return self.zero(store, value)
            case LoadOp() if _is_register(value) and _is_in_memory(store):
                return self.copy(value, store)
            case arith.AddfOp() if _is_register(store):
                return self.product(store, value)
            case _:
                what = f"what {value.name} gives" if isinstance(value, Operation) else "an argument"
                expected = f'0.0 or a sum to be stored to a buffer of scope "{SCOPE}", or an element of one elsewhere'
                self.refuse(expected, f"{what}, stored to {store.memref.type}")

    def zero(self, store: StoreOp, constant: Operation) -> TileZeroOp:
        """All elements of a tile are set to zero."""
        self.expect_only(constant, store)
        to = self.steps(store)
        for m, n in self.orders(ROWS, COLUMNS):
            if to.steps[n] == 1 and to.steps[m] >= COLUMNS:
                return TileZeroOp([store.memref], [to.start], [to.steps[m]])
        self.refuse_steps("acc[m, n] = 0 for m, n < 16", to)

    def copy(self, load: LoadOp, store: StoreOp) -> TileStoreOp:
        """All elements of a tile are stored elsewhere."""
        self.expect_only(load, store)
        source, to = self.steps(load), self.steps(store)
        for m, n in self.orders(ROWS, COLUMNS):
            strides = [source.steps[m], to.steps[m]]
            if source.steps[n] == to.steps[n] == 1 and min(strides) >= COLUMNS:
                return TileStoreOp([load.memref, store.memref], [source.start, to.start], strides)
        self.refuse_steps("y[m, n] = acc[m, n] for m, n < 16", source, to)

    def product(self, store: StoreOp, total: arith.AddfOp) -> TileMulFOp:
        """Products are added to all elements of a tile."""
        expected = "acc[m, n] + extf(a[m, 2 * k + h]) * extf(b[k, n, h])"
        before, product = total.lhs.owner, total.rhs.owner
        if isinstance(before, arith.MulfOp):
            before, product = product, before
        if not isinstance(before, LoadOp) or not isinstance(product, arith.MulfOp):
            self.refuse(expected, "a sum of something else")
        factors = [(_extended(v), v.owner) for v in (product.lhs, product.rhs)]
        loads = [load for load, _ in factors if load is not None]
        if len(loads) < 2 or (before.memref, before.exprs) != (store.memref, store.exprs):
            self.refuse(expected, "a product of something else, or a sum that is stored elsewhere")
        self.expect_only(before, *loads, *(extension for _, extension in factors), product, total, store)
        to = self.steps(store)
        for a, b in permutations([self.steps(load) for load in loads]):
            for m, n, k, h in self.orders(ROWS, COLUMNS, COLUMNS, PAIR):
                rows = [to.steps[m], a.steps[m], b.steps[k]]
                inside = [(s.steps[m], s.steps[n], s.steps[k], s.steps[h]) for s in (to, a, b)]
                tiles = [(rows[0], 1, 0, 0), (rows[1], 0, 2, 1), (0, 2, rows[2], 1)]
                if inside == tiles and rows[0] >= COLUMNS and min(rows) >= 1:
                    memrefs = [s.access.memref for s in (to, a, b)]
                    return TileMulFOp(memrefs, [s.start for s in (to, a, b)], rows)
        self.refuse_steps(f"{expected} for m, n, k < 16 and h < 2", to, *map(self.steps, loads))

    # -- what the loops are

    def orders(self, *trips: int) -> list[tuple[int, ...]]:
        """The ways to see in the loops of the nest some that run so many times."""
        if len(trips) != len(self.loops):
            return []
        return [order for order in permutations(range(len(trips))) if [self.trips[i] for i in order] == list(trips)]

    def steps(self, access: LoadOp | StoreOp) -> _Steps:
        """How an access moves; CompileError where it does not move evenly."""
        if len(access.indices) != 1:
            raise CompileError(
                f"{access.name} has {len(access.indices)} subscripts: run loop-flatten-storage first", access
            )
        [e] = access.exprs
        indices = {loop.index: loop.lower for loop in self.loops}
        if not all(e.is_affine_in(index) for index in indices):
            self.refuse("subscripts that move evenly with the loops", f"those of {_name(access.memref)}")
        return _Steps(access, e.substitute(indices), tuple(e.coefficient(index) for index in indices))

    def expect_only(self, *ops: Operation | object) -> None:
        """Refuse other operations in the innermost loop; constants may be outside of it."""
        others = [op for op in self.body if op not in ops]
        if others:
            self.refuse("nothing else in the loops", _listed(others))

    # -- refusals

    def refuse_steps(self, expected: str, *accesses: _Steps) -> NoReturn:
        trips = ["?" if trip is None else str(trip) for trip in self.trips]
        loops = ", ".join(f"'{loop.axis.data}' of {trip}" for loop, trip in zip(self.loops, trips, strict=True))
        moves = "; ".join(f"{_name(s.access.memref)} by {', '.join(map(str, s.steps))}" for s in accesses)
        self.refuse(expected, f"loops {loops} that move {moves}")

    def refuse(self, expected: str, found: str) -> NoReturn:
        what = f"loop '{self.outermost.axis.data}' cannot be tensorized as \"{SCOPE}\""
        raise CompileError(f"{what}: expected {expected}, found {found}", self.outermost)


def _is_zero(number: float) -> bool:
    return number == 0.0 and copysign(1.0, number) > 0


def _is_register(access: LoadOp | StoreOp) -> bool:
    return memory_space(access.memref) == SCOPE and memref_type(access.memref.type).element_type == f32


def _is_in_memory(store: StoreOp) -> bool:
    return memory_space(store.memref) not in (SCOPE, "register") and store.value.type == f32


def _listed(ops: Sequence[Operation]) -> str:
    """The kinds of operations, for messages."""
    return ", ".join(dict.fromkeys(op.name for op in ops))


def _extended(value: SSAValue) -> LoadOp | None:
    """The load of bf16 that a value extends to f32."""
    extension = value.owner
    if not isinstance(extension, arith.ExtFOp) or extension.input.type != bf16 or value.type != f32:
        return None
    return extension.input.owner if isinstance(extension.input.owner, LoadOp) else None


def _name(buffer: SSAValue) -> str:
    return f"%{root_buffer(buffer).name_hint or '?'}"
