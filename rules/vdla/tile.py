"""Which part of a product is on the chip at a time, and how many cycles a choice takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, prod

from tilework.rules.vdla.product_form import Position, ProductForm
from tilework.targets.vdla.target import VdlaTarget

THREADS = 2
"""So many virtual threads take turns: while one computes, what the other one needs is loaded."""

MOST_PIECES = 16
"""An axis is cut into no more pieces than this, or into single places: others are tried for nothing."""


@dataclass(frozen=True)
class Tile:
    """A part of the sums, and a part of what is summed.

    outputs: in tiles of the machine. counts: along each position. channels: in tiles of the machine. steps: of the
    first position's window that has several. threads: how many take turns, along outputs or the position `along`.
    keeps_weights: whether weights stay on the chip for all positions.
    """

    outputs: int
    counts: tuple[int, ...]
    channels: int
    steps: int
    threads: int = 1
    along: int | None = None
    keeps_weights: bool = False


@dataclass(frozen=True)
class TileChoice:
    """The tiles of a product, and what they cost on a machine."""

    form: ProductForm
    target: VdlaTarget

    def best(self, threads: int = THREADS) -> Tile | None:
        """The tile that takes the fewest cycles by this model, with at most so many threads; None where none fits."""
        fitting = [tile for tile in self.candidates(threads) if self.fits(tile)]
        return min(fitting, key=lambda tile: (self.cycles(tile), self.instructions(tile)), default=None)

    def candidates(self, threads: int) -> Iterator[Tile]:
        """All tiles that are worth a thought."""
        form = self.form
        counts = [self.counts(at) for at in range(len(form.positions))]
        window = self.form.first_window
        every = form.positions[window].steps if window is not None else 1
        for outputs, channels, steps, *sizes in product(
            _divisors(form.output_tiles), _divisors(form.channel_tiles), sorted({1, every}), *counts
        ):
            keeping = {False, channels == form.channel_tiles and steps == every}
            for keeps in keeping:
                plain = Tile(outputs, tuple(sizes), channels, steps, keeps_weights=keeps)
                yield plain
                if threads < 2:
                    continue
                if not keeps and form.output_tiles // outputs % threads == 0:
                    yield Tile(outputs, tuple(sizes), channels, steps, threads)
                for at, (size, position) in enumerate(zip(sizes, form.positions, strict=True)):
                    if position.extent % (size * threads) == 0:
                        yield Tile(outputs, tuple(sizes), channels, steps, threads, at, keeps)

    def counts(self, at: int) -> Sequence[int]:
        """Lengths of pieces of a position. Only the last two have tiles: others are run one by one."""
        position = self.form.positions[at]
        if at < len(self.form.positions) - 2:
            return [1]
        if at == len(self.form.positions) - 1:  # rows of tiles on the chip lie side by side
            return _divisors(position.extent)
        return sorted({ceil(position.extent / n) for n in range(1, min(position.extent, MOST_PIECES) + 1)} | {1})

    def steps_of(self, tile: Tile, at: int, position: Position) -> int:
        """How many steps of a position's window are on the chip at a time."""
        return tile.steps if at == self.form.first_window else position.steps

    def fits(self, tile: Tile) -> bool:
        """Whether all threads' tiles have room."""
        deep = self.target.reachable
        if tile.threads * self.data(tile) > deep("inp"):
            return False
        if self.weight_buffers(tile) * self.weights(tile) > deep("wgt"):
            return False
        return self.accumulators(tile) <= deep("acc")

    def weight_buffers(self, tile: Tile) -> int:
        """How many buffers there are for weights: one for each thread, or each turn."""
        if not tile.keeps_weights:
            return tile.threads
        return tile.threads if tile.outputs < self.form.output_tiles else 1

    def accumulators(self, tile: Tile) -> int:
        """How many tiles of words there are at a time."""
        places = tile.threads * prod(tile.counts)
        total, at_a_time = places * tile.outputs, tile.outputs
        divides = all(p.extent % count == 0 for p, count in zip(self.form.positions, tile.counts, strict=True))
        for stage in self.form.stages:
            if stage.copies:  # from here on outputs are computed one tile after the other
                at_a_time = 1
            if stage.copies or not divides:  # a tile that is shorter at the end is no whole buffer to compute in
                total += places * at_a_time * stage.planes
            for _, moves in stage.words:
                total += places * at_a_time * stage.planes if moves else self.form.output_tiles
        return total

    def data(self, tile: Tile) -> int:
        """How many tiles of data a step takes."""
        reach = (
            position.reach(count, self.steps_of(tile, at, position))
            for at, (position, count) in enumerate(zip(self.form.positions, tile.counts, strict=True))
        )
        return tile.channels * prod(reach)

    def data_transfers(self, tile: Tile) -> int:
        """In how many pieces these come from DRAM."""
        return tile.channels * (prod(tile.counts[:-1]) if self.form.is_picked else 1)

    def weights(self, tile: Tile) -> int:
        """How many tiles of weights a step takes."""
        steps = prod(self.steps_of(tile, at, p) for at, p in enumerate(self.form.positions))
        return tile.outputs * tile.channels * steps

    def sum_steps(self, tile: Tile) -> int:
        """How many steps it takes to sum a tile."""
        window = self.form.first_window
        parts = 1 if window is None else self.form.positions[window].steps // tile.steps
        return self.form.channel_tiles // tile.channels * parts

    def pieces(self, tile: Tile) -> int:
        """How many tiles there are along positions."""
        return prod(ceil(p.extent / count) for p, count in zip(self.form.positions, tile.counts, strict=True))

    def instructions(self, tile: Tile) -> int:
        """About how many tiles are loaded and multiplied, one by one."""
        return self.pieces(tile) * (self.form.output_tiles // tile.outputs) * self.sum_steps(tile)

    def multiplications(self) -> int:
        """Cycles of the matrix unit."""
        form = self.form
        return self.sums * form.channel_tiles * prod(p.steps for p in form.positions)

    @property
    def sums(self) -> int:
        """How many accumulators there are in all."""
        return self.form.output_tiles * prod(p.extent for p in self.form.positions)

    def epilogue(self) -> int:
        """Cycles of the ALU, and of setting accumulators to zero."""
        cycles = 1
        for stage in self.form.stages:
            once = stage.operations * self.target.alu_cycles + stage.copies * (1 + self.target.alu_cycles)
            cycles += once * stage.planes
        return self.sums * cycles

    def cycles(self, tile: Tile) -> float:
        """How long a product takes: its units one after the other, or beside each other with several threads."""
        target, form = self.target, self.form
        latency, speed = target.dram_latency, target.dram_bytes
        steps, tiles = self.sum_steps(tile), self.pieces(tile) * (form.output_tiles // tile.outputs)
        data = self.data_transfers(tile) * latency + self.data(tile) * target.memories["inp"].tile_bytes / speed
        weights = latency + self.weights(tile) * target.memories["wgt"].tile_bytes / speed
        kept = weights * (form.output_tiles // tile.outputs) if tile.keeps_weights else 0.0
        if tile.along is None:
            data /= tile.threads
        else:
            weights /= tile.threads
        load = data if tile.keeps_weights else data + weights
        plane = latency * tile.outputs + prod(tile.counts) * tile.outputs * target.memories["out"].tile_bytes / speed
        store = plane * (form.stages[-1].planes if form.stages else 1)
        multiply = self.multiplications() / (tiles * steps)
        if tile.threads == 1:
            return tiles * (steps * (load + multiply) + store) + kept + self.epilogue()
        moved = (tiles * (steps * load + store)) + kept
        computed = tiles * steps * max(load, multiply) + self.epilogue()
        return max(computed, moved) + load + store + kept


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]
