"""What all accelerators of the family have in common: three units in a row, four queues between them, and an ALU."""

from __future__ import annotations

from enum import Enum


class Unit(Enum):
    """What runs instructions, beside the other units. Each runs its own instructions in the order of the program."""

    LOAD = "load"
    COMPUTE = "compute"
    STORE = "store"


class Queue(Enum):
    """A queue of tokens from one unit to another. A token says no more than that one more instruction has run."""

    LOAD_TO_COMPUTE = "load->compute"
    COMPUTE_TO_LOAD = "compute->load"
    COMPUTE_TO_STORE = "compute->store"
    STORE_TO_COMPUTE = "store->compute"

    @property
    def source(self) -> Unit:
        """The unit whose instructions push tokens."""
        return Unit(self.value.partition("->")[0])

    @property
    def destination(self) -> Unit:
        """The unit whose instructions wait for them."""
        return Unit(self.value.partition("->")[2])


LOADED = ("inp", "wgt", "acc", "uop")
"""The memories that loads write."""

INDEX_BITS = {"acc": 11, "inp": 11, "wgt": 10}
"""How many bits the number of a tile has in a micro-operation, by the memory that the tile is in."""

PAD_BITS = 4
"""How many bits a load has for the number of rows or columns of zeros on each side of what it reads."""

LARGEST_PAD = (1 << PAD_BITS) - 1


def unit_of_load(memory: str) -> Unit:
    """The unit that loads into a memory: accumulators and micro-operations are loaded by the unit that computes."""
    return Unit.LOAD if memory in ("inp", "wgt") else Unit.COMPUTE


class AluOperation(Enum):
    """How the ALU combines two words. It shifts to the left by a negative number; what overflows is cut off."""

    MIN = "min"
    MAX = "max"
    ADD = "add"
    SHR = "shr"
    MUL = "mul"
