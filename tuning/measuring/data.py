"""The inputs that candidates are run on: from a seed, so that another machine need not be sent them."""

from __future__ import annotations

import numpy as np

from tilework.runtime.arrays import Array, dtype_named
from tilework.runtime.tensor_spec import TensorSpec
from tilework.tuning.measuring.base import Workload

LARGEST = 4
"""No integer is larger, since it may be a subscript."""


def inputs_of(workload: Workload) -> list[Array]:
    """An array for each input: floats that are normally distributed, small integers that are not negative."""
    return [_array(spec, (workload.seed, i)) for i, spec in enumerate(workload.arguments[: workload.inputs])]


def _array(spec: TensorSpec, seed: tuple[int, int]) -> Array:
    dtype = dtype_named(spec.dtype)
    shape = tuple(int(d) for d in spec.shape)
    random = np.random.default_rng(seed)
    if dtype.kind in "biu":
        return random.integers(0, 2 if dtype.kind == "b" else LARGEST + 1, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)
