"""What every engine is given: random inputs, the same in every process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tilework.runtime.arrays import aligned
from tilework.runtime.artifact import read_artifact
from tilework.runtime.module import Module
from tilework.tools.bench.engines import Array
from tilework.tools.model_source import random_array, symbol_sizes


def random_feeds(artefact: str, dims: Mapping[str, int]) -> dict[str, Array]:
    """A value for every input that an artefact takes, as `feeds_of`.

    The artefact is read, not linked: nothing of ours starts a thread.
    """
    return feeds_of(Module.of(read_artifact(Path(artefact))), dims)


def feeds_of(module: Module, dims: Mapping[str, int]) -> dict[str, Array]:
    """A value for every input that a module takes, aligned to 64 bytes, as some engines need."""
    rng = np.random.default_rng(0)
    sizes = symbol_sizes(module, dims)
    return {spec.name: aligned(random_array(spec, sizes, rng)) for spec in module.manifest.inputs}


def relative_error(got: Array, wanted: Array) -> float:
    """The largest difference of two arrays, in units of the largest magnitude that is wanted.

    Infinity for arrays of different shapes, or where only one of them is no number.
    """
    if got.shape != wanted.shape:
        return float("inf")
    if wanted.size == 0:
        return 0.0
    left, right = got.astype(np.float64), wanted.astype(np.float64)
    equal = (left == right) | (np.isnan(left) & np.isnan(right))
    difference = float(np.where(equal, 0.0, np.abs(left - right)).max())
    magnitude = float(np.abs(right[np.isfinite(right)]).max(initial=0.0)) or 1.0
    return difference / magnitude if np.isfinite(difference) else float("inf")


def saved_results(path: str) -> list[Any]:
    """The arrays that `Subject.save` wrote, in order."""
    with np.load(path) as file:
        return [file[name] for name in file.files]
