"""A lowered kernel on the OpenCL device of this machine."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.nibbles import is_narrow, unpack
from tilework.backends.registry import backend_for
from tilework.runtime.arrays import packed
from tilework.runtime.devices.opencl.device import link
from tilework.targets import Target
from tilework.tools.fuzz.check import Array


def run_on_pocl(module: ModuleOp, target: Target, inputs: list[Array], like: list[Array]) -> list[Array]:
    """What the kernel computes there. Raises TileworkError where there is no device."""
    code = backend_for(target).compile_kernels(module, target)
    outputs = [np.full(array.nbytes, 255, np.uint8).view(array.dtype).reshape(array.shape) for array in like]
    memory = [*map(_packed, inputs), *map(_packed, outputs)]
    kernel = link([code], str(target), "", [], None)
    scratch = [np.empty(max(size, 1), np.uint8) for size in kernel.sizes[len(inputs) + len(outputs) :]]
    kernel.entry(*(array.ctypes.data for array in (*memory, *scratch)))
    for array, written in zip(outputs, memory[len(inputs) :], strict=True):
        if written is not array:
            unpack(written, array)
    return outputs


def _packed(array: Array) -> Array:
    """An array as compiled code takes it: 4-bit integers two to a byte."""
    return packed(array) if is_narrow(array.dtype) else array
