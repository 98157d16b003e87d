"""What TVM was built with."""

from __future__ import annotations


def libinfo() -> dict[str, str]:
    """Which parts there are, by TVM's names of its build options."""
    return {"TVM_VERSION": "0.8.0", "USE_LLVM": "ON", "USE_OPENCL": "ON", "USE_CUDA": "ON", "USE_VULKAN": "OFF"}
