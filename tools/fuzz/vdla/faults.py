"""Faults to plant in streams for VDLA: tokens that are missing, that are too many or elsewhere, and moved loads."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from tilework.runtime.devices.vdla.stream import Instruction, Load, Store, Stream
from tilework.targets.vdla.units import Queue


def _with(stream: Stream, changed: dict[int, Instruction]) -> Stream:
    instructions = (changed.get(at, instruction) for at, instruction in enumerate(stream.instructions))
    return replace(stream, instructions=tuple(instructions))


def _flags(stream: Stream) -> list[tuple[int, str, Queue]]:
    """All tokens: the instruction, "pop" or "push", and the queue."""
    return [
        (at, side, queue)
        for at, instruction in enumerate(stream.instructions)
        for side in ("pop", "push")
        for queue in Queue
        if queue in getattr(instruction, side)
    ]


def _flipped(instruction: Instruction, side: str, queue: Queue) -> Instruction:
    return replace(instruction, **{side: getattr(instruction, side) ^ {queue}})


def drop_token(stream: Stream, draw: random.Random) -> Stream:
    """One end of a token is missing."""
    at, side, queue = draw.choice(_flags(stream))
    return _with(stream, {at: _flipped(stream.instructions[at], side, queue)})


def drop_both_ends(stream: Stream, draw: random.Random) -> Stream:
    """A token is pushed no more, and popped no more by the one that got it."""
    at, _, queue = draw.choice([flag for flag in _flags(stream) if flag[1] == "push"])
    ends = {side: [flag[0] for flag in _flags(stream) if flag[1:] == (side, queue)] for side in ("push", "pop")}
    other = ends["pop"][ends["push"].index(at)]
    changed = {at: _flipped(stream.instructions[at], "push", queue)}
    return _with(stream, {**changed, other: _flipped(stream.instructions[other], "pop", queue)})


def duplicate_token(stream: Stream, draw: random.Random) -> Stream:
    """Another instruction of the same unit pops or pushes as well."""
    at, side, queue = draw.choice(_flags(stream))
    program = stream.programs[stream.instructions[at].unit]
    free = [other for other in program if queue not in getattr(stream.instructions[other], side)]
    if not free:
        return stream
    other = draw.choice(free)
    return _with(stream, {other: _flipped(stream.instructions[other], side, queue)})


def move_token(stream: Stream, draw: random.Random) -> Stream:
    """One end of a token is at another instruction of the same unit."""
    at, side, queue = draw.choice(_flags(stream))
    program = stream.programs[stream.instructions[at].unit]
    free = [other for other in program if queue not in getattr(stream.instructions[other], side)]
    if not free:
        return stream
    other = draw.choice(free)
    moved = {one: _flipped(stream.instructions[one], side, queue) for one in (at, other)}
    return _with(stream, moved)


def swap_token(stream: Stream, draw: random.Random) -> Stream:
    """A token goes into, or comes from, the unit's other queue."""
    flags = [flag for flag in _flags(stream) if len(_choices(stream, flag)) > 1]
    if not flags:
        return stream
    at, side, queue = flag = draw.choice(flags)
    other = next(one for one in _choices(stream, flag) if one is not queue)
    instruction = _flipped(stream.instructions[at], side, queue)
    return _with(stream, {at: _flipped(instruction, side, other)})


def _choices(stream: Stream, flag: tuple[int, str, Queue]) -> list[Queue]:
    unit, end = stream.instructions[flag[0]].unit, "destination" if flag[1] == "pop" else "source"
    return [queue for queue in Queue if getattr(queue, end) is unit]


def move_transfer(stream: Stream, draw: random.Random) -> Stream:
    """A load or a store comes earlier or later than it should, with its tokens."""
    order = list(range(len(stream.instructions) - 1))
    chosen = draw.choice([at for at in order if isinstance(stream.instructions[at], Load | Store)])
    order.remove(chosen)
    order.insert(draw.randint(max(0, chosen - 6), min(len(order), chosen + 6)), chosen)
    return replace(stream, instructions=(*(stream.instructions[at] for at in order), stream.instructions[-1]))


def exchange_transfers(stream: Stream, draw: random.Random) -> Stream:
    """Two transfers of one unit are exchanged, but tokens stay where they are."""
    programs = [
        transfers
        for program in stream.programs.values()
        if len(transfers := [at for at in program if isinstance(stream.instructions[at], Load | Store)]) > 1
    ]
    first, second = draw.sample(draw.choice(programs), 2)
    one, other = stream.instructions[first], stream.instructions[second]
    return _with(
        stream,
        {first: replace(other, pop=one.pop, push=one.push), second: replace(one, pop=other.pop, push=other.push)},
    )


def write_elsewhere(stream: Stream, draw: random.Random) -> Stream:
    """A load writes a little beside where it should."""
    loads = [at for at, one in enumerate(stream.instructions) if isinstance(one, Load) and one.memory != "uop"]
    at = draw.choice(loads)
    load = stream.instructions[at]
    assert isinstance(load, Load)
    return _with(stream, {at: replace(load, sram=load.sram + draw.randint(1, 3))})


def double_token(stream: Stream, draw: random.Random) -> Stream:
    """One more token goes into a queue, and is taken from it, wherever units have room for another one."""
    queue = draw.choice([flag[2] for flag in _flags(stream)])
    changed: dict[int, Instruction] = {}
    for unit, side in ((queue.source, "push"), (queue.destination, "pop")):
        free = [at for at in stream.programs[unit] if queue not in getattr(stream.instructions[at], side)]
        if not free:
            return stream
        at = draw.choice(free)
        changed[at] = _flipped(stream.instructions[at], side, queue)
    return _with(stream, changed)


def move_load(stream: Stream, draw: random.Random) -> Stream:
    """A load comes earlier or later among the instructions of its unit, whose tokens stay where they are."""
    chosen = draw.choice(_loads(stream))
    unit = stream.instructions[chosen].unit
    program = [at for at in stream.programs[unit] if at < len(stream.instructions) - 1]
    order = _moved(stream, program, chosen, draw)
    changed: dict[int, Instruction] = {}
    for at, come_from in zip(program, order, strict=True):
        old = stream.instructions[at]
        changed[at] = replace(stream.instructions[come_from], pop=old.pop, push=old.push)
    return _with(stream, changed)


def move_load_and_tokens(stream: Stream, draw: random.Random) -> Stream:
    """A load comes earlier or later in the stream, with the tokens that it takes and hands on."""
    *program, last = range(len(stream.instructions))
    order = _moved(stream, program, draw.choice(_loads(stream)), draw)
    return replace(stream, instructions=tuple(stream.instructions[at] for at in (*order, last)))


def _loads(stream: Stream) -> list[int]:
    return [at for at, one in enumerate(stream.instructions) if isinstance(one, Load)]


def _moved(stream: Stream, program: Sequence[int], chosen: int, draw: random.Random) -> list[int]:
    """Instructions with one of them in another place, past none of its unit that touches what it writes.

    Units run their instructions in order, so that past such a one the stream would say to compute something else, and
    no token would be wrong.
    """
    load, place = stream.instructions[chosen], list(program).index(chosen)
    order = [at for at in program if at != chosen]
    onto = draw.randint(max(0, place - 6), min(len(order), place + 6))
    passed = [stream.instructions[at] for at in order[min(place, onto) : max(place, onto)]]
    if not all(other.unit is not load.unit or _are_apart(load, other) for other in passed):
        return list(program)
    order.insert(onto, chosen)
    return order


def _are_apart(one: Instruction, other: Instruction) -> bool:
    """Whether two instructions of one unit are loads of different places on the chip."""
    if not isinstance(one, Load) or not isinstance(other, Load):
        return False
    is_before = one.sram + one.height * one.width <= other.sram
    return one.memory != other.memory or is_before or other.sram + other.height * other.width <= one.sram


FAULTS: Sequence[Callable[[Stream, random.Random], Stream]] = (
    *(drop_token, drop_both_ends, duplicate_token, move_token, swap_token),
    *(move_transfer, exchange_transfers, write_elsewhere),
)
"""Faults of streams that somebody wrote: some of them change what a stream says to compute."""

LOST_ORDER: Sequence[Callable[[Stream, random.Random], Stream]] = (
    *(drop_token, drop_both_ends, duplicate_token, double_token, move_token, swap_token),
    *(move_load, move_load_and_tokens),
)
"""Faults that change nothing but what waits for what."""
