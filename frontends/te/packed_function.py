"""A compiled program that calls functions of Python: kernels and calls, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr, Key, const
from tilework.dialects.support.packed_functions import function_named
from tilework.frontends.te.buffers import Buffer
from tilework.frontends.te.extern import ExternOp
from tilework.frontends.te.index import is_index, to_index
from tilework.frontends.te.tensor import Tensor
from tilework.runtime.arrays import aligned_empty, dtype_named
from tilework.runtime.function import Function


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel and the tensors that are its arguments."""

    function: Function
    arguments: tuple[Tensor, ...]


class PackedFunction:
    """Called with arrays as a `Function` is. What is neither an argument nor needed any more has memory of its own."""

    def __init__(self, name: str, arguments: Sequence[Tensor], steps: Sequence[CompiledKernel | ExternOp]):
        self.entry_name = name
        self.arguments = list(arguments)
        self.steps = list(steps)

    @property
    def object_code(self) -> bytes:
        """The code of all kernels."""
        return b"".join(step.function.object_code for step in self.steps if isinstance(step, CompiledKernel))

    def __call__(self, *args: Any) -> None:
        """Run. Raises UsageError for arrays that do not fit, and what the functions raise."""
        if len(args) != len(self.arguments):
            known = ", ".join(tensor.name for tensor in self.arguments)
            raise UsageError(f"{self.entry_name} takes {len(self.arguments)} arrays ({known}); {len(args)} given")
        arrays: dict[Tensor, Any] = dict(zip(self.arguments, args, strict=True))
        sizes = _sizes(arrays)
        for step in self.steps:
            tensors = step.arguments if isinstance(step, CompiledKernel) else [*step.inputs, *step.outputs]
            for tensor in tensors:
                if tensor not in arrays:
                    shape = tuple(_number(dim, sizes) for dim in tensor.dims)
                    arrays[tensor] = aligned_empty(shape, dtype_named(tensor.dtype))
            if isinstance(step, CompiledKernel):
                step.function(*(arrays[tensor] for tensor in tensors))
            else:
                _call(step, [arrays[tensor] for tensor in tensors], sizes)

    def __repr__(self) -> str:
        return f"PackedFunction({self.entry_name}: {', '.join(map(str, self.arguments))})"


def _call(step: ExternOp, arrays: Sequence[Any], sizes: Mapping[Key, Expr]) -> None:
    assert step.call is not None
    of_buffer = dict(zip(step.buffers, arrays, strict=True))

    def given(arg: object) -> Any:
        if isinstance(arg, Buffer):
            return of_buffer[arg]
        return _number(to_index(arg), sizes) if is_index(arg) else arg

    function_named(step.call.name)(*map(given, step.call.args))


def _sizes(arrays: Mapping[Tensor, Any]) -> dict[Key, Expr]:
    """The values of symbols that are by themselves dimensions of arguments."""
    found: dict[Key, Expr] = {}
    for tensor, array in arrays.items():
        for dim, size in zip(tensor.dims, np.shape(array), strict=False):
            if dim.as_var is not None:
                found.setdefault(dim.as_var, const(size))
    return found


def _number(e: Expr, sizes: Mapping[Key, Expr]) -> int:
    number = e.substitute(sizes).constant
    if number is None:
        raise UsageError(f"the size {e} is not told by the arguments: add a tensor with this dimension")
    return number
