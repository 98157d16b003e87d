"""Parts of buffers that one operation touches as a whole: tensors that lie in them.

What operations of machines do to memory is asked through the interface here, whatever machine they are for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation

from tilework.algebra.index_expr import Expr


class Form(NamedTuple):
    """What a part holds: a tensor of elements of a type.

    in_register: whether it lives in a register, which has no address, so that its subscript has to be a constant where
    code is emitted. is_read, is_written: what the operation does to it.
    """

    shape: tuple[int, ...]
    element: Attribute
    in_register: bool
    is_read: bool
    is_written: bool


class BufferRegion(NamedTuple):
    """A part of a one-dimensional buffer. position: where the first element is, over SSA values; strides: how many
    elements apart those are that follow each other along each dimension of the part."""

    memref: SSAValue
    position: Expr
    strides: tuple[int, ...]
    form: Form

    @property
    def last(self) -> int:
        """How many elements behind the first one the last one is, where no stride is below zero."""
        return sum((extent - 1) * stride for extent, stride in zip(self.form.shape, self.strides, strict=True))

    @property
    def overlaps_itself(self) -> bool:
        """Whether two elements may have one place: those of a row do not fit between two rows."""
        within = 0
        for stride, extent in sorted(zip(self.strides, self.form.shape, strict=True)):
            if extent > 1:
                if stride <= within:
                    return True
                within += (extent - 1) * stride
        return False


class BufferRegionsOp(IRDLOperation, ABC):
    """An operation that reads and writes parts of buffers, one of them at most."""

    @property
    @abstractmethod
    def buffer_regions(self) -> tuple[BufferRegion, ...]:
        """The parts, in order."""

    @abstractmethod
    def set_positions(self, positions: Sequence[Expr]) -> None:
        """Replace where the parts begin, in place."""
