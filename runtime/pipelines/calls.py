"""Native code on the rows of a table, block after block, into one result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.runtime.module import Module
from tilework.runtime.pipelines.interface import Output
from tilework.runtime.pipelines.sparse import SparseColumns

Array = NDArray[Any]


def result_of(
    module: Module | None, output: Output, blocks: Iterable[Sequence[Array]], rows: int, others: Sequence[Array] = ()
) -> Any:
    """The result for so many rows, given their blocks; without a module, one that is made of codes alone."""
    if output.sparse is not None:
        return output.sparse.joined(_entries(module, output.sparse, blocks, others), np.dtype(output.dtype))
    assert module is not None, "what is no sparse matrix is computed"
    return output.of(in_blocks(module, blocks, rows, others))


def _entries(
    module: Module | None, sparse: SparseColumns, blocks: Iterable[Sequence[Array]], others: Sequence[Array]
) -> Iterator[tuple[Array, Array, Array]]:
    for arrays in blocks:
        numbers = None if module is None else module(*arrays, *others)
        assert not isinstance(numbers, tuple)
        yield sparse.entries(numbers, arrays)


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
