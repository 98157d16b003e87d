"""A kernel for a device with blocks of threads: source, and how its functions are launched.

The bytes are a line of JSON, and then the source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, NamedTuple

from tilework.algebra.index_expr import Expr
from tilework.algebra.parse import parse

Sizes = tuple[str, str, str]
"""Sizes along x, y and z, as expressions over symbols."""


@dataclass(frozen=True)
class BufferUse:
    """A buffer that a kernel takes: how many bytes, over symbols, and whether what is in it matters before and behind.

    element: how many bytes one of its elements has.
    """

    bytes: str
    is_read: bool
    is_written: bool
    element: int


@dataclass(frozen=True)
class LaunchUse:
    """A function of the source, launched with so many blocks, and threads a block.

    buffers: which of the kernel's it is given; numbers: expressions over symbols, which it is given behind them.
    """

    function: str
    buffers: tuple[int, ...]
    numbers: tuple[str, ...]
    blocks: Sizes
    threads: Sizes


@dataclass(frozen=True)
class RepeatUse:
    """Steps that are done for every value of an index, a symbol inside, from the lower up to the upper bound."""

    index: str
    lower: str
    upper: str
    steps: tuple[Step, ...]


Step = LaunchUse | RepeatUse


class Launch(NamedTuple):
    """A launch with numbers."""

    function: str
    buffers: tuple[int, ...]
    numbers: tuple[int, ...]
    blocks: tuple[int, int, int]
    threads: tuple[int, int, int]


@dataclass(frozen=True)
class LaunchProgram:
    """A kernel: the buffers and the symbols that it takes, and what is launched, one behind the other."""

    source: str
    buffers: tuple[BufferUse, ...]
    symbols: tuple[str, ...]
    steps: tuple[Step, ...]

    def launches(self, symbols: Sequence[int]) -> Iterator[Launch]:
        """The launches where symbols have these values; none that has no blocks or no threads."""
        return _launches(self.steps, dict(zip(self.symbols, symbols, strict=True)))

    def sizes(self, symbols: Sequence[int]) -> tuple[int, ...]:
        """How many bytes each buffer has."""
        values = dict(zip(self.symbols, symbols, strict=True))
        return tuple(_number(buffer.bytes, values) for buffer in self.buffers)

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
        buffers = tuple(BufferUse(**buffer) for buffer in values["buffers"])
        return LaunchProgram(source, buffers, (*values["symbols"],), (*map(_step, values["steps"]),))


def _step(values: Mapping[str, Any]) -> Step:
    if "steps" in values:
        return RepeatUse(values["index"], values["lower"], values["upper"], (*map(_step, values["steps"]),))
    lists = {name: tuple(value) for name, value in values.items() if name != "function"}
    return LaunchUse(values["function"], **lists)


def _launches(steps: Sequence[Step], symbols: Mapping[str, int]) -> Iterator[Launch]:
    for step in steps:
        if isinstance(step, RepeatUse):
            for index in range(_number(step.lower, symbols), _number(step.upper, symbols)):
                yield from _launches(step.steps, {**symbols, step.index: index})
            continue
        x, y, z = (_number(size, symbols) for size in step.blocks)
        i, j, k = (_number(size, symbols) for size in step.threads)
        if min(x, y, z, i, j, k) > 0:
            numbers = tuple(_number(number, symbols) for number in step.numbers)
            yield Launch(step.function, step.buffers, numbers, (x, y, z), (i, j, k))


def _number(text: str, symbols: Mapping[str, int]) -> int:
    return int(_parsed(text).evaluate(symbols))


@cache
def _parsed(text: str) -> Expr:
    return parse(text)
