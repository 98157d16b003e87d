"""A target: everything that code generation and schedules may know about a machine, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

DEFAULT_CACHE_BYTES = (32 << 10, 512 << 10, 8 << 20)
DEFAULT_CORES = 4

LINE_BYTES = 64
"""A line of a cache."""

HALVED_512 = ("znver4",)
"""Processors that take a vector of 512 bits in two halves, by LLVM's names."""

_READING_AHEAD = ("znver4",)
"""Those whose hardware keeps up with a core that only reads."""


@dataclass(frozen=True)
class Bandwidth:
    """Bytes that a core moves each cycle, the others taking their share.

    second: to and from its second cache. shared: of what is read again, from the cache that cores share, and asked for
    beforehand; kept: of what kernels have written there; piecewise: in short pieces, which no one asks for; staying: of
    weights that are still there from the run before. memory: from memory. exchange: of what another core has just
    written.
    """

    second: float = 32.0
    shared: float = 16.0
    kept: float = 16.0
    piecewise: float = 8.0
    staying: float = 8.0
    memory: float = 5.0
    exchange: float = 2.5


_ZEN4 = Bandwidth(staying=16.0)
_ZEN5 = Bandwidth(second=64.0, shared=24.0, kept=24.0, piecewise=16.0, staying=16.0, memory=8.0, exchange=4.0)
_RAPIDS = Bandwidth(second=24.0, kept=7.5, piecewise=7.5, staying=7.5, memory=4.0, exchange=1.5)
_BY_NAME = {"znver4": _ZEN4, "znver5": _ZEN5}

_RAPIDS_MULTIPLIES = 1.65
"""As `Target.multiplies_per_cycle`: measured with tiles of 14 x 2 vectors, in C as well; 1.9 and more without loads."""

_WEIGHTS_STAY = 3 / 8
"""The part of the last cache that weights may take: others use it as well, and algorithms make weights larger."""

_KEPT = 1 / 2
"""The part of the last cache that what a kernel has just written may take."""

_MOST_STAYS = 32 << 20
"""Of a cache that is larger, cores have parts that a virtual machine does not see."""

_SYSTEMS = {"linux": "linux", "darwin": "macos", "macos": "macos", "windows": "windows"}
"""How a triple's word begins -> the system, with Apple's two names for one made one."""


@dataclass(frozen=True)
class Target:
    """A machine to compile for. `str(target)` is a text form that `parse_target` reads back to an equal value.

    triple: LLVM's target triple. cpu: LLVM's processor name. features: signed extensions, such as "+avx2" or "-sse4a".
    cores: how many threads a parallel loop should feed. cache_bytes: data caches of level 1, 2 and 3. weights_stay: see
    `with_weights`, whose answers have no text form of their own.
    """

    name: Literal["llvm", "c"]
    triple: str
    cpu: str
    features: tuple[str, ...]
    cores: int = DEFAULT_CORES
    cache_bytes: tuple[int, int, int] = DEFAULT_CACHE_BYTES
    weights_stay: bool = False

    def with_weights(self, count: int) -> Target:
        """This machine as it runs what has so many bytes of weights again and again: few stay in the last cache.

        For estimates, which compare kernels of a program. Schedules are for any program that has the kernel.
        """
        return replace(self, weights_stay=count <= min(_WEIGHTS_STAY * self.cache_bytes[2], _MOST_STAYS))

    @property
    def near_bytes(self) -> int:
        """What stays in the second cache while more goes through it."""
        return self.cache_bytes[1] * 3 // 4

    def kept_speed(self, count: int) -> float:
        """Bytes a cycle to and from so many bytes that are written, and read when all of them are there."""
        if count <= self.near_bytes:
            return self.bandwidth.second
        return self.bandwidth.kept if count <= self.cache_bytes[2] * _KEPT else self.bandwidth.memory

    @cached_property
    def enabled(self) -> frozenset[str]:
        """The extensions the machine has, without their sign."""
        return frozenset(feature[1:] for feature in self.features if feature.startswith("+"))

    def has(self, feature: str) -> bool:
        """Whether the machine has an instruction-set extension, by LLVM's name: `target.has("avx512vnni")`."""
        return feature in self.enabled

    @property
    def architecture(self) -> str:
        """The first word of the triple, with Apple's spelling of aarch64 made LLVM's."""
        word = self.triple.split("-", 1)[0]
        return "aarch64" if word == "arm64" else word

    @property
    def operating_system(self) -> str:
        """linux, macos or windows from the triple; its last word for another."""
        words = self.triple.split("-")
        for word in words:
            for prefix, name in _SYSTEMS.items():
                if word.startswith(prefix):
                    return name
        return words[-1]

    @cached_property
    def vector_bits(self) -> int:
        """Width of one vector register."""
        if self.has("avx512f"):
            return 512
        return 256 if self.has("avx2") else 128

    @cached_property
    def vectors_per_cycle(self) -> int:
        """How many instructions on whole vectors a core starts each cycle."""
        return 1 if self.vector_bits == 512 and self.cpu in HALVED_512 else 2

    @property
    def is_rapids(self) -> bool:
        """Whether it is a server of Intel's, Sapphire Rapids or later: a virtual machine may hide its name."""
        return self.has("avx512fp16") and not self.cpu.startswith("znver")

    @property
    def multiplies_per_cycle(self) -> float:
        """How many multiply-adds of whole vectors a core does each cycle while it loads what they multiply."""
        return _RAPIDS_MULTIPLIES if self.is_rapids else self.vectors_per_cycle

    @cached_property
    def vector_registers(self) -> int:
        """How many vector registers a kernel may fill before it spills."""
        return 32 if self.has("avx512f") or self.architecture == "aarch64" else 16

    @cached_property
    def bandwidth(self) -> Bandwidth:
        """How fast operands come. For weights that stay, memory is the last cache."""
        speed = _RAPIDS if self.is_rapids else _BY_NAME.get(self.cpu, Bandwidth())
        return replace(speed, memory=speed.staying) if self.weights_stay else speed

    @property
    def reads_ahead(self) -> bool:
        """Whether what is only read comes fastest where nothing is asked for: requests take the place of loads."""
        return self.cpu in _READING_AHEAD

    @cached_property
    def folds_broadcasts(self) -> bool:
        """Whether instructions take one element of memory for all lanes; else that is loaded by one of its own."""
        return self.has("avx512f")

    @cached_property
    def fuses(self) -> bool:
        """Whether an instruction multiplies and adds floats, rounding once."""
        return self.has("fma") or self.has("avx512f") or self.architecture == "aarch64"

    @cached_property
    def scales(self) -> bool:
        """Whether an instruction multiplies vectors of floats by powers of two, each lane by its own."""
        return self.has("avx512f")

    @cached_property
    def dot_bits(self) -> int:
        """Up to which width an instruction multiplies vectors of bytes and adds up four products each."""
        if self.has("avx512vnni") and self.has("avx512vl"):
            return 512
        if self.has("avxvnni"):
            return 256
        return 128 if self.has("i8mm") else 0

    @cached_property
    def multiplies_tiles(self) -> bool:
        """Whether an instruction multiplies matrices of bf16 in registers: 16 rows of 32 numbers by 16 columns."""
        return self.has("amx-bf16") and self.has("amx-tile")

    @cached_property
    def tile_multiplications(self) -> int:
        """How many numbers of bf16 a core multiplies each cycle by tiles; 0 where it multiplies none."""
        return 512 if self.multiplies_tiles else 0

    @cached_property
    def masks_loads(self) -> bool:
        """Whether some lanes of a vector are loaded as fast as all of them."""
        return self.has("avx2") or self.has("avx512vl")

    @cached_property
    def partial_bits(self) -> int:
        """Up to which width any part of a vector is loaded or stored as fast as all of it."""
        return self.vector_bits if self.has("avx512vl") and self.has("avx512bw") else 0

    def lanes(self, element_bits: int) -> int:
        """How many elements of a width fill one vector register."""
        return self.vector_bits // element_bits

    def blocks(self, element_bits: int) -> tuple[int, ...]:
        """Sizes for blocks of channels: elements of a line of the caches, and of a vector if these are less."""
        line, vector = LINE_BYTES * 8 // element_bits, self.lanes(element_bits)
        return (line, vector) if vector < line else (vector,)

    def missing_features(self, host: Target) -> tuple[str, ...]:
        """The extensions that code for this target may use and `host` lacks, sorted."""
        return tuple(sorted(self.enabled - host.enabled))

    def __str__(self) -> str:
        caches = ",".join(map(str, self.cache_bytes))
        attributes = f" -mattr={','.join(self.features)}" if self.features else ""
        machine = f"{self.name} -mtriple={self.triple} -mcpu={self.cpu}{attributes}"
        return f"{machine} -num-cores={self.cores} -cache-sizes={caches}"
