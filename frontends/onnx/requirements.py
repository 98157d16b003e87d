"""What a model asks of its data when it runs: that numbers which choose elements choose some that are there.

For converting. A requirement is a truth value of the model that is computed along with its outputs; the compiled model
refuses a call where it does not hold, as onnxruntime does. In a branch that data take or not, it has to hold where that
is taken; in a body of steps, in each of them.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
from xdsl.dialects.builtin import BoolAttr, i32
from xdsl.ir import SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const, to_expr
from tilework.algebra.predicate import at_least, less_than
from tilework.dialects.graph import AddOp, CastOp, LessOp, NotOp, OrOp, ReduceMaxOp
from tilework.dialects.graph.base import ints, numpy_dtype
from tilework.frontends.onnx.emitter import Requirement
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.values import Known, Value


def require_in_range(node: Node, indices: Value, size: Expr, what: str) -> None:
    """Numbers that name one of `size` elements of `what`, those below 0 from the end: no other may be among them.

    Raises TileworkError where known ones are.
    """
    if not isinstance(indices, Known) or _may_be_outside(node, indices, size, what):
        text = f"an index into {what} of size {size} is not within [{-size}, {size - 1}]"
        require_between(node, indices, -size, size, text)


def require_between(node: Node, value: Value, least: Expr, end: Expr, text: str) -> None:
    """Numbers from `least` on and below `end`: no other may be among them; `text` says so."""
    numbers = node.emitter.tensor(value)
    above_least = node.emit(AddOp, numbers, _like(node, -least, numbers))
    is_below = node.emit(LessOp, above_least, _like(node, const(0), numbers))
    is_above = node.emit(NotOp, node.emit(LessOp, numbers, _like(node, end, numbers)))
    node.emitter.require(_none_of(node, node.emit(OrOp, is_below, is_above)), f"{node.op_type} '{node.title}': {text}")


def _may_be_outside(node: Node, indices: Known, size: Expr, what: str) -> bool:
    """Whether sizes decide if known numbers are in range."""
    if not indices.array.size:
        return False
    if not indices.is_symbolic and (extent := size.constant) is not None:
        wrong = indices.array[(indices.array < -extent) | (indices.array >= extent)]
        if wrong.size:
            raise node.error(f"{what} of size {extent} has no element {wrong[0]}")
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


def _none_of(node: Node, truths: SSAValue) -> SSAValue:
    """Whether none of some truth values holds."""
    axes = range(len(value_dims(truths)))
    numbers = node.emit(CastOp, truths, to=i32)
    most = node.emit(ReduceMaxOp, numbers, axes=ints(axes), keep_dims=BoolAttr.from_bool(False)) if axes else numbers
    return node.emit(LessOp, most, Known(np.array(1, np.int32), node.title))


def every(node: Node, truths: SSAValue) -> SSAValue:
    """Whether all of some truth values hold."""
    return _none_of(node, node.emit(NotOp, truths))


@contextmanager
def required_where(node: Node, condition: Value) -> Generator[None]:
    """What is required meanwhile has to hold where a condition does."""
    outer, node.emitter.requirements = node.emitter.requirements, list[Requirement]()
    try:
        yield
    finally:
        inner, node.emitter.requirements = node.emitter.requirements, outer
    for requirement in inner:
        node.emitter.require(node.emit(OrOp, node.emit(NotOp, condition), requirement.holds), requirement.text)
