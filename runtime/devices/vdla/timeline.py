"""When each instruction of a stream runs: three units, four queues of tokens, and DRAM, which they share.

An instruction is fetched a cycle, into the queue of commands of its unit; a full one holds up all that come behind. A
unit takes a command, waits for its tokens, runs it, and pushes its tokens, each as soon as its queue has room. Who asks
DRAM first is served first, the unit of loads first of those that ask in one cycle.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from heapq import heappop, heappush
from typing import NamedTuple

from tilework.runtime.devices.vdla.stream import Stream
from tilework.runtime.devices.vdla.timing import Work, work_of
from tilework.targets.vdla.target import VdlaTarget
from tilework.targets.vdla.units import Queue, Unit

FETCH = "fetch"
SHARED_DRAM = "DRAM"
"""Why a unit waits: for its next instruction, or for DRAM while that moves bytes of another unit. Other reasons are a
token, called as its queue is, and room for one."""


def room_in(queue: Queue) -> str:
    """Why a unit waits that cannot push a token."""
    return f"room in {queue.value}"


class Span(NamedTuple):
    """From its first cycle to the one behind its last, a unit runs an instruction."""

    unit: Unit
    begin: int
    end: int
    instruction: int


class Phase(Enum):
    """What a unit does with the instruction that it has come to."""

    FETCH = auto()
    POP = auto()
    RUN = auto()
    PUSH = auto()


@dataclass
class UnitState:
    """One unit. at: how many instructions it has behind it. queued: how many of its own have been fetched.

    pending: the queues that it still has to pop from, or to push into. since: until when it is known what it did.
    begin: when the instruction that runs began. until: when it will have run; None before it has been given DRAM.
    """

    unit: Unit
    program: tuple[int, ...]
    at: int = 0
    phase: Phase = Phase.FETCH
    queued: int = 0
    pending: list[Queue] = field(default_factory=list[Queue])
    since: int = 0
    begin: int = 0
    until: int | None = None
    waited: Counter[str] = field(default_factory=Counter[str])

    @property
    def done(self) -> bool:
        """Whether it has run all that there is for it."""
        return self.at == len(self.program)

    @property
    def instruction(self) -> int:
        """The number of the instruction that it has come to."""
        return self.program[self.at]

    def waits_no_more(self, cause: str, now: int):
        """Write down how long it has waited."""
        if now > self.since:
            self.waited[cause] += now - self.since
        self.since = now


@dataclass(frozen=True)
class Timeline:
    """What happened when. spans: by begin. waited: of each unit, cycles by cause. dram_cycles: in which bytes moved.

    states: where each unit stopped. fetched: how many instructions came to units. tokens: who pushed those that are
    left, the oldest first.
    """

    spans: tuple[Span, ...]
    waited: Mapping[Unit, Mapping[str, int]]
    dram_cycles: int
    states: Mapping[Unit, UnitState]
    fetched: int
    tokens: Mapping[Queue, tuple[int, ...]]

    @property
    def cycles(self) -> int:
        """When the last instruction had run."""
        return max((span.end for span in self.spans), default=0)

    @property
    def complete(self) -> bool:
        """Whether every instruction has run."""
        return all(state.done for state in self.states.values())


def timeline_of(stream: Stream, target: VdlaTarget) -> Timeline:
    """Run a stream for its times alone. It stops where no unit can go on."""
    return _Run(stream, target).result()


class _Run:
    """A run so far. Time goes from event to event: at each one, units go on as far as they can."""

    def __init__(self, stream: Stream, target: VdlaTarget):
        self._stream = stream
        self._target = target
        self._states = {unit: UnitState(unit, program) for unit, program in stream.programs.items()}
        self._tokens = {queue: deque[int]() for queue in Queue}
        self._spans: list[Span] = []
        self._now = 0
        self._events: list[int] = [0]
        self._fetched = 0
        self._next_fetch = 0
        self._asking: list[tuple[UnitState, Work]] = []
        self._dram_free = 0
        self._dram_cycles = 0

    def result(self) -> Timeline:
        while self._events:
            self._now = heappop(self._events)
            while any([self._fetch(), *map(self._advance, self._states.values())]):
                pass  # what one unit did may let another go on
            self._grant()
        return Timeline(
            tuple(sorted(self._spans, key=lambda span: (span.begin, span.instruction))),
            {unit: state.waited for unit, state in self._states.items()},
            self._dram_cycles,
            self._states,
            self._fetched,
            {queue: tuple(tokens) for queue, tokens in self._tokens.items()},
        )

    def _fetch(self) -> bool:
        """Fetch an instruction, if it is time for it and its unit has room."""
        if self._fetched == len(self._stream.instructions) or self._now < self._next_fetch:
            return False
        state = self._states[self._stream.instructions[self._fetched].unit]
        if state.queued == self._target.commands:
            return False
        state.queued += 1
        self._fetched += 1
        self._next_fetch = self._now + 1
        heappush(self._events, self._next_fetch)
        return True

    def _advance(self, state: UnitState) -> bool:
        """Let a unit do one thing, if it can."""
        if state.done:
            return False
        match state.phase:
            case Phase.FETCH:
                return self._take(state)
            case Phase.POP:
                return self._pop(state)
            case Phase.RUN:
                return self._end(state)
            case Phase.PUSH:
                return self._push(state)

    def _take(self, state: UnitState) -> bool:
        if not state.queued:
            return False
        state.queued -= 1
        state.waits_no_more(FETCH, self._now)
        pops = self._stream.instructions[state.instruction].pop
        state.phase, state.pending = Phase.POP, [queue for queue in Queue if queue in pops]
        return True

    def _pop(self, state: UnitState) -> bool:
        if not state.pending:
            self._begin(state)
            return True
        queue = state.pending[0]
        if not self._tokens[queue]:
            return False
        self._tokens[queue].popleft()
        state.pending.pop(0)
        state.waits_no_more(queue.value, self._now)
        return True

    def _begin(self, state: UnitState):
        work = work_of(self._stream.instructions[state.instruction], self._target)
        state.phase, state.begin, state.until = Phase.RUN, self._now, None
        if work.dram_bytes:
            self._asking.append((state, work))
        else:
            self._run_until(state, self._now + work.cycles)

    def _grant(self):
        """Give DRAM to those that asked for it in this cycle."""
        self._asking.sort(key=lambda asking: list(Unit).index(asking[0].unit))
        for state, work in self._asking:
            first = self._now + self._target.dram_latency
            begin = max(first, self._dram_free)
            moving = -(-work.dram_bytes // self._target.dram_bytes)
            self._dram_free = begin + moving
            self._dram_cycles += moving
            if begin > first:
                state.waited[SHARED_DRAM] += begin - first
            self._run_until(state, self._dram_free + work.cycles)
        self._asking.clear()

    def _run_until(self, state: UnitState, until: int):
        state.until = until
        heappush(self._events, until)

    def _end(self, state: UnitState) -> bool:
        if state.until is None or self._now < state.until:
            return False
        self._spans.append(Span(state.unit, state.begin, self._now, state.instruction))
        pushes = self._stream.instructions[state.instruction].push
        state.phase, state.pending = Phase.PUSH, [queue for queue in Queue if queue in pushes]
        state.since = self._now
        return True

    def _push(self, state: UnitState) -> bool:
        if not state.pending:
            state.at += 1
            state.phase = Phase.FETCH
            return True
        queue = state.pending[0]
        if len(self._tokens[queue]) == self._target.queue:
            return False
        self._tokens[queue].append(state.instruction)
        state.pending.pop(0)
        state.waits_no_more(room_in(queue), self._now)
        return True
