"""A tensor that one of two branches makes, of other sizes than the other one does. For converting.

Both branches yield it filled up to the largest size that either may have, with the sizes that it has; behind the
branches the sizes are told, and what was filled up is cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const, maximum
from tilework.algebra.intervals import interval
from tilework.dialects.graph import SizeOp, WhileOp
from tilework.frontends.onnx.convert_padding import padded
from tilework.frontends.onnx.node import Node, value_dims
from tilework.frontends.onnx.sizes import section
from tilework.frontends.onnx.told_sizes import size_told
from tilework.frontends.onnx.values import Value


@dataclass(frozen=True)
class Joint:
    """The dimensions that both branches fill a tensor up to, and the axes of which data tell the size."""

    dims: Sequence[Expr]
    axes: Sequence[int]

    @staticmethod
    def of(node: Node, sides: Sequence[Node], made: Sequence[Value]) -> Joint:
        """What the branches `sides` of a node make. Raises TileworkError for other types, and sizes without limits."""
        what = "which branch it takes depends on data, so both have to make tensors of the same type"
        first, second = map(value_dims, made)
        if node.dtype_of(made[0]) != node.dtype_of(made[1]) or len(first) != len(second):
            texts = [f"[{', '.join(map(str, dims))}]" for dims in (first, second)]
            ranks = f" and rank, not of {' and '.join(texts)}" if len(first) != len(second) else ""
            raise node.error(what + ranks)
        dims = [_filled(node, sides, sizes) for sizes in zip(first, second, strict=True)]
        axes = [axis for axis, sizes in enumerate(zip(first, second, strict=True)) if set(sizes) != {dims[axis]}]
        return Joint(dims, axes)

    def yielded(self, side: Node, value: Value) -> list[Value]:
        """What a branch yields for the tensor that it makes: filled up, and its sizes."""
        own = value_dims(value)
        behind = [whole - size for whole, size in zip(self.dims, own, strict=True)]
        filled = padded(side, value, [*[const(0)] * len(own), *behind], 0) if self.axes else value
        return [filled, *(side.size(own[axis]) for axis in self.axes)]

    def result(self, node: Node, outputs: Iterator[SSAValue]) -> Value:
        """The tensor behind the branches, from what they yield."""
        value: Value = next(outputs)
        for axis in self.axes:
            size = size_told(node.emitter, next(outputs), self.dims[axis], node.title)
            value = section(node, value, axis, const(0), size)
        return value


def _filled(node: Node, sides: Sequence[Node], sizes: Sequence[Expr]) -> Expr:
    """The size that is enough for those that two branches make, in symbols that are known around them.

    It is 1 at least where the sizes are told in the branches: nothing can be cut off where there is no element.
    """
    limits = [_limit(node, side, size) for side, size in zip(sides, sizes, strict=True)]
    largest = limits[0] if limits[0] == limits[1] else _larger(*limits)
    return const(1) if largest == 0 and set(sizes) != {largest} else largest


def _larger(one: Expr, other: Expr) -> Expr:
    domain = Domain({key: (0, None) for e in (one, other) for key in e.variables()})
    return domain.simplify(maximum(one, other))


def _limit(node: Node, side: Node, size: Expr) -> Expr:
    """What a size in a branch is at most, in symbols that are known around it."""
    while told := [key for key in size.variables() if side.emitter.is_told(key) and not node.emitter.is_told(key)]:
        for key in told:
            owner = side.emitter.carrier(key).owner
            most = owner.most if isinstance(owner, SizeOp | WhileOp) else None
            if most is None:
                raise node.error(f"the size {size}, which one of its branches tells, has no limit that is known before")
            _, size = interval(size, {key: (const(0), most)})
    return size
