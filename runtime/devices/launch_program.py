"""A kernel for a device with blocks of threads: source, and how its functions are launched.

The bytes are a line of JSON, and then the source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache

from tilework.algebra.index_expr import Expr
from tilework.algebra.parse import parse_index

Sizes = tuple[str, str, str]
"""Along x, y and z; expressions over symbols."""


@dataclass(frozen=True)
class BufferUse:
    """A buffer that a kernel takes: how many bytes, over symbols; whether what is in it before and behind matters."""

    bytes: str
    is_read: bool
    is_written: bool


@dataclass(frozen=True)
class LaunchUse:
    """A function of the source, and how many blocks and threads a block it is launched with."""

    function: str
    blocks: Sizes
    threads: Sizes


@dataclass(frozen=True)
class LaunchProgram:
    """Functions that take all buffers, then all symbols as integers of 64 bits; they are launched one after the other."""

    source: str
    buffers: tuple[BufferUse, ...]
    symbols: tuple[str, ...]
    launches: tuple[LaunchUse, ...]

    def encode(self) -> bytes:
        """The program as bytes."""
        values = asdict(self)
        source = values.pop("source")
        return f"{json.dumps(values)}\n{source}".encode()

    @staticmethod
    def decode(data: bytes) -> LaunchProgram:
        """The program that `encode` made these bytes of."""
        head, _, source = data.decode().partition("\n")
        values = json.loads(head)
        return LaunchProgram(
            source,
            tuple(BufferUse(**buffer) for buffer in values["buffers"]),
            tuple(values["symbols"]),
            tuple(LaunchUse(u["function"], (*u["blocks"],), (*u["threads"],)) for u in values["launches"]),
        )


def sizes_of(texts: Sequence[str], symbols: Mapping[str, int]) -> tuple[int, ...]:
    """Numbers for expressions over symbols with these values."""
    return tuple(int(_parsed(text).evaluate(symbols)) for text in texts)


@cache
def _parsed(text: str) -> Expr:
    return parse_index(text)
