"""Native code on the rows of a table, block after block, into one result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.runtime.module import Module

Array = NDArray[Any]


def in_blocks(module: Module, blocks: Iterable[Sequence[Array]], rows: int, others: Sequence[Array] = ()) -> Array:
    """What a module with one output makes of so many rows, given their blocks, and others that all blocks share."""
    made: Array | None = None
    at = 0
    for arrays in blocks:
        stop = at + len(arrays[0])
        if made is None:
            first = module(*arrays, *others)
            assert isinstance(first, np.ndarray)
            if stop == rows:
                return first
            made = np.empty((rows, *first.shape[1:]), first.dtype)
            made[:stop] = first
        else:
            given = {spec.name: array for spec, array in zip(module.inputs, (*arrays, *others), strict=True)}
            module.run(given, {module.outputs[0].name: made[at:stop]})
        at = stop
    assert made is not None, "tables have rows"
    return made
