"""Quantized tensors that are dequantized only to be quantized alike again stay bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled
from tilework.analysis.quantized import dequantized, holds, quantized
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.movement import ConcatOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.transforms.base import TileworkPass
from tilework.transforms.graph.choosing import chosen_again, chosen_from
from tilework.transforms.graph.erasing import erase_unused

SCALES = (1e-30, 1e30)
"""Between these, floats of 32 bits hold bytes times a scale, and tell them apart."""


@dataclass(frozen=True)
class KeepBytes(TileworkPass):
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
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        pending = [o for graph in graphs_of(op) for o in graph.ops if isinstance(o, CastOp)]
        while pending:
            cast = pending.pop()
            if cast.parent is not None:  # else it went with what read it
                pending += _quantize_parts(cast)
            if cast.parent is not None:
                _replace(cast)


def _quantize_parts(cast: CastOp) -> list[CastOp]:
    """Quantize the operands of a concatenation, where its result is quantized and nothing else; what makes bytes."""
    found = quantized(cast.result)
    concat = None if found is None else found[0].owner
    if not isinstance(concat, ConcatOp) or not concat.result.has_one_use():
        return []
    chain: list[GraphOp] = [cast]
    while (before := chain[-1].operands[0].owner) is not concat:
        assert isinstance(before, GraphOp)
        chain.append(before)
    constants = [v for op in chain for v in op.operands[1:]]
    if not all(op.results[0].has_one_use() for op in chain[1:]) or any(dims_of(v.type) for v in constants):
        return []
    made: list[GraphOp] = []
    parts: list[SSAValue] = []
    for part in concat.operands:
        for op in reversed(chain):
            made.append(type(op).of(part, *op.operands[1:], **op.properties))
            copy_location(made[-1], op)
            part = made[-1].results[0]
        parts.append(part)
    made.append(ConcatOp.of(*parts, axis=concat.axis))
    copy_location(made[-1], concat)
    made[-1].results[0].name_hint = concat.result.name_hint
    Rewriter.insert_op(made, InsertPoint.before(cast))
    cast.result.replace_all_uses_with(made[-1].results[0])
    erase_unused(cast.result)
    return [part.owner for part in parts if isinstance(part.owner, CastOp)]


def _replace(cast: CastOp) -> None:
    """Let what is quantized be made of the bytes that it stood for before, if it is."""
    found = quantized(cast.result)
    if found is None:
        return
    scale = found[1]
    value, between = chosen_from(found[0])
    source = dequantized(value)
    if source is None or source[1] != scale or element_type(source[0].type) != cast.to:
        return
    if not SCALES[0] < scale.scale < SCALES[1] or not holds(cast.to, scale.zero):
        return
    kept = chosen_again(source[0], between, InsertPoint.before(cast), more=scale.zero)
    cast.result.replace_all_uses_with(kept)
    erase_unused(cast.result)
