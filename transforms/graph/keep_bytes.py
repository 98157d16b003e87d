"""Quantized tensors that are dequantized only to be quantized alike again stay bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.quantized import dequantized, holds, quantized
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.movement import ConcatOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.transforms.graph.choosing import chosen_again, chosen_from
from tilework.transforms.graph.erasing import erase_unused
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.writer import Writer

SCALES = (1e-30, 1e30)
"""Between these, floats of 32 bits hold bytes times a scale, and tell them apart."""


@dataclass(frozen=True)
class KeepBytes(GraphPatternPass):
    """Move and compare bytes where their floats are moved or compared, and quantized by the same scale again.

    %f = graph.mul (graph.cast (%x - zero)), %scale
    %m = graph.max_pool %f                              ->   %y = graph.max_pool %x : (.. ui8) -> .. ui8
    %y = graph.cast (graph.round(%m / %scale) + zero)

    A larger byte stands for a larger float, and one that is a byte's is rounded to that byte. Exporters write networks
    so, for engines to find. Scale and zero point are constants; between are pools of maxima, slices, zeros around them
    and what changes shapes. What is concatenated and then quantized is quantized first, part by part: each by what
    makes it, and the concatenation is one of bytes. Requires nothing.
    """

    name = "graph-keep-bytes"
    inserted_too: ClassVar = True  # a part of a concatenation may be one itself, or bytes of that scale already

    def operations(self, op: Operation) -> Iterable[Operation]:
        return reversed(list(super().operations(op)))  # so that a chain is taken back from its end


class QuantizeParts(RewritePattern):
    """quantize(concat(x, y)) is concat(quantize(x), quantize(y)), where nothing else reads the concatenation."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        found = quantized(op.result)
        concat = None if found is None else found[0].owner
        if not isinstance(concat, ConcatOp) or not concat.result.has_one_use():
            return
        chain = _operators_between(concat, op)
        if not all(o.results[0].has_one_use() for o in chain[:-1]):
            return
        if any(dims_of(v.type) for o in chain for v in o.operands[1:]):
            return
        before, write = op.input, Writer(rewriter, op)
        parts = [_computed_again(chain, part, write) for part in concat.operands]
        joined = ConcatOp.of(*parts, axis=concat.axis)
        copy_location(joined, concat)
        joined.result.name_hint = concat.result.name_hint
        rewriter.replace(op, joined)
        erase_unused(before, rewriter)


class MoveBytes(RewritePattern):
    """quantize(move(dequantize(x))) is move(x), where both have one scale and zero point and x is of bytes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        found = quantized(op.result)
        if found is None:
            return
        scale = found[1]
        value, between = chosen_from(found[0])
        source = dequantized(value)
        if source is None or source[1] != scale or element_type(source[0].type) != op.to:
            return
        if not SCALES[0] < scale.scale < SCALES[1] or not holds(op.to, scale.zero):
            return
        before = op.input
        rewriter.replace(op, [], [chosen_again(source[0], between, Writer(rewriter, op), more=scale.zero)])
        erase_unused(before, rewriter)


def _operators_between(concat: ConcatOp, cast: CastOp) -> list[GraphOp]:
    """What is done to a concatenation before a cast, and the cast, in order."""
    chain: list[GraphOp] = [cast]
    while (before := chain[0].operands[0].owner) is not concat:
        assert isinstance(before, GraphOp)
        chain.insert(0, before)
    return chain


def _computed_again(chain: Iterable[GraphOp], value: SSAValue, write: Writer) -> SSAValue:
    """What a chain of operators makes of another value than its own."""
    for op in chain:
        new = type(op).of(value, *op.operands[1:], **op.properties)
        copy_location(new, op)
        value = write.insert(new)
    return value
