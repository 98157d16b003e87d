"""One compiled kernel as a Python function of arrays: `f(a, b, c)` reads a and b and writes c."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np

from tilework.algebra.errors import TileworkError, UsageError
from tilework.algebra.nibbles import is_narrow, unpack
from tilework.algebra.requirement import Requirement
from tilework.runtime.addresses import addresses, are_apart
from tilework.runtime.arena import ArenaPool
from tilework.runtime.arrays import ALIGNMENT, Array, dtype_named, input_array, packed, packed_empty
from tilework.runtime.call_sizes import CallSizes, SizesOfCalls
from tilework.runtime.devices.device_arrays import is_on_device, overlap
from tilework.runtime.devices.launching import LaunchedKernel
from tilework.runtime.devices.registry import link
from tilework.runtime.shapes import InputShapes
from tilework.runtime.tensor_spec import Dim, TensorSpec
from tilework.runtime.threads import get_num_threads

_Memory = TypeVar("_Memory")
"""What an array is, on the host or on a device."""


@dataclass(frozen=True)
class FunctionInfo:
    """How to call a kernel.

    name: for people; entry: the C function `void entry(ptr inputs..., ptr outputs..., ptr scratch..., int64 symbols...,
    int32 num_threads)`. arguments: the arrays in the order of the Python call; inputs, outputs: which of them are the
    kernel's, in its order. symbols: the names of its symbols in its order, each somewhere an input's dimension by
    itself. scratch_bytes: the size of each scratch buffer, over the symbols. target: as `parse_target` reads.
    requirements: what the symbols must be where it may be called.
    checks: what is wrong where a subscript that the kernel checks is out of bounds; if there are any, it has one more
    output: for each of them three int64, whether it was so, with what subscript, and the size.
    """

    name: str
    entry: str
    arguments: tuple[TensorSpec, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    symbols: tuple[str, ...]
    scratch_bytes: tuple[Dim, ...]
    target: str
    requirements: tuple[Requirement, ...] = ()
    checks: tuple[str, ...] = ()


class Function:
    """Called with numpy arrays, those to write to among them; several threads may call at once, the GIL is released.

    Inputs are copied only if strided or misaligned. Arrays that are written must be contiguous, and share no memory
    with others of the call. Those of 4-bit integers, of which ml_dtypes has one to a byte and compiled code two, are
    packed before the call and unpacked after it. Code for another machine can be held; calling it is refused.
    """

    def __init__(self, info: FunctionInfo, object_code: bytes):
        self.info = info
        self.object_code = object_code
        self._dtypes = [dtype_named(spec.dtype) for spec in info.arguments]
        self._written = set(info.outputs)
        self._narrow = {i for i, dtype in enumerate(self._dtypes) if is_narrow(dtype)}
        self._unpacked = self._narrow & self._written
        self._passed = (*info.inputs, *info.outputs)
        self._sizes = SizesOfCalls(
            InputShapes([info.arguments[i] for i in info.inputs], info.symbols, info.name, info.requirements),
            [info.arguments[i].shape for i in info.outputs],
            info.scratch_bytes,
        )
        self._arenas = ArenaPool()
        pointers = [ctypes.c_void_p] * (len(info.arguments) + bool(info.checks) + len(info.scratch_bytes))
        types = [*pointers, *[ctypes.c_int64] * len(info.symbols), ctypes.c_int32]
        self._linked = link([object_code], info.target, info.entry, types)

    @property
    def entry_name(self) -> str:
        """The name that the function was built with."""
        return self.info.name

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """What it reads."""
        return tuple(self.info.arguments[i] for i in self.info.inputs)

    def run(self, inputs: Mapping[str, object]) -> dict[str, Array]:
        """Run on inputs given by name. Returns the outputs by name, as fresh arrays; raises as a call does."""
        names = [spec.name for spec in self.inputs]
        if {*inputs} != {*names}:
            raise UsageError(f"{self.info.name} takes {', '.join(names)}; given are {', '.join(inputs) or 'none'}")
        arrays = dict(inputs)
        shapes = tuple(self._readable(arrays[spec.name], spec, dtype_named(spec.dtype)).shape for spec in self.inputs)
        for i, shape in zip(self.info.outputs, self._sizes.of(shapes).outputs, strict=True):
            arrays[self.info.arguments[i].name] = np.empty(shape, self._dtypes[i])
        self(*(arrays[spec.name] for spec in self.info.arguments))
        return {name: cast("Array", arrays[name]) for name in (self.info.arguments[i].name for i in self.info.outputs)}

    def __call__(self, *args: object) -> None:
        """Run; on arrays of a device as they are, where all of them are there, such as tensors of PyTorch.

        Raises UsageError for an array of wrong kind, dtype or shape, or one that cannot be written, TileworkError where
        a subscript that is checked was out of bounds; results are of no use then.
        """
        if any(map(is_on_device, args)):
            self._run_on_device(args)
            return
        arrays = self._arrays(args)
        sizes = self._sizes.of(tuple([arrays[i].shape for i in self.info.inputs]))
        self._check_outputs(arrays, sizes)
        code = self._linked.code()
        arena = self._arenas.take(sum(map(_rounded, sizes.scratch)))
        memory = self._memory(arrays)
        reports = [np.zeros((len(self.info.checks), 3), np.int64)] if self.info.checks else []
        try:
            code.entry(
                *addresses([*(memory[i] for i in self._passed), *reports]),
                *_scratch_addresses(arena.address, sizes.scratch),
                *sizes.symbols.values(),
                get_num_threads(),
            )
        finally:
            self._arenas.give_back(arena)
        for i in self._unpacked:
            unpack(memory[i], arrays[i])
        for report in reports:
            self._look_at(report)

    def _run_on_device(self, args: Sequence[object]) -> None:
        """Run on arrays of a device, without a copy."""
        kernel, specs = self._linked, self.info.arguments
        if not isinstance(kernel, LaunchedKernel) or self.info.checks or self._narrow:
            raise UsageError(f"{self.info.name} takes arrays of the host: copy those of devices there")
        self._check_count(args)
        arrays = kernel.device_arrays({spec.name: value for spec, value in zip(specs, args, strict=True)})
        for array, spec, dtype in zip(arrays, specs, self._dtypes, strict=True):
            if array.dtype != dtype:
                raise UsageError(f"'{spec.name}' is {array.dtype}, {self.info.name} takes {dtype}")
        sizes = self._sizes.of(tuple([arrays[i].shape for i in self.info.inputs]))
        self._check_shapes([array.shape for array in arrays], sizes)
        self._refuse_overlaps(arrays, overlap)
        kernel.run_on_device([arrays[i] for i in self._passed], sizes.scratch, [*sizes.symbols.values()])

    def _look_at(self, report: Array) -> None:
        """Raise TileworkError where a subscript was out of bounds."""
        for text, (is_outside, subscript, size) in zip(self.info.checks, report.tolist(), strict=True):
            if is_outside:
                raise TileworkError(f"{self.info.name}, {text} has {size} elements, the subscript is {subscript}")

    def __reduce__(self) -> tuple[type[Function], tuple[FunctionInfo, bytes]]:
        """Pickle, and copy, what it was made of."""
        return Function, (self.info, self.object_code)

    def __repr__(self) -> str:
        return f"Function({self.info.name}: {', '.join(map(str, self.info.arguments))})"

    def _arrays(self, args: Sequence[object]) -> list[Array]:
        self._check_count(args)
        return [
            self._writable(value, spec, dtype) if i in self._written else self._readable(value, spec, dtype)
            for i, (value, spec, dtype) in enumerate(zip(args, self.info.arguments, self._dtypes, strict=True))
        ]

    def _check_count(self, args: Sequence[object]) -> None:
        specs = self.info.arguments
        if len(args) != len(specs):
            known = "; ".join(map(str, specs))
            raise UsageError(f"{self.info.name} takes {len(specs)} arrays ({known}); {len(args)} given")

    def _memory(self, arrays: list[Array]) -> list[Array]:
        """The arrays as compiled code takes them: 4-bit integers two to a byte."""
        if not self._narrow:
            return arrays
        return [self._packed(i, array) if i in self._narrow else array for i, array in enumerate(arrays)]

    def _packed(self, i: int, array: Array) -> Array:
        return packed_empty(array) if i in self._written else packed(array)

    def _readable(self, value: object, spec: TensorSpec, dtype: np.dtype[np.generic]) -> Array:
        return input_array(value, spec, dtype, taker=self.info.name)

    def _writable(self, value: object, spec: TensorSpec, dtype: np.dtype[np.generic]) -> Array:
        if not isinstance(value, np.ndarray):
            raise UsageError(f"'{spec.name}' is a {type(value).__name__}: pass a numpy array for the result")
        array = cast("Array", value)
        if array.dtype != dtype:
            raise UsageError(f"'{spec.name}' is {array.dtype}, {self.info.name} writes {dtype}")
        if not array.flags.carray:
            raise UsageError(f"'{spec.name}' is written: it must be a writable, aligned, C-contiguous array")
        return array

    def _check_outputs(self, arrays: Sequence[Array], sizes: CallSizes) -> None:
        self._check_shapes([array.shape for array in arrays], sizes)
        if not are_apart(arrays):
            self._refuse_overlaps(arrays, np.may_share_memory)

    def _check_shapes(self, shapes: Sequence[tuple[int, ...]], sizes: CallSizes) -> None:
        """Raise UsageError where an array that is written has another shape than the sizes of the others say."""
        for i, expected in zip(self.info.outputs, sizes.outputs, strict=True):
            if shapes[i] != expected:
                spec, symbols = self.info.arguments[i], sizes.symbols
                known = "" if len(shapes[i]) != len(expected) or not symbols else f" with {_listed(symbols)}"
                raise UsageError(f"'{spec.name}' has shape {shapes[i]}, {self.info.name} writes {expected}{known}")

    def _refuse_overlaps(self, arrays: Sequence[_Memory], overlap: Callable[[_Memory, _Memory], bool]) -> None:
        """Raise UsageError where an array that is written shares memory with another one."""
        for i in self.info.outputs:
            for j, other in enumerate(arrays):
                if i != j and overlap(arrays[i], other):
                    names = self.info.arguments[i].name, self.info.arguments[j].name
                    raise UsageError(f"'{names[0]}' is written and overlaps '{names[1]}': pass an array of its own")


def _rounded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _scratch_addresses(start: int, sizes: Sequence[int]) -> list[int]:
    found: list[int] = []
    for size in sizes:
        found.append(start)
        start += _rounded(size)
    return found


def _listed(symbols: dict[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in symbols.items())
