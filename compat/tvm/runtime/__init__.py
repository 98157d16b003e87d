"""What runs: arrays, devices, compiled modules."""

from tilework.compat.tvm.runtime.convert import convert
from tilework.compat.tvm.runtime.device import Device, cpu, cuda, device, gpu, metal, opencl, rocm, vulkan
from tilework.compat.tvm.runtime.module import Module, enabled, load_module
from tilework.compat.tvm.runtime.ndarray import NDArray

__all__ = [
    "Device",
    "Module",
    "NDArray",
    "convert",
    "cpu",
    "cuda",
    "device",
    "enabled",
    "gpu",
    "load_module",
    "metal",
    "opencl",
    "rocm",
    "vulkan",
]
