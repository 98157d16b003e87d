"""Products as te programs, and the kernels of these."""

from __future__ import annotations

from tilework import te
from tilework.dialects.te import KernelOp


def matmul(n: int, m: int, k: int) -> list[te.Tensor]:
    """The tensors of a product of matrices."""
    a, b = te.placeholder((n, k), name="A"), te.placeholder((k, m), name="B")
    r = te.reduce_axis((0, k), name="k")
    return [a, b, te.compute((n, m), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")]


def kernel_of(program: list[te.Tensor]) -> KernelOp:
    """The kernel of a te program."""
    [kernel] = (op for op in te.create_schedule(program[-1].op).module().ops if isinstance(op, KernelOp))
    return kernel
