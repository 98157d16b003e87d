"""Which tensors of a graph must have the same layout, since one is a part of another or another view of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilework.analysis.post_dominators import VIEW
from tilework.analysis.program_targets import is_on_host
from tilework.analysis.quantized import BYTE_TYPES
from tilework.dialects.graph.dense import MatmulOp
from tilework.dialects.graph.movement import ConcatOp, SliceOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.shapes import dims_of, element_type

CHANNELS = 1
"""The axis that blocks are cut from."""

MATRIX_RANK = 2
"""The last axes of what is multiplied are a matrix's."""


@dataclass(frozen=True)
class LayoutClass:
    """Tensors that can be in blocks of so many channels, if all of them are."""

    values: Sequence[SSAValue]
    block: int


def layout_classes(graph: Block, blocks: Sequence[int]) -> list[LayoutClass]:
    """The tensors between kernels that can be in blocks of channels, those together that can only be so together.

    Of f32 or bytes that callers do not see; of the sizes `blocks`, a class gets the first that fills its channels. Axes
    that count matrices are no channels.
    """
    classes = _Classes(blocks)
    for op in graph.ops:
        values = [*op.operands, *op.results]
        if isinstance(op, FusedOp) and is_on_host(op):
            for value in op.results:
                classes.add(value, [b for b in blocks if _has_blocks(value.type, b)])
            for value in _stacks_of_matrices(op):
                classes.add(value, [])
        elif VIEW in op.attributes:
            kept = [block for block in blocks if _keeps_blocks(op, block)]
            for value in values:
                classes.add(value, [b for b in kept if _has_blocks(value.type, b)])
                classes.join(value, values[0])
        else:
            for value in values:
                classes.add(value, [])
    for value in graph.args:
        classes.add(value, [])
    return classes.found()


class _Classes:
    """A union-find forest of tensors."""

    def __init__(self, blocks: Sequence[int]):
        self._blocks = blocks
        self._parent: dict[SSAValue, SSAValue] = {}
        self._fitting: dict[SSAValue, set[int]] = {}

    def add(self, value: SSAValue, fitting: Sequence[int]) -> None:
        """Note a tensor, and the blocks that it can be in: no others can those that go with it be in either."""
        self._parent.setdefault(value, value)
        self._fitting.setdefault(value, {*self._blocks}).intersection_update(fitting)

    def join(self, a: SSAValue, b: SSAValue) -> None:
        """The two have one layout."""
        self._parent[self._root(a)] = self._root(b)

    def found(self) -> list[LayoutClass]:
        """The classes that can be in blocks, each in the order in which its tensors were added."""
        classes: dict[SSAValue, list[SSAValue]] = {}
        for value in self._parent:
            classes.setdefault(self._root(value), []).append(value)
        return [LayoutClass(values, block) for values in classes.values() if (block := self._block_for(values))]

    def _block_for(self, values: Sequence[SSAValue]) -> int | None:
        return next((block for block in self._blocks if all(block in self._fitting[v] for v in values)), None)

    def _root(self, value: SSAValue) -> SSAValue:
        while self._parent[value] is not value:
            value = self._parent[value]
        return value


def _has_blocks(type_: Attribute, block: int) -> bool:
    """Whether a tensor is an image of more than a point, with channels that fill blocks."""
    dims = dims_of(type_)
    if element_type(type_) not in (f32, *BYTE_TYPES) or len(dims) < 3 or all(d == 1 for d in dims[2:]):
        return False
    channels = dims[CHANNELS].constant
    return bool(channels) and channels % block == 0


def _stacks_of_matrices(group: FusedOp) -> list[SSAValue]:
    """What a group reads and makes with axes, that of channels among them, which count matrices that it multiplies."""
    least = CHANNELS + 1 + MATRIX_RANK
    if not any(isinstance(op, MatmulOp) and len(dims_of(op.result.type)) >= least for op in group.body.block.ops):
        return []
    return [value for value in (*group.operands, *group.results) if len(dims_of(value.type)) >= least]


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
