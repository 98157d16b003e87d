"""Numbers of devices with blocks of threads: what nearly every device of a kind has.

NVIDIA's are from the tables of compute capabilities in the CUDA C++ programming guide; those of OpenCL and Metal are
the smallest that usual devices have. A kernel for them runs on larger ones too.
"""

from __future__ import annotations

from tilework.targets.gpu.target import GpuTarget

NVIDIA = {
    "sm_75": 40,
    "sm_80": 108,
    "sm_86": 84,
    "sm_89": 128,
    "sm_90": 132,
    "sm_90a": 132,
    "sm_100": 148,
    "sm_120": 170,
}
"""The generations that code is made for, and how many multiprocessors the best known device of each has: T4, A100,
RTX 3090 Ti, RTX 4090, H100, B200, RTX 5090."""

DEVICES = {
    "opencl": GpuTarget("opencl", cores=16, threads=256, shared_kib=32, warp=1),
    "cuda": GpuTarget("cuda", cores=NVIDIA["sm_80"], threads=1024, shared_kib=48, warp=32, arch="sm_80"),
    "metal": GpuTarget("metal", cores=8, threads=1024, shared_kib=32, warp=32),
}
