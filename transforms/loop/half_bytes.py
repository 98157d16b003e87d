"""Loads and stores of 4-bit integers of which a byte holds two, as operations on bytes.

Element e is half `e mod 2` of byte `e floordiv 2`, the low half first. On the way an element lies in a byte of its
own: of one that was loaded the low half counts, the high half of one that is stored is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from xdsl.builder import Builder
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    VectorType,
    i8,
    i16,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, const, minimum, var
from tilework.algebra.modular import modular_set
from tilework.algebra.predicate import at_least, equal, less_than
from tilework.analysis.domains import Scope, scope_at
from tilework.dialects import arith
from tilework.dialects.loop import ApplyOp, ForOp, IfOp, Kind, LoadOp, StoreOp
from tilework.dialects.support.locations import copy_location

I4 = IntegerType(4)

OpT = TypeVar("OpT", bound=Operation)


def load_halves(op: LoadOp, memory: SSAValue, rewriter: PatternRewriter) -> None:
    """Replace a load by loads of bytes, which `memory` has."""
    write = _Writer(op, scope_at(op), memory, rewriter)
    [first] = op.exprs
    type_ = op.result.type
    if isinstance(type_, VectorType):
        loaded = _load_vector(write, op, first, type_.get_shape()[0])
    else:
        loaded = write.load(first)
    value = write.cast(arith.TruncIOp, loaded, I4)
    value.name_hint = op.result.name_hint
    rewriter.replace(op, [], [value])


def store_halves(op: StoreOp, memory: SSAValue, rewriter: PatternRewriter) -> None:
    """Replace a store by stores of bytes, which `memory` has."""
    write = _Writer(op, scope_at(op), memory, rewriter)
    [first] = op.exprs
    value, type_ = write.cast(arith.ExtUIOp, op.value, i8), op.value.type
    if isinstance(type_, VectorType):
        _store_vector(write, op, first, value, type_.get_shape()[0])
    else:
        write.store(first, value)
    rewriter.erase(op)


def of_width(type_: Attribute, element: IntegerType) -> Attribute:
    """An integer type, or a vector of as many lanes, of another width."""
    return VectorType(element, type_.get_shape()) if isinstance(type_, VectorType) else element


# -- vectors


def _load_vector(write: _Writer, op: LoadOp, first: Expr, lanes: int) -> SSAValue:
    """Every lane in a byte."""
    stride, count = op.lane_stride, op.lane_count
    if stride % 2 == 0:  # the same half of every byte
        load = LoadOp(write.memory, [write.byte(first)], VectorType(i8, [lanes]), stride // 2, count)
        return write.lowered(write.insert(load).result, first)
    if _is_whole_bytes(first, stride, lanes):
        pairs = None if count is None else (count + 1) // 2
        load = LoadOp(write.memory, [write.byte(first)], VectorType(i8, [lanes // 2]), None, pairs)
        return _apart(write, write.insert(load).result, lanes)
    if stride == 1 and lanes % 2 == 0:
        return _load_across_bytes(write, op, first, lanes)
    local = write.bytes_for(lanes)
    inside, lane = write.lane_loop(lanes, count)
    inside.insert(StoreOp(inside.load(first + lane * stride), local, [lane]))
    return write.insert(LoadOp(local, [0], VectorType(i8, [lanes]), None, count)).result


def _load_across_bytes(write: _Writer, op: LoadOp, first: Expr, lanes: int) -> SSAValue:
    """Lanes from any element on: those of even number are one half of their bytes, those of odd number the other."""

    def every_other(e: Expr, count: Expr | None) -> SSAValue:
        load = LoadOp(write.memory, [write.byte(e)], VectorType(i8, [lanes // 2]), None, count)
        return write.cast(arith.ExtUIOp, write.lowered(write.insert(load).result, e), i16)

    count = op.lane_count
    even = every_other(first, None if count is None else (count + 1) // 2)
    odd = every_other(first + 1, None if count is None else count // 2)
    both = write.binary(arith.OrIOp, even, write.binary(arith.ShLIOp, odd, 8))
    return write.insert(vector.BitcastOp(both, VectorType(i8, [lanes]))).result


def _store_vector(write: _Writer, op: StoreOp, first: Expr, value: SSAValue, lanes: int) -> None:
    """Every lane of `value` is a byte."""
    stride, count = op.lane_stride, op.lane_count
    if not _is_whole_bytes(first, stride, lanes):
        local = write.in_memory(value, lanes)
        inside, lane = write.lane_loop(lanes, count)
        inside.store(first + lane * stride, inside.insert(LoadOp(local, [lane])).result)
        return
    pairs = None if count is None else count // 2
    write.insert(StoreOp(_together(write, value, lanes), write.memory, [write.byte(first)], None, pairs))
    if count is not None:
        _store_last(write, first, value, lanes, count)


def _store_last(write: _Writer, first: Expr, value: SSAValue, lanes: int, count: Expr) -> None:
    """The last of an odd number of lanes: what follows in its byte stays."""
    alone = IfOp([equal(count % 2, 1), at_least(count, 1), less_than(count, lanes)], Region(Block()))
    inside = write.inside(write.insert(alone).then_body.block)
    last = count // 2 * 2
    inside.store(first + last, inside.insert(LoadOp(inside.in_memory(value, lanes), [last])).result)


def _is_whole_bytes(first: Expr, stride: int, lanes: int) -> bool:
    return stride == 1 and lanes % 2 == 0 and _parity(first) == 0


def _apart(write: _Writer, pairs: SSAValue, lanes: int) -> SSAValue:
    """Two halves of a byte as two bytes: in 16 bits, the high half moves up by 4 places, above the low byte."""
    wide = write.cast(arith.ExtUIOp, pairs, i16)
    both = write.binary(arith.OrIOp, wide, write.binary(arith.ShLIOp, wide, 4))
    return write.insert(vector.BitcastOp(both, VectorType(i8, [lanes]))).result


def _together(write: _Writer, value: SSAValue, lanes: int) -> SSAValue:
    """Two bytes as the halves of one: in 16 bits, the upper one moves down by 4 places, next to the low half."""
    wide = write.insert(vector.BitcastOp(value, VectorType(i16, [lanes // 2]))).result
    both = write.binary(arith.OrIOp, wide, write.binary(arith.ShRUIOp, wide, 4))
    return write.cast(arith.TruncIOp, both, i8)


def _parity(e: Expr) -> int | None:
    """0 for an even number, 1 for an odd one, None where it is not known."""
    numbers = modular_set(e)
    return None if numbers.coeff % 2 else numbers.base % 2


# -- single elements


@dataclass(frozen=True)
class _Writer:
    """Writes operations on the bytes of `memory` where `build` stands, in place of `op`, which stands in `scope`."""

    op: Operation
    scope: Scope
    memory: SSAValue
    build: Builder

    def insert(self, new: OpT) -> OpT:
        """Write one operation."""
        copy_location(new, self.op)
        return self.build.insert(new)

    def inside(self, block: Block) -> _Writer:
        """Writes at the end of a block that has been written."""
        return replace(self, build=Builder(InsertPoint.at_end(block)))

    # -- values

    def cast(self, kind: Callable[[SSAValue, Any], Operation], value: SSAValue, to: IntegerType) -> SSAValue:
        """A number, or every lane, in another width."""
        return self.insert(kind(value, of_width(value.type, to))).results[0]

    def binary(self, kind: Callable[[SSAValue, SSAValue], Operation], a: SSAValue, b: SSAValue | int) -> SSAValue:
        """Two values joined; a number stands for itself in all lanes."""
        return self.insert(kind(a, self.constant(b, a.type) if isinstance(b, int) else b)).results[0]

    def constant(self, number: int, type_: Attribute) -> SSAValue:
        """A number, or one in all lanes."""
        if isinstance(type_, VectorType):
            lanes = cast("VectorType[IntegerType]", type_)
            return self.insert(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(lanes, [number]))).result
        return self.insert(arith.ConstantOp(IntegerAttr(number, cast("IntegerType", type_)))).result

    # -- elements

    def byte(self, e: Expr) -> Expr:
        """The subscript of the byte that element `e` lies in."""
        return self.scope.domain.simplify(e // 2)

    def load(self, e: Expr) -> SSAValue:
        """Load element `e`."""
        return self.lowered(self.insert(LoadOp(self.memory, [self.byte(e)])).result, e)

    def lowered(self, value: SSAValue, e: Expr) -> SSAValue:
        """The byte of element `e`, or lanes of such, the element in the low half."""
        if _parity(e) == 0:
            return value
        shift = self._shift(e)
        if shift is None:
            return self.binary(arith.ShRUIOp, value, 4)
        type_: Attribute = value.type
        if isinstance(type_, VectorType):
            shift = self.insert(vector.BroadcastOp(shift, cast("VectorType[Attribute]", type_))).vector
        return self.binary(arith.ShRUIOp, value, shift)

    def store(self, e: Expr, value: SSAValue) -> None:
        """Replace element `e`, half a byte."""
        at, parity, shift = self.byte(e), _parity(e), self._shift(e)
        if shift is None:
            mask = self.constant(15 if parity else -16, i8)
            moved = self.binary(arith.ShLIOp, value, 4) if parity else value
        else:
            own = self.binary(arith.ShLIOp, self.constant(15, i8), shift)
            mask = self.binary(arith.XOrIOp, own, -1)
            moved = self.binary(arith.ShLIOp, value, shift)
        kept = self.binary(arith.AndIOp, self.insert(LoadOp(self.memory, [at])).result, mask)
        self.insert(StoreOp(self.binary(arith.OrIOp, kept, moved), self.memory, [at]))

    def _shift(self, e: Expr) -> SSAValue | None:
        """How many bits element `e` lies above the low half; None where that is a constant."""
        if _parity(e) is not None:
            return None
        bits = self.insert(ApplyOp(e % 2 * 4)).result
        return self.insert(arith.IndexCastOp(bits, i8)).results[0]

    # -- lane by lane

    def bytes_for(self, lanes: int) -> SSAValue:
        """A local buffer with a byte for every lane."""
        type_ = MemRefType(i8, [lanes], memory_space=StringAttr("local"))
        local = self.insert(memref.AllocaOp(operands=[[], []], result_types=[type_])).memref
        local.name_hint = "lanes"
        return local

    def in_memory(self, value: SSAValue, lanes: int) -> SSAValue:
        """A local buffer that holds the lanes."""
        local = self.bytes_for(lanes)
        self.insert(StoreOp(value, local, [0]))
        return local

    def lane_loop(self, lanes: int, count: Expr | None) -> tuple[_Writer, Expr]:
        """A loop over the lanes that count: what writes its body, and its index."""
        kind = Kind.UNROLLED if count is None else Kind.SERIAL
        end = const(lanes) if count is None else minimum(count, lanes)
        loop = self.insert(ForOp(0, end, "lane", None, kind))
        return self.inside(loop.body.block), var(loop.index)
