"""A kernel for VDLA as bytes: its stream, and where the stream has its arguments in DRAM.

The bytes are the number of arguments, for each of them the byte of DRAM at which it begins, how many bytes it has and
whether the stream writes it, all as little endian words of 64 bits, and then the stream.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_WORD = struct.Struct("<Q")
_BUFFER = struct.Struct("<QQQ")


@dataclass(frozen=True)
class Buffer:
    """An argument in DRAM."""

    place: int
    size: int
    is_written: bool

    @property
    def bytes(self) -> slice:
        """The bytes of DRAM that the argument takes."""
        return slice(self.place, self.place + self.size)


@dataclass(frozen=True)
class Program:
    """stream: as `encode` writes it. buffers: in the order of the arguments."""

    stream: bytes
    buffers: tuple[Buffer, ...]

    @property
    def dram_bytes(self) -> int:
        """How much DRAM it takes."""
        return max((buffer.bytes.stop for buffer in self.buffers), default=0)

    def encode(self) -> bytes:
        """The program as bytes."""
        buffers = (_BUFFER.pack(b.place, b.size, b.is_written) for b in self.buffers)
        return b"".join((_WORD.pack(len(self.buffers)), *buffers, self.stream))

    @staticmethod
    def decode(data: bytes) -> Program:
        """The program that `encode` made these bytes of."""
        [count] = _WORD.unpack_from(data)
        places = range(_WORD.size, _WORD.size + count * _BUFFER.size, _BUFFER.size)
        read = (_BUFFER.unpack_from(data, place) for place in places)
        buffers = tuple(Buffer(place, size, bool(is_written)) for place, size, is_written in read)
        return Program(data[_WORD.size + count * _BUFFER.size :], buffers)
