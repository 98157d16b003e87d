"""Which instructions have certainly run before another one begins: what tokens and the order of each unit say.

How long anything takes plays no part, nor does how much room queues have: a program that is right on one machine of the
family for these reasons would be wrong on another.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Set

from tilework.runtime.devices.vdla.stream import Stream
from tilework.targets.vdla.units import Queue, Unit

Clock = dict[Unit, int]
"""How many instructions of each unit have certainly run when an instruction begins."""


def settled_order(stream: Stream, ran: Set[int]) -> list[int]:
    """The instructions that ran, in an order that is the same on all machines: the first in the stream that may be next
    is next."""
    order: list[int] = []
    tokens: Counter[Queue] = Counter()
    programs = [deque(at for at in program if at in ran) for program in stream.programs.values()]
    while len(order) < len(ran):
        ready = [left for left in programs if left and all(tokens[queue] for queue in stream.instructions[left[0]].pop)]
        order.append(min(ready, key=_first).popleft())
        tokens.subtract(stream.instructions[order[-1]].pop)
        tokens.update(stream.instructions[order[-1]].push)
    return order


def _first(program: deque[int]) -> int:
    return program[0]


class Clocks:
    """The clocks of instructions, and how many of its unit each one is, counted from one.

    order: the instructions that ran, each behind those that it waited for.
    """

    def __init__(self, stream: Stream, order: Iterable[int]):
        self.before: dict[int, Clock] = {}
        self.count: dict[int, int] = {}
        tokens = {queue: deque[Clock]() for queue in Queue}
        units = {unit: dict.fromkeys(Unit, 0) for unit in Unit}
        for at in order:
            instruction = stream.instructions[at]
            clock = dict(units[instruction.unit])
            for queue in instruction.pop:
                for unit, count in tokens[queue].popleft().items():
                    clock[unit] = max(clock[unit], count)
            self.before[at] = clock
            self.count[at] = clock[instruction.unit] + 1
            after = {**clock, instruction.unit: self.count[at]}
            units[instruction.unit] = after
            for queue in instruction.push:
                tokens[queue].append(after)
