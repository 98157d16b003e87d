"""Parts of buffers that one operation touches as a whole: so many rows of so many elements.

What operations of machines do to memory is asked through the interface here, whatever machine they are for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation

from tilework.algebra.index_expr import Expr


class Form(NamedTuple):
    """What a part holds: `rows` of `columns` elements of a type.

    in_register: whether it lives in a register, which has no address, so that its subscript has to be a constant where
    code is emitted. is_read, is_written: what the operation does to it.
    """

    rows: int
    columns: int
    element: Attribute
    in_register: bool
    is_read: bool
    is_written: bool


class Part(NamedTuple):
    """A part of a one-dimensional buffer. position: where the first row begins, over SSA values; stride: how many
    elements apart rows begin."""

    memref: SSAValue
    position: Expr
    stride: int
    form: Form


class PartsOp(IRDLOperation, ABC):
    """An operation that reads and writes parts of buffers, one of them at most."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """The parts, in order."""

    @abstractmethod
    def set_positions(self, positions: Sequence[Expr]) -> None:
        """Replace where the parts begin, in place."""

    @abstractmethod
    def evaluate(self, *read: Any) -> Any:
        """What is written, given the parts that are read: numpy arrays whose last axes are rows and columns."""
