"""A processor as a target: what code generation and rules may know about it, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from tilework.algebra.errors import UsageError
from tilework.targets.base import Measured, Target, TileShape
from tilework.targets.cpu.machines import Bandwidth, Machine, machine_of

DEFAULT_CACHE_BYTES = (32 << 10, 512 << 10, 8 << 20)
DEFAULT_CORES = 4

INEXPRESSIBLE = {
    "llvm": frozenset[str](),
    "c": frozenset({"amx-bf16", "amx-tile", "avx512bf16", "avxvnni", "avx512vnni", "bf16", "i8mm"}),
}
"""Kind -> the extensions whose instructions its code generator has no words for; `CpuTarget.has` does not count them.

Plain C has vectors of the compiler's, but neither tiles of a matrix nor dot products of bytes or of bfloat16.
"""

_SYSTEMS = {"linux": "linux", "darwin": "macos", "macos": "macos", "windows": "windows"}
"""How a triple's word begins -> the system, with Apple's two names for one made one."""


def architecture_in(triple: str) -> str:
    """The first word of a triple, with Apple's spelling of aarch64 made LLVM's."""
    word = triple.split("-", 1)[0]
    return "aarch64" if word == "arm64" else word


@dataclass(frozen=True)
class CpuTarget(Target):
    """A processor to compile for.

    triple: LLVM's target triple. cpu: LLVM's processor name. features: signed extensions, such as "+avx2" or "-sse4a".
    cache_bytes: data caches of level 1, 2 and 3.
    """

    triple: str
    cpu: str
    features: tuple[str, ...]
    cache_bytes: tuple[int, int, int] = DEFAULT_CACHE_BYTES

    family: ClassVar[str] = "cpu"

    @classmethod
    def of(cls, target: Target, kind: str) -> CpuTarget:
        """A target that is a processor of that kind; a UsageError for one that is not."""
        if not isinstance(target, cls) or target.kind != kind:
            raise UsageError(f"this code is for targets of the kind '{kind}', not for '{target}'")
        return target

    @cached_property
    def machine(self) -> Machine:
        """What was measured of this processor."""
        return machine_of(self.cpu, self.enabled)

    @property
    def core_cache_bytes(self) -> int:
        """The size of the second cache."""
        return self.cache_bytes[1]

    @property
    def near_bytes(self) -> int:
        """What stays in the second cache while more goes through it."""
        return int(self.cache_bytes[1] * self.machine.caches.near_share)

    @property
    def memory_speed(self) -> float:
        """How many bytes of weights a core gets from memory each cycle; of those that stay, from the last cache."""
        return self.bandwidth.memory

    @property
    def measured(self) -> Measured:
        """What was measured of the processor, as far as passes for every family ask about it."""
        return self.machine.measured

    def keeps_weights(self, count: int) -> bool:
        """Whether so many bytes of weights stay in the last cache from one run of a program to the next."""
        caches = self.machine.caches
        return count <= min(caches.weights_share * self.cache_bytes[2], caches.weights_most)

    def kept_speed(self, count: int) -> float:
        """Bytes a cycle to and from so many bytes that are written, and read when all of them are there."""
        if count <= self.near_bytes:
            return self.bandwidth.second
        kept = self.cache_bytes[2] * self.machine.caches.written_share
        return self.bandwidth.kept if count <= kept else self.bandwidth.memory

    @cached_property
    def enabled(self) -> frozenset[str]:
        """The extensions that the processor has, without their sign."""
        return frozenset(feature[1:] for feature in self.features if feature.startswith("+"))

    def has(self, feature: str) -> bool:
        """Whether code may use an instruction-set extension, by LLVM's name: `target.has("avx512vnni")`."""
        return feature in self.enabled and feature not in INEXPRESSIBLE[self.kind]

    @property
    def architecture(self) -> str:
        """The first word of the triple, with Apple's spelling of aarch64 made LLVM's."""
        return architecture_in(self.triple)

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

    @property
    def vectors_per_cycle(self) -> int:
        """How many instructions on whole vectors a core starts each cycle."""
        return 1 if self.vector_bits == 512 and self.machine.core.halves_widest else 2

    @property
    def multiplies_per_cycle(self) -> float:
        """How many multiply-adds of whole vectors a core does each cycle while it loads what they multiply."""
        return self.machine.core.multiplies_per_cycle or self.vectors_per_cycle

    @cached_property
    def vector_registers(self) -> int:
        """How many vector registers a kernel may fill before it spills."""
        return 32 if self.has("avx512f") or self.architecture == "aarch64" else 16

    @cached_property
    def bandwidth(self) -> Bandwidth:
        """How fast operands come. For weights that stay, memory is the last cache."""
        speed = self.machine.bandwidth
        return replace(speed, memory=speed.staying) if self.weights_stay else speed

    @cached_property
    def folds_broadcasts(self) -> bool:
        """Whether instructions take one element of memory for all lanes; else that is loaded by one of its own."""
        return self.has("avx512f")

    @property
    def fuses(self) -> bool:
        """Whether an instruction multiplies and adds floats, rounding once."""
        return self.has("fma") or self.has("avx512f") or self.architecture == "aarch64"

    @cached_property
    def scales(self) -> bool:
        """Whether an instruction multiplies vectors of floats by powers of two, each lane by its own."""
        return self.has("avx512f")

    @property
    def dot_bits(self) -> int:
        """Up to which width an instruction multiplies vectors of bytes and adds up four products each."""
        if self.has("avx512vnni") and self.has("avx512vl"):
            return 512
        if self.has("avxvnni"):
            return 256
        return 128 if self.has("i8mm") else 0

    @property
    def bfloat16_dot_bits(self) -> int:
        """Up to which width an instruction multiplies vectors of numbers of bf16 and adds up two products each."""
        if self.has("avx512bf16") and self.has("avx512vl"):
            return 512
        return 128 if self.has("bf16") else 0

    @cached_property
    def multiplies_tiles(self) -> bool:
        """Whether an instruction multiplies matrices of bf16 in registers."""
        return self.has("amx-bf16") and self.has("amx-tile")

    @property
    def tile_shape(self) -> TileShape | None:
        """The shape of the tiles that it multiplies."""
        return TileShape(rows=16, columns=16, pairs=16, pair=2) if self.multiplies_tiles else None

    @property
    def tile_multiplications(self) -> int:
        """How many numbers of bf16 a core multiplies each cycle by tiles; 0 where it multiplies none."""
        return self.machine.tiles.multiplications_per_cycle if self.multiplies_tiles else 0

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

    def missing_features(self, host: CpuTarget) -> tuple[str, ...]:
        """The extensions that code for this target may use and `host` lacks, sorted."""
        return tuple(sorted(self.enabled - host.enabled))

    def __str__(self) -> str:
        caches = ",".join(map(str, self.cache_bytes))
        attributes = f" -mattr={','.join(self.features)}" if self.features else ""
        machine = f"{self.kind} -mtriple={self.triple} -mcpu={self.cpu}{attributes}"
        return f"{machine} -num-cores={self.cores} -cache-sizes={caches}"
