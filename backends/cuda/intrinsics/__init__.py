"""Intrinsics of NVIDIA's devices as PTX, a file for each set."""
