"""Steps along an axis, and padding of it, where sizes are known at run time only. For converting."""

from __future__ import annotations

from collections.abc import Sequence

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import at_least
from tilework.dialects.graph import ConcatOp, GatherOp, SubOp
from tilework.frontends.onnx.node import Node, int_attr, value_dims
from tilework.frontends.onnx.sizes import OPEN_END, repeated
from tilework.frontends.onnx.values import Known, Value


def in_steps(node: Node, value: Value, axis: int, start: int, end: int, step: int) -> Value:
    """Every `step`-th element of an open axis: to its end from an element counted from its beginning, or backwards.

    An axis that ends before the first element is refused when the program runs.
    """
    extent = value_dims(value)[axis]
    if step > 0 and start >= 0 and end >= OPEN_END:
        count = (extent - start + (step - 1)) // step
        numbers = node.emitter.range(const(start), count, step, node.title)
    elif step < 0 and (start == -1 or start >= OPEN_END) and end <= -OPEN_END:
        count = (extent + (-step - 1)) // -step
        back = node.emitter.range(const(1), count, -step, node.title)
        numbers = node.emit(SubOp, node.size(extent), back)
    else:
        raise node.error(
            f"an axis of open size is sliced in steps to its end only, or from there backwards; axis {axis} has size "
            f"{extent}"
        )
    return node.emit(GatherOp, value, numbers, axis=int_attr(axis))


def padded(node: Node, value: Value, pads: Sequence[Expr], number: Known) -> Value:
    """A number in front of each axis, and behind it, so often."""
    rank = len(value_dims(value))
    if len(pads) != 2 * rank:
        raise node.error(f"{rank} axes need {2 * rank} pads, not {len(pads)}")
    for axis, ends in enumerate(zip(pads[:rank], pads[rank:], strict=True)):
        before, after = (_fill(node, value, axis, width, number) for width in ends)
        if before or after:
            value = node.emit(ConcatOp, *before, value, *after, axis=int_attr(axis))
    return value


def _fill(node: Node, value: Value, axis: int, width: Expr, number: Known) -> list[Value]:
    """What is put at one end of an axis, if anything is."""
    domain, dims = Domain({key: (0, None) for key in width.variables()}), value_dims(value)
    width = domain.simplify(width)
    if domain.proves(at_least(width, 0)) is not True:
        raise node.error(f"its pad {width} of axis {axis} may be less than 0, which is not supported")
    return [] if width == 0 else [repeated(node, number, [*dims[:axis], width, *dims[axis + 1 :]])]
