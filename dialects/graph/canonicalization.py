"""What graph operators amount to: nothing, or one simpler operator. Exact, NaN and the sign of zero included.

`opt-tool -p canonicalize` applies it everywhere, `graph-remove-identities` in the pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tilework.dialects.graph.base import GraphOp, ints
from tilework.dialects.graph.broadcast import AddOp, BinaryOp, DivOp, MulOp, SubOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.elementwise import ClipOp, DropoutOp, ReluOp
from tilework.dialects.graph.movement import BroadcastOp, ConcatOp, PadOp, SliceOp, TransposeOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of


class GraphCanonicalization(RewritePattern):
    """`join`, then `identity`. An operator with an attribute of another pass's (`graph.view`) is left to that pass."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, GraphOp) or op.attributes:
            return
        joined = join(op)
        if joined is not None:
            joined.location = op.location
            rewriter.replace(op, joined)
            return
        value = identity(op)
        if value is not None:
            rewriter.replace(op, [], [value])


def identity(op: GraphOp) -> SSAValue | None:
    """The operand that the result of `op` always equals, or None."""
    match op:
        case DropoutOp():
            return op.input
        case ReshapeOp() | CastOp() | BroadcastOp() | PadOp():
            return op.input if op.input.type == op.results[0].type else None
        case SliceOp():
            same = op.input.type == op.result.type and all(step == 1 for step in op.steps.get_values())
            return op.input if same else None
        case TransposeOp():
            return op.input if _is_sorted(op.permutation.get_values()) else None
        case ConcatOp():
            return op.inputs[0] if len(op.inputs) == 1 else None
        case ReluOp() | ClipOp():
            before = op.input.owner  # the second of two equal bounds changes nothing
            same = isinstance(before, type(op)) and before.properties == op.properties
            return op.input if same else None
        case BinaryOp():
            return _neutral(op)
        case _:
            return None


def join(op: GraphOp) -> GraphOp | None:
    """One operator that does what `op` and the one before it do, or what `op` does at less cost; None if there is none.

    Both operators are in use still: the caller replaces them.
    """
    match op:
        case ReshapeOp():
            before = op.input.owner
            return before.under(op.shape, op.sizes) if isinstance(before, ReshapeOp) else None
        case TransposeOp():
            source, permutation = _transposed(op)
            if _moves_only_ones(source, permutation):
                return ReshapeOp.of(source, shape=DimsAttr(dims_of(op.result.type)))
            return None if source is op.input else TransposeOp.of(source, permutation=ints(permutation))
        case _:
            return None


def _neutral(op: BinaryOp) -> SSAValue | None:
    """x of x + -0.0, x - 0.0, x * 1 and x / 1; x + 0.0 is not x where x is -0.0."""
    sides = [(op.left, op.right)]
    if isinstance(op, AddOp | MulOp):
        sides.append((op.right, op.left))
    for value, other in sides:
        constant = _number(other)
        if constant is None or value.type != op.result.type:
            continue
        is_float = isinstance(op.dtype(), AnyFloat)
        match op:
            case AddOp():
                neutral = constant == 0 and (np.signbit(constant) or not is_float)
            case SubOp():
                neutral = constant == 0 and not np.signbit(constant)
            case MulOp() | DivOp():
                neutral = constant == 1
            case _:
                neutral = False
        if neutral:
            return value
    return None


def _number(value: SSAValue) -> float | int | None:
    """The number that all elements of a constant are, or None."""
    op = value.owner
    if not isinstance(op, ConstantOp) or not isinstance(op.value, DenseIntOrFPElementsAttr):
        return None
    if 0 in op.value.get_shape() or not op.value.is_splat():
        return None
    number = op.value.get_values()[0]
    return number if isinstance(number, float | int) else None


def _transposed(op: TransposeOp) -> tuple[SSAValue, Sequence[int]]:
    """What `op` transposes and how, seen through a transpose in front of it."""
    permutation, before = op.permutation.get_values(), op.input.owner
    if not isinstance(before, TransposeOp):
        return op.input, permutation
    first = before.permutation.get_values()
    return before.input, [first[axis] for axis in permutation]


def _moves_only_ones(source: SSAValue, permutation: Sequence[int]) -> bool:
    """Whether the axes that are not of size 1 keep their order, though others move."""
    dims = dims_of(source.type)
    return not _is_sorted(permutation) and _is_sorted([axis for axis in permutation if dims[axis] != 1])


def _is_sorted(axes: Sequence[int]) -> bool:
    return list(axes) == sorted(axes)
