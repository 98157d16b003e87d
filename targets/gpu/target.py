"""A device whose threads run in blocks as a target, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilework.algebra.errors import UsageError
from tilework.targets.base import Target


@dataclass(frozen=True)
class GpuTarget(Target):
    """A device to compile for.

    cores: the multiprocessors, of which each runs a block at least. threads: how many a block may have. shared_kib:
    memory that the threads of a block share. warp: how many threads run in step. arch: the generation of NVIDIA's
    devices, such as "sm_90"; empty for others.
    """

    threads: int
    shared_kib: int
    warp: int
    arch: str = ""

    family: ClassVar[str] = "gpu"

    @classmethod
    def of(cls, target: Target) -> GpuTarget:
        """A target that is such a device; a UsageError for one that is not."""
        if not isinstance(target, cls):
            raise UsageError(f"this code is for devices with blocks of threads, not for '{target}'")
        return target

    @property
    def shared_bytes(self) -> int:
        """How many bytes the threads of a block share."""
        return self.shared_kib << 10

    @property
    def thread_bytes(self) -> int:
        """How many bytes of buffers a thread may have to itself: beyond registers they are in slow memory."""
        return 16 << 10

    @property
    def core_registers(self) -> int:
        """How many registers the threads of a multiprocessor have together."""
        return 65536

    @property
    def thread_registers(self) -> int:
        """How many registers a thread may have: fewer are too few for large tiles, with more too few threads run."""
        return 128

    @property
    def resident_threads(self) -> int:
        """How many threads a multiprocessor runs at once that all have as many registers as they may have."""
        return self.core_registers // self.thread_registers

    def resident_blocks(self, threads: int, registers: int, shared: int) -> int:
        """How many blocks a multiprocessor runs at once of which each takes so much: one at least.

        A thread takes that many `registers`, the block as many bytes of `shared` memory.
        """
        together = self.core_registers // (threads * registers), 2 * self.resident_threads // threads
        return max(1, min(*together, 2 * self.shared_bytes // max(shared, 1)))

    @property
    def most_threads_z(self) -> int:
        """How many threads a block may have along z."""
        return 64

    @property
    def most_blocks_yz(self) -> int:
        """How many blocks there may be along y, and along z."""
        return 65535

    @property
    def vectors_per_cycle(self) -> int:
        """A thread computes with one number at a time."""
        return 1

    @property
    def fuses(self) -> bool:
        """Every such device multiplies and adds in one step."""
        return True

    @property
    def core_cache_bytes(self) -> int:
        """What a block keeps near are its shared buffers."""
        return self.shared_bytes

    @property
    def memory_speed(self) -> float:
        """Nothing was measured yet; estimates compare kernels with each other."""
        return 1.0

    @property
    def takes_every_kernel(self) -> bool:
        """Its memory is its own: what stayed on the host would be copied there and back."""
        return True

    @property
    def multiplies_halves(self) -> bool:
        """Warps of NVIDIA's devices do, by instructions that those from sm_80 on have."""
        return self.arch not in ("", "sm_75")

    def lanes(self, element_bits: int) -> int:
        """A thread computes with one number at a time."""
        return 1

    def __str__(self) -> str:
        arch = f" -arch={self.arch}" if self.arch else ""
        numbers = f"-threads={self.threads} -shared-kib={self.shared_kib} -warp={self.warp} -cores={self.cores}"
        return f"{self.kind}{arch} {numbers}"
