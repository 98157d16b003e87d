"""Weights that are quantized in blocks stay so in memory where few rows are multiplied by them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, f32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import product
from tilework.analysis.parameters import values_from_parameters
from tilework.analysis.precision import precision_of
from tilework.analysis.program_targets import is_on_host, target_of
from tilework.analysis.sizes import bytes_of
from tilework.dialects.graph.algorithms.block_quantized import (
    BlockFormat,
    BlockQuantizedDenseOp,
    BlockQuantizedWeightOp,
)
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.dequantize import DequantizeOp
from tilework.dialects.graph.movement import TransposeOp
from tilework.dialects.support.locations import copy_location
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.writer import Writer


@dataclass(frozen=True)
class KeepQuantizedBlocks(GraphPatternPass):
    """Multiply rows by a weight whose numbers are dequantized in registers, where they are few, or nobody knows.

    %w = graph.dequantize %q, %s {bits = 4, block = 32}     %u = graph.block_quantized_weight %q, %s {...}
    %y = graph.dense %x, %w                             ->  %y = graph.block_quantized_dense %x, %u {outputs = 8, ...}

    Other dequantized weights become floats before the first run, as all that depends on parameters only: weights that
    stay in a core's cache, blocks that do not fill words, and those of so many rows (`quantized_rows` of the target)
    that algorithms for floats are faster. So do all with `precision` "direct": infinite rows would make NaN. Requires
    graph-transpose-weights; run it before graph-fold-parameters.
    """

    name = "graph-keep-quantized-blocks"
    numerics: ClassVar = "reassociates"

    precision: str = "default"

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        if not precision_of(self.precision).scales_last:
            return []
        return [MultiplyQuantizedBlocks(values_from_parameters(op))]


@dataclass(frozen=True)
class MultiplyQuantizedBlocks(RewritePattern):
    """dense(x, dequantize(q)) is a product with the numbers q in words, whose blocks are scaled once they are summed.

    known: the values that depend on parameters only.
    """

    known: Set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DenseOp, rewriter: PatternRewriter) -> None:
        weight = _dequantized(op.weight)
        if weight is None or op.weight not in self.known or not is_on_host(op) or not _is_worth(op, weight):
            return
        words = Writer(rewriter, op).insert(BlockQuantizedWeightOp.of(*weight.operands, **weight.properties))
        zeros = {} if weight.zero is None else {"zeros": UnitAttr()}
        outputs = IntegerAttr(op.dims(1)[0].offset, i64)
        dense = BlockQuantizedDenseOp.of(op.input, words, **weight.properties, outputs=outputs, **zeros)
        copy_location(dense, op)
        rewriter.replace(op, dense)


def _is_worth(op: DenseOp, weight: DequantizeOp) -> bool:
    """Whether the product waits for the weight if that is of floats, and the weight can be of words."""
    format = BlockFormat(weight.bits.value.data, weight.block.value.data, weight.zero is not None)
    if op.dtype() != f32 or len(op.dims(0)) < 2 or not format.fills_words:
        return False
    rows, target = product(op.dims(0)[:-1]).constant, target_of(op)
    most = target.measured.quantized_rows
    is_streamed = bytes_of(op.weight.type) > target.core_cache_bytes
    return is_streamed and most > 0 and (rows is None or rows <= most)


def _dequantized(weight: SSAValue) -> DequantizeOp | None:
    """The dequantization that a weight is the result of, perhaps transposed twice."""
    match weight.owner:
        case DequantizeOp() as found:
            return found
        case TransposeOp(input=once) if isinstance(once.owner, TransposeOp):
            found = once.owner.input.owner
            return found if isinstance(found, DequantizeOp) else None
        case _:
            return None
