"""Which tensors of a graph must have the same layout, since one is a part of another or another view of it."""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilework.analysis.post_dominators import VIEW
from tilework.dialects.graph.movement import ConcatOp, SliceOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.shapes import dims_of, element_type

CHANNELS = 1
"""The axis that blocks are cut from."""


def layout_classes(graph: Block, block: int) -> list[list[SSAValue]]:
    """The tensors between kernels that can be in blocks of channels, those together that can only be so together.

    Of f32 tensors that callers do not see; blocks are of so many channels.
    """
    classes = _Classes()
    for op in graph.ops:
        values = [*op.operands, *op.results]
        if isinstance(op, FusedOp):
            values = list(op.results)
            for value in values:
                classes.add(value, free=_has_blocks(value.type, block))
        elif VIEW in op.attributes:
            free = _keeps_blocks(op, block)
            for value in values:
                classes.add(value, free and _has_blocks(value.type, block))
                classes.join(value, values[0])
        else:
            for value in values:
                classes.add(value, free=False)
    for value in graph.args:
        classes.add(value, free=False)
    return classes.free()


class _Classes:
    """A union-find forest of tensors."""

    def __init__(self):
        self._parent: dict[SSAValue, SSAValue] = {}
        self._fixed: set[SSAValue] = set()

    def add(self, value: SSAValue, free: bool) -> None:
        """Note a tensor; not free, it and those that go with it keep their layout."""
        self._parent.setdefault(value, value)
        if not free:
            self._fixed.add(value)

    def join(self, a: SSAValue, b: SSAValue) -> None:
        """The two have one layout."""
        self._parent[self._root(a)] = self._root(b)

    def free(self) -> list[list[SSAValue]]:
        """The classes none of which is fixed, each in the order in which its tensors were added."""
        found: dict[SSAValue, list[SSAValue]] = {}
        for value in self._parent:
            found.setdefault(self._root(value), []).append(value)
        return [values for values in found.values() if self._fixed.isdisjoint(values)]

    def _root(self, value: SSAValue) -> SSAValue:
        while self._parent[value] is not value:
            value = self._parent[value]
        return value


def _has_blocks(type_: Attribute, block: int) -> bool:
    """Whether a tensor is an image of more than a point, with channels that fill blocks."""
    dims = dims_of(type_)
    if element_type(type_) != f32 or len(dims) < 3 or all(d == 1 for d in dims[2:]):
        return False
    channels = dims[CHANNELS].constant
    return bool(channels) and channels % block == 0


def _keeps_blocks(view: Operation, block: int) -> bool:
    """Whether a view of tensors in blocks is one, too."""
    match view:
        case ConcatOp():
            return True
        case ReshapeOp():
            return dims_of(view.input.type)[: CHANNELS + 1] == dims_of(view.result.type)[: CHANNELS + 1]
        case SliceOp():
            kept = view.ranges().get(CHANNELS)
            return kept is None or (kept.step == 1 and kept.start % block == 0)
        case _:
            return False
