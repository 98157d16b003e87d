"""Streams for the tests of VDLA: random instructions, whatever they do."""

from __future__ import annotations

import random

from tilework.runtime.devices.vdla.stream import (
    ONCE,
    Alu,
    Finish,
    Gemm,
    Instruction,
    Load,
    Loop,
    MicroOp,
    Padding,
    Store,
    Stream,
)
from tilework.targets.vdla.units import LOADED, AluOperation, Queue, Unit


def random_stream(seed: int) -> Stream:
    """A stream whose instructions have all operands that there are, of any value that has an encoding."""
    draw = random.Random(seed)
    micro_ops = tuple(
        MicroOp(draw.randrange(1 << 11), draw.randrange(1 << 11), draw.randrange(1 << 10)) for _ in range(4)
    )
    instructions = tuple(_random_instruction(draw) for _ in range(20))
    return Stream(micro_ops, (*instructions, Finish(**_tokens(draw, Unit.COMPUTE))))


def _random_instruction(draw: random.Random) -> Instruction:
    transfer = {
        "sram": draw.randrange(1 << 16),
        "dram": draw.randrange(1 << 32),
        **{key: draw.randrange(1 << 16) for key in ("rows", "columns", "stride")},
    }
    first = draw.randrange(1 << 13)
    loops = {"first": first, "end": draw.randint(first, 1 << 13)}
    match draw.randrange(4):
        case 0:
            memory = draw.choice(LOADED)
            padding = Padding(*(draw.randrange(16) for _ in range(4))) if draw.random() < 0.5 else Padding()
            return Load(memory, **transfer, padding=padding, **_tokens(draw, Load(memory).unit))
        case 1:
            return Store(**transfer, **_tokens(draw, Unit.STORE))
        case 2:
            outer, inner = (_random_loop(draw, 1 << 10) for _ in range(2))
            reset = draw.random() < 0.5
            return Gemm(**loops, outer=outer, inner=inner, reset=reset, **_tokens(draw, Unit.COMPUTE))
        case _:
            outer, inner = (_random_loop(draw, 1) for _ in range(2))
            immediate = draw.choice([None, draw.randrange(-(1 << 15), 1 << 15)])
            operation = draw.choice(list(AluOperation))
            tokens = _tokens(draw, Unit.COMPUTE)
            return Alu(**loops, outer=outer, inner=inner, operation=operation, immediate=immediate, **tokens)


def _random_loop(draw: random.Random, weights: int) -> Loop:
    if draw.random() < 0.3:
        return ONCE
    return Loop(draw.randrange(1 << 14), draw.randrange(1 << 11), draw.randrange(1 << 11), draw.randrange(weights))


def _tokens(draw: random.Random, unit: Unit) -> dict:
    pops = [queue for queue in Queue if queue.destination is unit and draw.random() < 0.5]
    pushes = [queue for queue in Queue if queue.source is unit and draw.random() < 0.5]
    origin = draw.choice(["", "kernel.mlir:3", "the loop over %i, iteration 4"])
    return {"pop": frozenset(pops), "push": frozenset(pushes), "origin": origin}
