"""Arrays by TVM's name of the module."""

from tilework.compat.tvm.runtime.device import context, cpu, cuda, device, gpu, metal, opencl, rocm, vulkan
from tilework.compat.tvm.runtime.ndarray import NDArray, array, empty

__all__ = [
    "NDArray",
    "array",
    "context",
    "cpu",
    "cuda",
    "device",
    "empty",
    "gpu",
    "metal",
    "opencl",
    "rocm",
    "vulkan",
]
