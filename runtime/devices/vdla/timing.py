"""How long each instruction of a stream keeps its unit busy, and how much of DRAM, which units share, it asks for.

A transfer waits for DRAM's latency, then moves its bytes at DRAM's speed, and writes a tile of zeros a cycle. The
matrix unit does a micro-operation a cycle, the ALU one in as many as the target says. Nothing takes less than a cycle.
"""

from __future__ import annotations

from typing import NamedTuple

from tilework.runtime.devices.vdla.stream import Alu, Gemm, Instruction, Load, Store
from tilework.targets.vdla.target import VdlaTarget


class Work(NamedTuple):
    """What an instruction costs: bytes of DRAM, and cycles besides, in which its unit alone is busy."""

    dram_bytes: int
    cycles: int


def work_of(instruction: Instruction, target: VdlaTarget) -> Work:
    """The work of one instruction."""
    match instruction:
        case Load():
            moved = instruction.rows * instruction.columns
            zeros = instruction.height * instruction.width - moved
            return _at_least_a_cycle(moved * target.memories[instruction.memory].tile_bytes, zeros)
        case Store():
            moved = instruction.rows * instruction.columns
            return _at_least_a_cycle(moved * target.memories["out"].tile_bytes, 0)
        case Gemm():
            return _at_least_a_cycle(0, instruction.micro_operations)
        case Alu():
            return _at_least_a_cycle(0, instruction.micro_operations * target.alu_cycles)
        case _:
            return Work(0, 1)


def _at_least_a_cycle(dram_bytes: int, cycles: int) -> Work:
    return Work(dram_bytes, cycles if dram_bytes else max(1, cycles))


def useful_cycles(instruction: Instruction) -> int:
    """In how many cycles the matrix unit multiplies: setting accumulators to zero is no multiplication."""
    return instruction.micro_operations if isinstance(instruction, Gemm) and not instruction.reset else 0
