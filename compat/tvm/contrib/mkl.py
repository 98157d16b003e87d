"""`tvm.contrib.mkl`: as `cblas`."""

from tilework.compat.tvm.contrib.cblas import batch_matmul, matmul

__all__ = ["batch_matmul", "matmul"]
