"""Operations that the units of a machine run beside each other, and the tokens that order them.

An interpreter and the passes that are for all such machines ask what they do through the interface here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from xdsl.ir import TypeAttribute
from xdsl.irdl import IRDLOperation


class Token(TypeAttribute, ABC):
    """The type of a value that one operation pushes into a queue when it has run, and that one other waits for."""

    @property
    @abstractmethod
    def queue_name(self) -> str:
        """The queue. It is one for all tokens of this type, and gives them out in the order in which they came."""


class UnitOp(IRDLOperation, ABC):
    """An operation of a unit. Operands and results that are tokens say for what it waits, and what it pushes."""

    @abstractmethod
    def execute(self, *operands: Any) -> None:
        """Do what it does to memory. Operands are arrays of numpy and numbers, without tokens.

        Raises CompileError for an access out of bounds.
        """
