"""What is wrong with a stream for VDLA, found the slow way: all pairs of instructions, and sets of single places."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from tilework.runtime.devices.vdla.stream import Alu, Gemm, Instruction, Load, Looped, MicroOp, Store, Stream
from tilework.targets.vdla.target import VdlaTarget
from tilework.targets.vdla.units import Queue

Place = tuple[str, int]


class Verdict(NamedTuple):
    """deadlock, left: whether that happens. races: pairs of instructions, in the order of the stream. unwritten: those
    that read what nothing has certainly written. unfinished: units that the last instruction does not wait for."""

    deadlock: bool
    left: bool
    races: frozenset[tuple[int, int]]
    unwritten: frozenset[int]
    unfinished: bool

    @property
    def clean(self) -> bool:
        return not any(self)


def judge(stream: Stream, target: VdlaTarget) -> Verdict:
    """The verdict on a stream whose addresses are all in range."""
    ran, tokens = walk(stream, target)
    before = _before(stream, ran)
    touched = _touched(stream, target)
    races, unwritten = set[tuple[int, int]](), set[int]()
    for b in ran:
        for a in ran:
            ordered = before[b] >> a & 1 or before[a] >> b & 1
            (reads_a, writes_a), (reads_b, writes_b) = touched[a], touched[b]
            if a < b and not ordered and (writes_a & (reads_b | writes_b) or writes_b & reads_a):
                races.add((a, b))
        written = set[Place]().union(*(touched[a][1] for a in ran if before[b] >> a & 1))
        if any(place not in written for place in touched[b][0] if place[0] != "DRAM"):
            unwritten.add(b)
    deadlock = len(ran) < len(stream.instructions)
    last = len(stream.instructions) - 1
    unfinished = last in ran and any(not before[last] >> at & 1 for at in range(last))
    return Verdict(deadlock, not deadlock and tokens, frozenset(races), frozenset(unwritten), unfinished)


def walk(stream: Stream, target: VdlaTarget) -> tuple[list[int], bool]:
    """The instructions that run, in an order in which they may, and whether tokens are left.

    Each unit goes on in turn as far as it can, with instructions that were fetched: whether a stream comes to its end
    does not depend on who is how fast.
    """
    tokens, commands = dict.fromkeys(Queue, 0), dict.fromkeys(stream.programs, 0)
    pending = {unit: deque(_steps(stream, program)) for unit, program in stream.programs.items()}
    fetching = deque(instruction.unit for instruction in stream.instructions)
    ran, moved = list[int](), True
    while moved:
        moved = False
        while fetching and commands[fetching[0]] < target.commands:
            commands[fetching.popleft()] += 1
            moved = True
        for unit, steps in pending.items():
            while steps:
                match steps[0]:
                    case _Step("take", _):
                        if commands[unit] == 0:
                            break
                        commands[unit] -= 1
                    case _Step("run", at):
                        ran.append(at)
                    case _Step("pop", _, queue):
                        if tokens[queue] == 0:
                            break
                        tokens[queue] -= 1
                    case _Step(_, _, queue):
                        if tokens[queue] == target.queue:
                            break
                        tokens[queue] += 1
                steps.popleft()
                moved = True
    return ran, any(tokens.values())


class _Step(NamedTuple):
    """What a unit does for an instruction: take it when it was fetched, pop a token, run, push a token."""

    kind: str
    at: int
    queue: Queue = Queue.LOAD_TO_COMPUTE


def _steps(stream: Stream, program: tuple[int, ...]) -> Iterator[_Step]:
    for at in program:
        yield _Step("take", at)
        yield from (_Step("pop", at, queue) for queue in Queue if queue in stream.instructions[at].pop)
        yield _Step("run", at)
        yield from (_Step("push", at, queue) for queue in Queue if queue in stream.instructions[at].push)


def _before(stream: Stream, ran: list[int]) -> dict[int, int]:
    """The set of bits of each instruction: those that have run before it, for its unit or a token."""
    pushed = {queue: [at for at in ran if queue in stream.instructions[at].push] for queue in Queue}
    popped = dict.fromkeys(Queue, 0)
    before, last = dict[int, int](), dict[object, int]()
    for at in ran:
        unit = stream.instructions[at].unit
        sources = [last[unit]] if unit in last else []
        for queue in stream.instructions[at].pop:
            sources.append(pushed[queue][popped[queue]])
            popped[queue] += 1
        before[at] = 0
        for source in sources:
            before[at] |= before[source] | 1 << source
        last[unit] = at
    return before


def _touched(stream: Stream, target: VdlaTarget) -> list[tuple[set[Place], set[Place]]]:
    """The places that each instruction reads, and those that it writes."""
    chip = dict[int, MicroOp]()
    return [_places(instruction, stream, target, chip) for instruction in stream.instructions]


def _places(
    instruction: Instruction, stream: Stream, target: VdlaTarget, chip: dict[int, MicroOp]
) -> tuple[set[Place], set[Place]]:
    match instruction:
        case Load(memory="uop", padding=pad) if not any((pad.above, pad.below, pad.left, pad.right)):
            moved = list(_moved(instruction))
            chip.update({onto: stream.micro_ops[source] for onto, source in moved})
            return set(), {("uop", onto) for onto, _ in moved}
        case Load(memory=memory):
            size = target.memories[memory].tile_bytes
            reads = {("DRAM", at) for _, tile in _moved(instruction) for at in range(tile * size, (tile + 1) * size)}
            count = instruction.height * instruction.width
            return reads, {(memory, instruction.sram + at) for at in range(count)}
        case Store():
            size = target.memories["out"].tile_bytes
            moved = list(_moved(instruction))
            writes = {("DRAM", at) for _, tile in moved for at in range(tile * size, (tile + 1) * size)}
            return {("acc", tile) for tile, _ in moved}, writes
        case Looped():
            return _computed(instruction, chip)
        case _:
            return set(), set()


def _moved(transfer: Load | Store) -> Iterator[tuple[int, int]]:
    """Pairs of a tile on the chip and one in DRAM."""
    above, left, right = 0, 0, 0
    if isinstance(transfer, Load):
        above, left, right = transfer.padding.above, transfer.padding.left, transfer.padding.right
    for row in range(transfer.rows):
        for column in range(transfer.columns):
            onto = transfer.sram + (row + above) * (left + transfer.columns + right) + left + column
            yield onto, transfer.dram + row * transfer.stride + column


def _computed(instruction: Looped, chip: dict[int, MicroOp]) -> tuple[set[Place], set[Place]]:
    reads = {("uop", at) for at in range(instruction.first, instruction.end)}
    writes = set[Place]()
    for dst, src, wgt in computed_tiles(instruction, chip):
        writes.add(("acc", dst))
        match instruction:
            case Gemm(reset=False):
                reads |= {("acc", dst), ("inp", src), ("wgt", wgt)}
            case Alu(immediate=None):
                reads |= {("acc", dst), ("acc", src)}
            case Alu():
                reads.add(("acc", dst))
            case _:
                pass
    return reads, writes


def computed_tiles(instruction: Looped, chip: dict[int, MicroOp]) -> Iterator[tuple[int, int, int]]:
    """The tiles of each step of a computation, in order: dst, src, wgt."""
    outer, inner = instruction.outer, instruction.inner
    for o in range(outer.count):
        for i in range(inner.count):
            for at in range(instruction.first, instruction.end):
                op = chip.get(at, MicroOp(0, 0))
                yield (
                    op.dst + o * outer.dst + i * inner.dst,
                    op.src + o * outer.src + i * inner.src,
                    op.wgt + o * outer.wgt + i * inner.wgt,
                )
