"""What operations of machines on scalars have in common with those of `arith`: a meaning, and vectors lane by lane."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from xdsl.irdl import IRDLOperation


class ScalarOp(IRDLOperation, ABC):
    """A pure operation on scalars that there is on vectors, too, lane by lane."""

    @abstractmethod
    def evaluate(self, *operands: Any) -> Any:
        """The result for operands that are numpy scalars, or arrays of one shape, element by element."""
