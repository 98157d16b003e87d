"""Weights that are dequantized and then moved: let them be moved as bytes, and dequantized then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, TensorType, f32, i32, i64
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

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
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.transforms.graph.choosing import chosen_again, chosen_from
from tilework.transforms.graph.erasing import erase_unused

Made: TypeAlias = "list[GraphOp | arith.ConstantOp]"


def dequantize_last(weight: SSAValue, output_axis: int) -> None:
    """Let what makes a weight of dequantized numbers, or of distances from a zero point, move their bytes instead.

    Where there are several scales, each output needs one for all of it. The parts of transposed convolutions are made
    so, and transposed matrices.
    """
    moved, moves = chosen_from(weight)
    integers, scale = scaled_integers(moved) or (moved, None)
    found = distances_of(integers)
    if not moves or found is None or found.zero is not None or not _can_move(found, moves):
        return
    scales: Made = []
    if scale is not None:
        of_outputs = _scales_of_outputs(moved, scale, moves, output_axis)
        if of_outputs is None:
            return
        scales = _gathered(scale, of_outputs, output_axis, len(dims_of(weight.type)))
    at = InsertPoint.before(moves[-1])
    made: Made = [CastOp.of(chosen_again(found.bytes, moves, at, more=found.number), to=i32)]
    if found.number:
        zero = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(i32, []), [found.number]))
        made += [zero, SubOp.of(made[0].results[0], zero.result)]
    if scales:
        floats = CastOp.of(made[-1].results[0], to=f32)
        made += [floats, *scales, MulOp.of(floats.result, scales[-1].results[0])]
    for op in made:
        copy_location(op, moves[-1])
    Rewriter.insert_op(made, at)
    weight.replace_all_uses_with(made[-1].results[0])
    erase_unused(weight)


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


def _gathered(scale: SSAValue, of_outputs: Sequence[int], output_axis: int, rank: int) -> Made:
    """What makes a tensor of the outputs' scales, other axes being 1."""
    flat = ReshapeOp.of(scale, shape=DimsAttr((product(dims_of(scale.type)),)))
    indices = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(of_outputs)]), of_outputs))
    gathered = GatherOp.of(flat.result, indices.result, axis=IntegerAttr(0, i64))
    dims = [const(len(of_outputs) if axis == output_axis else 1) for axis in range(rank)]
    return [flat, indices, gathered, ReshapeOp.of(gathered.result, shape=DimsAttr.of(dims))]
