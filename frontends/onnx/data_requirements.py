"""What a model asks of its data when it runs: that numbers which choose elements choose some that are there.

For converting. A requirement is a truth value of the model that is computed along with its outputs; the compiled model
refuses a call where it does not hold, as onnxruntime does. In a branch that data take or not, it has to hold where that
is taken; in a body of steps, in each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from xdsl.dialects.builtin import BoolAttr, i32
from xdsl.ir import SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const, to_expr
from tilework.algebra.predicate import at_least, less_than
from tilework.dialects.graph import CastOp, LessOp, MaxOp, NotOp, OrOp, ReduceMaxOp, ShiftRightOp, SubOp, XorOp
from tilework.dialects.graph.base import ints, numpy_dtype
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.values import Known, Value


@dataclass(frozen=True)
class Chosen:
    """Numbers that name elements of axis `axis`, of which there are `size`."""

    indices: Value
    axis: int
    size: Expr


def require_in_range(node: Node, *several: Chosen) -> None:
    """Numbers that name elements, those below 0 from the end: no other may be among them.

    Raises TileworkError where known ones are.
    """
    open_ = [one for one in several if not isinstance(one.indices, Known) or _may_be_outside(node, one, one.indices)]
    if not open_:
        return
    excesses = [_excess(node, node.emitter.tensor(one.indices), one.size) for one in open_]
    most = _largest(node, reduce(lambda a, b: node.emit(MaxOp, a, b), excesses))
    is_inside = node.emit(LessOp, most, _like(node, const(0), most))
    limits = [f"into axis {c.axis} of size {c.size} is not within [{-c.size}, {c.size - 1}]" for c in open_]
    node.emitter.ask_of_data(is_inside, f"{node.op_type} '{node.title}': an index {', or one '.join(limits)}")


def _excess(node: Node, indices: SSAValue, size: Expr) -> SSAValue:
    """How many elements too far an element is, below 0 for one that is there.

    It is counted from the end that its number is counted from: by n, or for a negative n by -n - 1.
    """
    bits = 8 * numpy_dtype(node.dtype_of(indices)).itemsize
    sign = node.emit(ShiftRightOp, indices, _like(node, const(bits - 1), indices))
    return node.emit(SubOp, node.emit(XorOp, indices, sign), _like(node, size, indices))


def require_between(node: Node, value: Value, least: Expr, end: Expr, text: str) -> None:
    """Numbers from `least` on and below `end`: no other may be among them; `text` says so."""
    numbers = node.emitter.tensor(value)
    is_below = node.emit(LessOp, numbers, _like(node, least, numbers))
    is_above = node.emit(NotOp, node.emit(LessOp, numbers, _like(node, end, numbers)))
    is_outside = node.emit(OrOp, is_below, is_above)
    node.emitter.ask_of_data(_none_of(node, is_outside), f"{node.op_type} '{node.title}': {text}")


def _may_be_outside(node: Node, chosen: Chosen, indices: Known) -> bool:
    """Whether sizes decide if known numbers are in range."""
    size = chosen.size
    if not indices.array.size:
        return False
    if not indices.is_symbolic and (extent := size.constant) is not None:
        wrong = indices.array[(indices.array < -extent) | (indices.array >= extent)]
        if wrong.size:
            raise node.error(f"axis {chosen.axis} of size {extent} has no element {wrong[0]}")
        return False
    ends = indices.array.flat if indices.is_symbolic else (indices.array.min(), indices.array.max())
    numbers = [to_expr(n) for n in ends]
    domain = Domain({key: (1, None) for e in (*numbers, size) for key in e.variables()})
    return not all(domain.proves(p) for n in numbers for p in (at_least(n + size, 0), less_than(n, size)))


def _like(node: Node, number: Expr, other: SSAValue) -> Value:
    """A size as a number of another value's type."""
    known = node.size(number)
    if known.is_symbolic:
        return node.cast(known, node.dtype_of(other))
    return Known(known.array.astype(numpy_dtype(node.dtype_of(other))), known.name)


def _largest(node: Node, numbers: SSAValue) -> SSAValue:
    """The largest of all numbers."""
    axes = range(len(value_dims(numbers)))
    if not axes:
        return numbers
    return node.emit(ReduceMaxOp, numbers, axes=ints(axes), keep_dims=BoolAttr.from_bool(False))


def _none_of(node: Node, truths: SSAValue) -> SSAValue:
    """Whether none of some truth values holds."""
    most = _largest(node, node.emit(CastOp, truths, to=i32))
    return node.emit(LessOp, most, Known(np.array(1, np.int32), node.title))


def every(node: Node, truths: SSAValue) -> SSAValue:
    """Whether all of some truth values hold."""
    return _none_of(node, node.emit(NotOp, truths))
