"""What the ALU of the family makes of two words, in numpy: for the simulator, and for what operations mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilework.targets.vdla.units import AluOperation

Words = np.ndarray[Any, np.dtype[np.int32]]


def combined(operation: AluOperation, left: Words, right: Words) -> Words:
    """The words that the ALU makes of two, without those of their bits that overflow."""
    match operation:
        case AluOperation.MIN:
            return np.minimum(left, right)
        case AluOperation.MAX:
            return np.maximum(left, right)
        case AluOperation.ADD:
            return left + right
        case AluOperation.MUL:
            return left * right
        case AluOperation.SHR:
            return _shifted(left, right)


def _shifted(left: Words, right: Words) -> Words:
    """A shift by more bits than there are shifts all of them out, and leaves signs where it goes to the right."""
    wide = left.astype(np.int64)
    amount = np.clip(right.astype(np.int64), -32, 31)
    to_left = (wide << np.maximum(-amount, 0)).astype(np.int32)  # keeps the lowest 32 bits
    return np.where(amount < 0, to_left, (wide >> np.maximum(amount, 0)).astype(np.int32))
