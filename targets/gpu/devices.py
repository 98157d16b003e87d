"""Numbers of devices with blocks of threads: what nearly every device of a kind has.

NVIDIA's are from the tables of compute capabilities in the CUDA C++ programming guide; those of OpenCL and Metal are
the smallest that usual devices have. A kernel for them runs on larger ones too.
"""

from __future__ import annotations

from tilework.targets.gpu.target import GpuTarget

NVIDIA = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120")
"""The generations that code is made for."""

DEVICES = {
    "opencl": GpuTarget("opencl", cores=1, threads=256, shared_kib=32, warp=1),
    "cuda": GpuTarget("cuda", cores=1, threads=1024, shared_kib=48, warp=32, arch="sm_80"),
    "metal": GpuTarget("metal", cores=1, threads=1024, shared_kib=32, warp=32),
}
