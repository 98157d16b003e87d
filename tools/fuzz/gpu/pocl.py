"""A lowered kernel on the OpenCL device of this machine."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilework.backends.registry import backend_for
from tilework.runtime.devices.opencl.device import link
from tilework.targets import Target
from tilework.tools.fuzz.check import Array


def run_on_pocl(module: ModuleOp, target: Target, inputs: list[Array], like: list[Array]) -> list[Array]:
    """What the kernel computes there. Raises TileworkError where there is no device."""
    code = backend_for(target).compile_kernels(module, target)
    outputs = [np.full_like(array, np.nan) for array in like]
    kernel = link([code], str(target), "", [], None)
    scratch = [np.empty(max(size, 1), np.uint8) for size in kernel.sizes[len(inputs) + len(outputs) :]]
    arrays = [*inputs, *outputs, *scratch]
    kernel.entry(*(array.ctypes.data for array in arrays))
    return outputs
