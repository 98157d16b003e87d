"""Why a stream does not come to its end: which units wait for each other, or for what nobody does any more."""

from __future__ import annotations

from typing import NamedTuple

from tilework.runtime.devices.vdla.findings import Fault, Finding
from tilework.runtime.devices.vdla.stream import Stream
from tilework.runtime.devices.vdla.timeline import Phase, Timeline, UnitState
from tilework.targets.vdla.units import Queue, Unit


class _Wait(NamedTuple):
    """What a unit waits for. on: the unit that has to go on first; None where that would not help."""

    instruction: int
    message: str
    on: Unit | None


def deadlocks(stream: Stream, timeline: Timeline) -> list[Finding]:
    """A finding for every circle of units that wait for each other, and for every wait for what never comes."""
    waits = {unit: _wait_of(state, stream, timeline) for unit, state in timeline.states.items() if not state.done}
    roots: dict[frozenset[Unit], list[Unit]] = {}
    for unit in waits:
        root = _root(unit, waits)
        roots.setdefault(frozenset(root), root)
    return [
        Finding(
            Fault.DEADLOCK,
            "; ".join(waits[unit].message for unit in root),
            tuple(waits[unit].instruction for unit in root),
        )
        for root in roots.values()
    ]


def _root(unit: Unit, waits: dict[Unit, _Wait]) -> list[Unit]:
    """What a unit waits for in the end: the circle of units, in order, or the one that waits for nothing."""
    chain = [unit]
    while (on := waits[chain[-1]].on) is not None:
        if on in chain:
            return chain[chain.index(on) :]
        chain.append(on)
    return chain[-1:]


def _wait_of(state: UnitState, stream: Stream, timeline: Timeline) -> _Wait:
    """What a unit that cannot go on waits for."""
    at = state.instruction
    if state.phase is Phase.FETCH:
        full = stream.instructions[timeline.fetched].unit
        behind = f"is not fetched, since the queue of commands of the unit '{full.value}' is full"
        return _Wait(at, f"{stream.describe(at)} {behind}", full)
    queue = state.pending[0]
    if state.phase is Phase.POP:
        needed = _next(timeline.states[queue.source], stream, queue, Phase.PUSH)
        who = f"which {stream.describe(needed)} would push" if needed is not None else "which nothing pushes any more"
        what, on = f"waits for a token of {queue.value}, {who}", queue.source
    else:
        needed = _next(timeline.states[queue.destination], stream, queue, Phase.POP)
        who = f"from which {stream.describe(needed)} would take one" if needed is not None else "which nothing empties"
        what, on = f"waits for room in {queue.value}, {who}", queue.destination
    return _Wait(at, f"{stream.describe(at)} {what}", None if needed is None else on)


def _next(state: UnitState, stream: Stream, queue: Queue, side: Phase) -> int | None:
    """The next instruction of a unit that will push into a queue, or pop from it."""
    for position in range(state.at, len(state.program)):
        number = state.program[position]
        instruction = stream.instructions[number]
        here = position == state.at
        if side is Phase.PUSH:
            does = queue in (state.pending if here and state.phase is Phase.PUSH else instruction.push)
        else:
            passed = here and state.phase in (Phase.RUN, Phase.PUSH)
            does = not passed and queue in (state.pending if here and state.phase is Phase.POP else instruction.pop)
        if does:
            return number
    return None


def left_over(stream: Stream, timeline: Timeline) -> list[Finding]:
    """A finding for every queue in which tokens are left when all instructions have run."""
    found: list[Finding] = []
    for queue, pushers in timeline.tokens.items():
        if pushers:
            count = "a token is" if len(pushers) == 1 else f"{len(pushers)} tokens are"
            message = f"{count} left in {queue.value}, pushed by {', '.join(map(stream.describe, pushers))}"
            found.append(Finding(Fault.LEFT_OVER, message, pushers))
    return found
