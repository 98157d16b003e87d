"""The contents of a table, by which it is recognized at a later fit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.runtime.pipelines.columns import arrow, column, is_array
from tilework.runtime.pipelines.folding import BLOCK

Array = NDArray[Any]


@dataclass(frozen=True)
class Source:
    """A table that somebody may change in place: only its contents tell whether it is the same as before.

    pieces: arrays of as many rows as the table has. buffers: the bytes of columns that pyarrow has.
    types: of these columns, to their library and to pyarrow: libraries have different missing values.
    """

    pieces: tuple[Array, ...]
    buffers: tuple[Any, ...]
    types: tuple[str, ...]

    @staticmethod
    def of(table: Any, keys: Sequence[Any]) -> Source | None:
        """The source with these columns; None where some are Python objects or lists, or are called the same.

        To read objects takes as long as to use them.
        """
        if len({*keys}) < len(keys):
            return None
        columns = [table] if is_array(table) else [column(table, key) for key in keys]
        pieces, buffers, types = list[Array](), list[Any](), list[str]()
        for values in columns:
            dtype = getattr(values, "dtype", None)
            if isinstance(dtype, np.dtype):
                if dtype.kind == "O":
                    return None
                pieces.append(values if is_array(values) else values.to_numpy())
                continue
            found = arrow(values)
            if found is None or not _is_flat(found.type):
                return None
            types.append(f"{type(values)} {dtype!r} {found.type} {len(found)}")
            buffers += _buffers(found)
        return Source(tuple(pieces), tuple(buffers), tuple(types))

    @property
    def nbytes(self) -> int:
        """How many bytes a digest reads."""
        return sum(piece.nbytes for piece in self.pieces) + sum(len(memoryview(each)) for each in self.buffers)

    def digest(self) -> bytes:
        """What stands for these contents: other contents have another one."""
        made = _new_digest()
        made.update(repr([(piece.dtype.str, piece.shape) for piece in self.pieces] + [*self.types]).encode())
        for start in range(0, max((len(piece) for piece in self.pieces), default=0), BLOCK):
            for piece in self.pieces:  # block after block, so that columns that lie across each other are read once
                made.update(np.ascontiguousarray(piece[start : start + BLOCK]).reshape(-1).view(np.uint8))
        for each in self.buffers:
            made.update(len(memoryview(each)).to_bytes(8))
            made.update(each)
        return made.digest()


def _is_flat(type_: Any) -> bool:
    """Whether the buffers of an array of pyarrow, and those of its dictionary, say all that is in it."""
    pa = import_module("pyarrow")
    return not pa.types.is_nested(type_) and not isinstance(type_, pa.BaseExtensionType)


def _buffers(values: Any) -> Iterator[Any]:
    """The bytes of a column of pyarrow, each chunk's offset and length before its own."""
    for chunk in getattr(values, "chunks", [values]):
        yield f"{chunk.offset} {len(chunk)}".encode()
        if hasattr(chunk, "dictionary"):
            yield from _buffers(chunk.indices)
            yield from _buffers(chunk.dictionary)
        else:
            yield from (b"" if each is None else each for each in chunk.buffers())


def digest_of(*arrays: Array) -> bytes:
    """What stands for the contents of a few arrays."""
    return Source(arrays, (), ()).digest()


@cache
def digest_speed() -> float:
    """How many bytes a second are read for a digest on this machine."""
    sample = np.ones(1 << 19)
    seconds: list[float] = []
    for _ in range(3):
        begun = time.perf_counter()
        digest_of(sample)
        seconds.append(time.perf_counter() - begun)
    return sample.nbytes / min(seconds)


def _new_digest() -> Any:
    """A digest of 128 bits or more: xxhash reads as fast as memory gives; SHA-256 where it is not installed."""
    try:
        return import_module("xxhash").xxh3_128()
    except ImportError:
        return sha256()
