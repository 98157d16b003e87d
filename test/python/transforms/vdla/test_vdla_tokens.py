"""Tokens are inserted where dependences are, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from vdla_kernels import Product, parse_program
from vdla_programs import machine
from vdla_random import RandomFunction

from tilework.backends.vdla.emit import places_in_dram, stream_of
from tilework.dialects.support.registration import make_context
from tilework.interpreters.units import run_units
from tilework.runtime.devices.vdla.findings import StreamError
from tilework.runtime.devices.vdla.simulator import simulate
from tilework.runtime.devices.vdla.stream import Finish, Instruction, Load, Store, Stream
from tilework.targets.vdla.units import Queue
from tilework.tools.fuzz.vdla.check import function_of, run_on_simulator
from tilework.transforms.vdla.insert_tokens import InsertTokens


@pytest.mark.parametrize("seed", range(60))
def test_random_functions_run_clean(seed: int):
    """The simulator finds races, deadlocks and tokens that are left, and computes what the function does in order."""
    options = f"-queue={1 + seed % 4}"
    program = RandomFunction(seed, f"vdla {options}")
    module, function = parse_program(program.text)
    in_order, with_tokens, on_machine = (program.arguments() for _ in range(3))
    run_units(function, in_order)
    InsertTokens().apply(make_context(), module)
    module.verify()
    run_units(function, with_tokens)
    run_on_simulator(function, on_machine, machine(options))
    for expected, interpreted, simulated in zip(in_order, with_tokens, on_machine, strict=True):
        np.testing.assert_array_equal(interpreted, expected)
        np.testing.assert_array_equal(simulated, expected)


def does_nothing(instruction: Instruction) -> bool:
    """Whether an instruction is there for its tokens alone."""
    return isinstance(instruction, Finish) or (isinstance(instruction, Load | Store) and not instruction.rows)


def without_token(stream: Stream, queue: Queue, number: int) -> Stream | None:
    """A stream without one token of a queue; None for one that an instruction pushes or takes that does nothing."""
    pushes = [at for at, one in enumerate(stream.instructions) if queue in one.push]
    pops = [at for at, one in enumerate(stream.instructions) if queue in one.pop]
    pusher, taker = pushes[number], pops[number]
    if does_nothing(stream.instructions[pusher]) or does_nothing(stream.instructions[taker]):
        return None
    changed = list(stream.instructions)
    changed[pusher] = replace(changed[pusher], push=changed[pusher].push - {queue})
    changed[taker] = replace(changed[taker], pop=changed[taker].pop - {queue})
    return replace(stream, instructions=tuple(changed))


@pytest.mark.parametrize(
    "product",
    [
        Product(2, 4, 4, (1, 2, 2)),
        Product(2, 4, 4, (1, 1, 2), threads=2),
        Product(2, 2, 4, (1, 1, 2), threads=2, by_rows=True, biased=True),
        Product(2, 4, 4, (1, 2, 2), once=True),
    ],
    ids=str,
)
def test_every_token_is_needed(product: Product):
    target = machine()
    function = function_of(product.text())
    stream = stream_of(function, target)
    dram = np.zeros(places_in_dram(function, target)[1], np.uint8)
    simulate(stream, dram, target)
    tried = 0
    for queue in Queue:
        for number in range(sum(queue in one.push for one in stream.instructions)):
            fewer = without_token(stream, queue, number)
            if fewer is not None:
                tried += 1
                with pytest.raises(StreamError):
                    simulate(fewer, dram, target)
    assert tried > 8
