"""How large the tiles of a product are: what a block of threads multiplies, and what each thread does.

The sizes follow from an estimate of how many cycles a product takes, in which the numbers of the device are the
target's. How many cycles instructions take beside each other nobody has measured yet: the estimate ranks tiles, and no
more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from tilework.rules.gpu.product_form import Product
from tilework.targets.gpu.target import GpuTarget

SHARES = ((1, 1), (1, 2), (1, 4), (2, 4))
"""How many virtual threads a thread is along an axis of a tile, and how many elements beside each other each takes."""

SIDES = (4, 8, 16, 32)
"""How many threads there may be along an axis of a tile."""

STEPS = range(4, 33)
"""How many terms may be fetched at a time."""

USUAL_STEPS = (8, 16)
"""The same where no such number divides the terms, so that in each step a thread asks whether it is one."""

LOAD, FETCH, ASK = 2, 6, 1
"""Instructions that take as long as it takes to load a vector from shared memory, to bring an element there, and to ask
whether a step is one of the sum."""

BETWEEN = 20
"""Instructions from one fetch to the next, beside those that fetch: barriers, and what they wait for."""

WAITING = 600
"""Cycles from when a block asks for the next elements until it has them."""

LANES = 128
"""A multiprocessor starts an instruction of so many threads in a cycle."""

WARP = 32
"""So many lanes a block takes at least, however few threads it has."""

ODD = 4
"""Registers for an element that is fetched, where its place does not follow from that of the one before: itself, the
place, and whether it is there."""

OTHERS = 20
"""Registers for addresses and counts."""

PADDING = 4
"""Elements by which rows of a shared buffer are longer that is filled across its rows, so that threads that store
beside each other do not store into one bank; still a multiple of a vector of four."""


@dataclass(frozen=True)
class Side:
    """One axis of a tile: so many threads, each so many virtual threads of so many elements."""

    threads: int
    virtual: int
    elements: int

    @property
    def share(self) -> int:
        """What a thread takes."""
        return self.virtual * self.elements

    @property
    def length(self) -> int:
        """What a block takes."""
        return self.threads * self.share

    @property
    def loads(self) -> int:
        """How many vectors of four elements, at most, a thread loads in a step."""
        return self.virtual * -(-self.elements // 4)


@dataclass(frozen=True)
class Tile:
    """Rows and columns of a block, and how many terms it fetches at a time."""

    rows: Side
    columns: Side
    step: int

    @property
    def threads(self) -> int:
        """How many threads a block has."""
        return self.rows.threads * self.columns.threads

    def shared_bytes(self, of: Product) -> int:
        """How much memory the two tiles take that a block fetches."""
        sides = ((self.rows, of.left), (self.columns, of.right))
        return sum(self.step * (side.length + PADDING) * operand.bits // 8 for side, operand in sides)

    def registers(self, of: Product) -> int:
        """How many registers a thread takes, roughly: sums, factors, what it fetches next, addresses and counts."""
        rows, columns = self.rows.share, self.columns.share
        fetched = 0
        for side, operand in ((self.rows, of.left), (self.columns, of.right)):
            is_odd = operand.has_windows or (operand.along_sum and self.threads % self.step > 0)
            fetched += -(-side.length * self.step // self.threads) * (ODD if is_odd else 1)
        return rows * columns + rows + columns + fetched + OTHERS


def choose_tile(of: Product, target: GpuTarget) -> Tile | None:
    """The tile that takes the fewest cycles; of those that take as many the one with fewer threads."""
    fitting = [tile for tile in _tiles(of, target) if _fits(tile, of, target)]
    return min(fitting, key=lambda tile: (_cycles(tile, of, target), tile.threads), default=None)


def _fits(tile: Tile, of: Product, target: GpuTarget) -> bool:
    return tile.shared_bytes(of) <= target.shared_bytes and tile.registers(of) <= target.thread_registers


def _tiles(of: Product, target: GpuTarget) -> Iterator[Tile]:
    terms = of.count(of.summed)
    steps = [step for step in STEPS if terms % step == 0] or [*USUAL_STEPS]
    steps = [terms] if terms < STEPS.start else steps
    rows, columns = (list(_sides(of, axes)) for axes in (of.rows, of.columns))
    for side, other, step in product(rows, columns, steps):
        tile = Tile(side, other, step)
        if tile.threads <= min(target.threads, target.resident_threads // 2):
            yield tile


def _sides(of: Product, axes: Sequence[str]) -> Iterator[Side]:
    """Those that are no longer than what there is: what is left over in the last block alone asks for nothing.

    Along a part of an axis none may be left over, where the axis goes on.
    """
    length = of.count(axes)
    is_part = of.grouping is not None and of.grouping.names[1] in axes
    for threads, (virtual, elements) in product(SIDES, SHARES):
        side = Side(threads, virtual, elements)
        if side.length <= length and not (is_part and length % side.length):
            yield side


def _cycles(tile: Tile, of: Product, target: GpuTarget) -> float:
    """An estimate of how long a product takes."""
    terms = of.count(of.summed)
    blocks = of.count(of.batch)
    for axes, side in ((of.rows, tile.rows), (of.columns, tile.columns)):
        blocks *= -(-of.count(axes) // side.length)
    of_core = -(-blocks // target.cores)
    beside = min(of_core, target.resident_blocks(tile.threads, tile.registers(of), tile.shared_bytes(of)))
    fetched = (tile.rows.length + tile.columns.length) / tile.threads
    issued = tile.rows.share * tile.columns.share + LOAD * (tile.rows.loads + tile.columns.loads) + FETCH * fetched
    issued += ASK * (terms % tile.step > 0)
    own_step = tile.step * issued + BETWEEN
    busy, alone = beside * own_step * max(tile.threads, WARP) / LANES, own_step + WAITING
    return -(-of_core // beside) * -(-terms // tile.step) * max(busy, alone)
