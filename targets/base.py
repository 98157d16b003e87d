"""The base of all targets: what passes and rules may ask of a machine, whatever family it belongs to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self

LINE_BYTES = 64
"""A line of a cache has so many bytes, on every machine that there is a family for."""


@dataclass(frozen=True)
class Measured:
    """What was measured of a machine and passes ask about, whatever family it belongs to.

    The defaults are for a machine of which nothing was measured: passes leave programs as they are.
    """

    streamed_rows: int = 0
    """So few rows are multiplied by a matrix in less time than it takes to come from beyond a core's own caches."""
    quantized_rows: int = 0
    """So few rows are multiplied by a weight that is quantized in blocks, and dequantized in registers, in less time
    than algorithms for floats take."""
    near_row: int = 0
    """So many elements of a row stay near between one operator and the next."""
    moved_channels: int = 0
    """As many channels are summed, or as many filters applied, whichever are fewer, in the time that it takes to move
    an image and the result of its convolution."""
    winograd_products: float = 0.0
    """Winograd's algorithm is faster than the direct sum if it takes this part of its products, or a smaller one."""
    prefetch_runs: int = 1
    """In so many runs at a time a block is asked for: a core gets more from memory in several pages than in one."""


class TileShape(NamedTuple):
    """What one instruction multiplies: `rows` of `pairs` groups of `pair` numbers by as many groups of `columns`."""

    rows: int
    columns: int
    pairs: int
    pair: int

    @property
    def channels(self) -> int:
        """Numbers in a row of the first factor."""
        return self.pairs * self.pair


@dataclass(frozen=True)
class Target(ABC):
    """A machine to compile for. `str(target)` is a text form that `parse_target` reads back to an equal value.

    kind: the first word of the text form, such as "llvm". cores: how many threads a parallel loop should feed.
    weights_stay: what `with_weights` found, which has no text form of its own.
    """

    kind: str
    cores: int
    weights_stay: bool = field(default=False, kw_only=True)

    family: ClassVar[str]
    """The folder in `targets/` and in `rules/` that knows such machines."""

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def lanes(self, element_bits: int) -> int:
        """How many elements of a width fill one vector register."""

    @property
    @abstractmethod
    def vectors_per_cycle(self) -> int:
        """How many instructions on whole vectors a core starts each cycle."""

    @property
    def fuses(self) -> bool:
        """Whether an instruction multiplies and adds floats and rounds once."""
        return False

    @property
    def dot_bits(self) -> int:
        """Up to which width an instruction multiplies vectors of bytes and adds up four products each; 0 for none."""
        return 0

    @property
    def tile_multiplications(self) -> int:
        """How many numbers of bfloat16 a core multiplies each cycle in tiles of a matrix; 0 where it has no tiles."""
        return 0

    @property
    def tile_shape(self) -> TileShape | None:
        """The shape of the tiles of bfloat16 that it multiplies; None where it has no tiles."""
        return None

    @property
    @abstractmethod
    def core_cache_bytes(self) -> int:
        """The size of the largest cache that a core has to itself."""

    @property
    def near_bytes(self) -> int:
        """How many bytes stay in that cache while more goes through it."""
        return self.core_cache_bytes

    @property
    @abstractmethod
    def memory_speed(self) -> float:
        """How many bytes of weights a core gets from memory each cycle, or from nearer by where `weights_stay`."""

    @property
    def measured(self) -> Measured:
        """What was measured of the machine, as far as passes for every family ask about it."""
        return Measured()

    def keeps_weights(self, count: int) -> bool:
        """Whether so many bytes of weights are still in a cache when a program that reads them runs again."""
        return False

    def moves_by_units(self, scope: str) -> bool:
        """Whether loops become instructions that touch buffers of a scope of intrinsics: copies and computations."""
        return False

    @property
    def takes_every_kernel(self) -> bool:
        """Whether all kernels of a program that has such a device run there, but for those of other devices."""
        return False

    @property
    def multiplies_halves(self) -> bool:
        """Whether products of f16 and of bf16, with sums of f32, are faster than those of f32."""
        return False

    def with_weights(self, count: int) -> Self:
        """This machine as it runs a program with so many bytes of weights again and again.

        It is for estimates, which compare kernels of one program. Schedules are for any program that has the kernel.
        """
        return replace(self, weights_stay=self.keeps_weights(count))

    def blocks(self, element_bits: int) -> tuple[int, ...]:
        """Sizes for blocks of channels: as many elements as fill a line of the caches, and a vector if that is less."""
        line, vector = LINE_BYTES * 8 // element_bits, self.lanes(element_bits)
        return (line, vector) if vector < line else (vector,)
