"""Numbers of a byte and less lie in bytes, which movements move and casts read and write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.analysis.functions import graphs_of
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.bits import BitcastOp, DecodeOp, EncodeOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.control import ControlOp, yielded_by
from tilework.dialects.graph.moving import moves
from tilework.dialects.graph.narrow import BYTE, in_bytes, is_narrow, is_narrow_integer, narrowed, stored_in
from tilework.dialects.graph.narrow_scalars import i32
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type
from tilework.transforms.graph.patterns import GraphPatternPass


@dataclass(frozen=True)
class StoreNarrowTypes(GraphPatternPass):
    """Let narrow numbers be bytes with their bits, which casts decode and encode.

    %1 = graph.bitcast %0 {to = f8E4M3FN}
    %2 = graph.transpose %1 {...}          ->     %2 = graph.transpose %0 {...}
    %3 = graph.cast %2 {to = f32}                 %3 = graph.decode %2 {element = f8E4M3FN}

    Narrow types are those of `dialects/graph/narrow.py`. Requires that functions take and return them as bytes, by way
    of `graph.bitcast`; refuses operators that compute with them, and control flow that holds them. Leaves none.
    """

    name = "graph-store-narrow-types"
    inserted_too = True

    def run(self, ctx: Context, op: Operation) -> None:
        super().run(ctx, op)
        assert isinstance(op, FuncOp)
        for left in (inner for graph in graphs_of(op) for inner in graph.ops):
            if not _reads_bytes(left):  # what reads them is the one to name
                _refuse_narrow(left)


class DecodeCast(RewritePattern):
    """cast(x) = decode(bits of x), in the type that is asked for."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        of = op.dtype()
        if not is_narrow(of):
            return
        bits = BitcastOp.of(op.input, to=BYTE)
        numbers = DecodeOp.of(bits.result, element=of)
        made: list[Operation] = [bits, numbers]
        if op.to != element_type(numbers.result.type):
            made.append(CastOp.of(numbers.result, **op.properties))
        rewriter.replace(op, made)


class EncodeCast(RewritePattern):
    """cast(x) to a narrow type has the bits encode(x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        if not is_narrow(op.to) or is_narrow(op.dtype()):
            return
        made: list[Operation] = []

        def converted(value: SSAValue, to: Attribute) -> SSAValue:
            if element_type(value.type) == to:
                return value
            made.append(CastOp.of(value, to=to))
            return made[-1].results[0]

        options = {name: p for name, p in (("saturate", op.saturate), ("rounding", op.rounding)) if p is not None}
        numbers = converted(op.input, i32 if is_narrow_integer(op.to) else f32)
        made.append(EncodeOp.of(numbers, element=op.to, **options))
        made.append(BitcastOp.of(made[-1].results[0], to=op.to))
        rewriter.replace(op, made)


class MoveBytes(RewritePattern):
    """move(bitcast(b)) = bitcast(move(b)) for whatever only moves elements."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not (moves(op) and isinstance(op, GraphOp) and is_narrow(element_type(op.results[0].type))):
            return
        narrow = [value for value in op.operands if is_narrow(element_type(value.type))]
        if not all(_is_read_from_bytes(value) for value in narrow):
            return
        bytes_ = [_bytes_of(value) if value in narrow else value for value in op.operands]
        moved = op.on(*bytes_, **{name: _in_byte(attribute) for name, attribute in op.properties.items()})
        rewriter.replace(op, [moved, BitcastOp.of(moved.results[0], to=element_type(op.results[0].type))])
        _drop_unread(narrow, rewriter)


class HoldBytes(RewritePattern):
    """control(x) with f(x) inside = bitcast(control(bitcast(x)) with bitcast(f(bitcast)) inside) for narrow numbers."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, ControlOp) or not any(map(_is_narrow, (*op.operands, *op.results))):
            return
        for body in op.bodies:
            self._take_bytes(body, rewriter)
            self._yield_bytes(body, rewriter)
        before = [BitcastOp.of(value, to=BYTE) if _is_narrow(value) else None for value in op.operands]
        held = type(op).create(
            operands=[value if b is None else b.result for b, value in zip(before, op.operands, strict=True)],
            result_types=[_type_in_memory(value) for value in op.results],
            properties=op.properties,
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        pairs = zip(held.results, op.results, strict=True)
        behind = [BitcastOp.of(new, to=element_type(old.type)) if _is_narrow(old) else None for new, old in pairs]
        results = [new if b is None else b.result for b, new in zip(behind, held.results, strict=True)]
        rewriter.replace(op, [*filter(None, before), held, *filter(None, behind)], results)

    def _take_bytes(self, body: Block, rewriter: PatternRewriter) -> None:
        """Let narrow arguments of a body be bytes."""
        for argument in [argument for argument in body.args if _is_narrow(argument)]:
            taken = body.insert_arg(_type_in_memory(argument), argument.index)
            taken.name_hint = argument.name_hint
            narrow = BitcastOp.of(taken, to=element_type(argument.type))
            rewriter.insert(narrow, InsertPoint.at_start(body))
            argument.replace_all_uses_with(narrow.result)
            body.erase_arg(argument)

    def _yield_bytes(self, body: Block, rewriter: PatternRewriter) -> None:
        """Let what a body yields be bytes where it is narrow."""
        end = yielded_by(body)
        for i, value in [(i, value) for i, value in enumerate(end.values) if _is_narrow(value)]:
            bytes_ = BitcastOp.of(value, to=BYTE)
            rewriter.insert(bytes_, InsertPoint.before(end))
            end.operands[i] = bytes_.result


class JoinBitcasts(RewritePattern):
    """bitcast(bitcast(b)) = bitcast(b), or b where it has the type again that it had."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BitcastOp, rewriter: PatternRewriter) -> None:
        if not _is_read_from_bytes(op.input):
            return
        narrow, bytes_ = op.input, _bytes_of(op.input)
        if op.to == BYTE:
            rewriter.replace(op, [], [bytes_])
        else:
            rewriter.replace(op, [BitcastOp.of(bytes_, to=op.to)])
        _drop_unread([narrow], rewriter)


class DropUnread(RewritePattern):
    """Bytes that nobody reads as narrow numbers need not be read so."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BitcastOp, rewriter: PatternRewriter) -> None:
        if is_narrow(op.to) and not op.result.uses:
            rewriter.erase(op)


def _is_narrow(value: SSAValue) -> bool:
    return is_narrow(element_type(value.type))


def _type_in_memory(value: SSAValue) -> Attribute:
    """The type of a value whose narrow numbers are bytes."""
    return tensor_type(dims_of(value.type), stored_in(element_type(value.type)))


def _drop_unread(values: Iterable[SSAValue], rewriter: PatternRewriter) -> None:
    """Take out what reads bytes as narrow numbers for nobody any more."""
    for value in dict.fromkeys(values):
        if isinstance(value.owner, BitcastOp) and not value.uses:
            rewriter.erase(value.owner)


def _reads_bytes(op: object) -> bool:
    return isinstance(op, BitcastOp) and op.dtype() == BYTE


def _is_read_from_bytes(value: SSAValue) -> bool:
    return _reads_bytes(value.owner)


def _bytes_of(value: SSAValue) -> SSAValue:
    assert isinstance(value.owner, BitcastOp)
    return value.owner.input


def _in_byte(attribute: Attribute) -> Attribute:
    """A property of an operator: a number of a narrow type as the byte that has its bits."""
    if not isinstance(attribute, FloatAttr | IntegerAttr):
        return attribute
    value = cast("FloatAttr[AnyFloat] | IntegerAttr[IntegerType]", attribute)
    if not is_narrow(value.type):
        return value
    number = narrowed(np.array([value.value.data]), value.type, saturate=True, rounding="nearest")
    return IntegerAttr(int(in_bytes(number)[0]), BYTE)


def _refuse_narrow(op: Operation) -> None:
    for value in (*op.operands, *op.results, *(a for region in op.regions for b in region.blocks for a in b.args)):
        element = element_type(value.type) if hasattr(value.type, "element_type") else None
        if element is not None and is_narrow(element):
            what = "computes with" if isinstance(op, GraphOp) else "holds"
            raise CompileError(f"{op.name} {what} {element}, which is only moved and converted: cast it before", op)
