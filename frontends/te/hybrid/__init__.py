"""te.hybrid: functions of Python whose statements are compiled, and which run in numpy as they are.

@te.hybrid.script
def outer(a, b):
    c = output_tensor((a.shape[0], b.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i, j] = a[i] * b[j]
    return c
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.frontends.te.arguments import kind
from tilework.frontends.te.hybrid.emulation import run_in_numpy
from tilework.frontends.te.hybrid.translation import translate
from tilework.frontends.te.index import IndexValue
from tilework.frontends.te.ir_builder import BufferVar
from tilework.frontends.te.scalar import ScalarLike
from tilework.frontends.te.tensor import Tensor

__all__ = ["script"]


def script(pyfunc: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function make tensors by its statements: of te tensors it makes te tensors, of arrays arrays in numpy.

    Its words beside Python's: output_tensor(shape, dtype), allocate(shape, dtype, scope), the loops parallel,
    vectorize, unroll and const_range beside range, and the functions of te, such as exp and popcount. Assertions on
    what is known only as the program runs are not checked by compiled code. Raises UsageError, with the line, for what
    is no statement of the kind.
    """
    if not callable(pyfunc):
        raise UsageError(f"te.hybrid.script takes a function, not {kind(pyfunc)}")

    @wraps(pyfunc)
    def hybrid(*args: Any) -> Any:
        if any(isinstance(arg, Tensor | ScalarLike | IndexValue | BufferVar) for arg in args):
            return translate(pyfunc, args)
        return run_in_numpy(pyfunc, args)

    return hybrid
