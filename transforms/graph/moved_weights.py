"""Weights that are dequantized and then moved: let them be moved as bytes, and dequantized then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, TensorType, f32, i32, i64
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from tilework.algebra.index_expr import const, product
from tilework.analysis.quantized import Distances, distances_of, holds, scaled_integers
from tilework.dialects import arith
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.broadcast import MulOp, SubOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.gather import GatherOp
from tilework.dialects.graph.movement import PadOp
from tilework.dialects.graph.pooling import MaxPoolOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.transforms.graph.choosing import chosen_again, chosen_from
from tilework.transforms.graph.numbers import constant
from tilework.transforms.graph.writer import Writer


def dequantized_last(weight: SSAValue, output_axis: int, rewriter: PatternRewriter) -> SSAValue | None:
    """A weight that is made by moving dequantized numbers, or distances from a zero point, made by moving their bytes.

    None where it is not made so, or cannot be: where there are several scales, each output needs one for all of it. The
    parts of transposed convolutions are made so, and transposed matrices.
    """
    moved, moves = chosen_from(weight)
    integers, scale = scaled_integers(moved) or (moved, None)
    found = distances_of(integers)
    if not moves or found is None or found.zero is not None or not _can_move(found, moves):
        return None
    of_outputs = None if scale is None else _scales_of_outputs(moved, scale, moves, output_axis)
    if scale is not None and of_outputs is None:
        return None
    write = Writer(rewriter, moves[-1])
    made = write.insert(CastOp.of(chosen_again(found.bytes, moves, write, more=found.number), to=i32))
    if found.number:
        made = write.insert(SubOp.of(made, write.insert(constant(found.number, i32))))
    if scale is None or of_outputs is None:
        return made
    floats = write.insert(CastOp.of(made, to=f32))
    scales = _gathered(scale, of_outputs, output_axis, len(dims_of(weight.type)), write)
    return write.insert(MulOp.of(floats, scales))


def _can_move(found: Distances, moves: Iterable[GraphOp]) -> bool:
    """Whether bytes can be moved like their distances: those around them are bytes, too."""
    around = [int(op.value.value.data) for op in moves if isinstance(op, PadOp)]
    are_bytes = all(holds(element_type(found.bytes.type), n + found.number) for n in around)
    return are_bytes and not any(isinstance(op, MaxPoolOp) for op in moves)


def _scales_of_outputs(
    moved: SSAValue, scale: SSAValue, moves: Iterable[GraphOp], output_axis: int
) -> Sequence[int] | None:
    """Which of the scales each output's numbers are multiplied with; None where these are several."""
    of_scale = [d.offset for d in dims_of(scale.type)]
    numbers = np.arange(1, prod(of_scale) + 1).reshape(of_scale)
    numbers = np.broadcast_to(numbers, [d.offset for d in dims_of(moved.type)])
    for op in moves:
        numbers = op.evaluate(numbers)  # what is put around them is 0
        assert isinstance(numbers, np.ndarray)
    rows = np.moveaxis(numbers, output_axis, 0).reshape(numbers.shape[output_axis], -1)
    first = rows.max(axis=1, initial=1)
    is_one = (rows == 0) | (rows == first[:, None])
    return [int(n) - 1 for n in first] if is_one.all() else None


def _gathered(scale: SSAValue, of_outputs: Sequence[int], output_axis: int, rank: int, write: Writer) -> SSAValue:
    """A tensor of the outputs' scales, other axes being 1."""
    flat = write.insert(ReshapeOp.of(scale, shape=DimsAttr((product(dims_of(scale.type)),))))
    indices = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(of_outputs)]), of_outputs))
    gathered = write.insert(GatherOp.of(flat, write.insert(indices), axis=IntegerAttr(0, i64)))
    dims = [const(len(of_outputs) if axis == output_axis else 1) for axis in range(rank)]
    return write.insert(ReshapeOp.of(gathered, shape=DimsAttr.of(dims)))
