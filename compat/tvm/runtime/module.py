"""Compiled functions: what `tvm.build` returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilework import te
from tilework.algebra.errors import UsageError, did_you_mean
from tilework.compat.tvm.refused import refused
from tilework.compat.tvm.runtime.device import Device, device
from tilework.compat.tvm.runtime.ndarray import NDArray
from tilework.runtime.function import Function
from tilework.te import PackedFunction

_ENTRY = "__tvm_main__"


class PackedFunc:
    """A compiled function of `NDArray`s or numpy arrays, and of numbers. arguments: its tensors and te.vars."""

    def __init__(self, function: Function | PackedFunction, arguments: Sequence[Any]):
        self.function = function
        self.name = function.entry_name
        self._arguments = list(arguments)

    def __call__(self, *args: Any) -> None:
        """Run. Raises TVMError for arguments that do not fit."""
        given = [self._array(arg, wanted) for arg, wanted in zip(args, self._arguments, strict=False)]
        given += args[len(given) :]
        self._check_sizes(given)
        self.function(*given)

    def _array(self, given: Any, wanted: Any) -> Any:
        if isinstance(given, NDArray):
            return given.memory
        if isinstance(wanted, te.Tensor):
            return given
        return np.array(given, wanted.dtype)

    def _check_sizes(self, given: Sequence[Any]) -> None:
        """Raise UsageError where a number is given for a size that the shapes say otherwise."""
        numbers = {
            arg.key: int(value) for arg, value in zip(self._arguments, given, strict=False) if isinstance(arg, te.Var)
        }
        for tensor, array in zip(self._arguments, given, strict=False):
            if not isinstance(tensor, te.Tensor):
                continue
            for dim, size in zip(tensor.dims, getattr(array, "shape", ()), strict=False):
                key: Any = dim.as_var
                if key in numbers and numbers[key] != size:
                    raise UsageError(f"{self.name}: '{key}' is {numbers[key]}, and '{tensor.name}' has {size} there")


@dataclass(frozen=True)
class BenchmarkResult:
    """How many seconds a call took, for each repetition."""

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean."""
        return float(np.mean(self.results))

    @property
    def median(self) -> float:
        """The median."""
        return float(np.median(self.results))

    @property
    def min(self) -> float:
        """The least."""
        return min(self.results)

    @property
    def max(self) -> float:
        """The greatest."""
        return max(self.results)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return float(np.std(self.results))


class Module:
    """Compiled functions by name; called, it is the first of them. sources: the text of each, where there is one."""

    entry_name = _ENTRY
    save = refused("runtime.Module.save", "functions live in the process, and are found again in Tilework's cache")
    export_library = refused(
        "runtime.Module.export_library",
        "save a model by tilework.compile(...).save(path), or compile again: it is cached",
    )

    def __init__(self, functions: Mapping[str, PackedFunc], target: str):
        self._functions = dict(functions)
        self.target = target

    @property
    def type_key(self) -> str:
        """The kind of the target."""
        return self.target.split()[0]

    @property
    def entry_func(self) -> PackedFunc:
        """The first function."""
        return next(iter(self._functions.values()))

    @property
    def imported_modules(self) -> list[Module]:
        """For a device the module of its code, which here is this one."""
        return [self] if self.type_key in ("cuda", "opencl") else []

    def get_function(self, name: str, query_imports: bool = False) -> PackedFunc:
        """A function by name. Raises TVMError for a name that none has."""
        if name == _ENTRY:
            return self.entry_func
        if name not in self._functions:
            known = ", ".join(self._functions)
            raise UsageError(f"module has no function '{name}'; it has {known}{did_you_mean(name, self._functions)}")
        return self._functions[name]

    __getitem__ = get_function

    def get_source(self, fmt: str = "") -> str:
        """The text of what was compiled: C and OpenCL as they are, else the loops as the back end gets them."""
        found = self.entry_func.function.object_code
        try:
            return found.decode("ascii")
        except UnicodeDecodeError:
            raise UsageError(
                "the code is object code: print(tvm.lower(s, args)) shows the loops that it is made of"
            ) from None

    def time_evaluator(
        self,
        func_name: str,
        dev: Device | None = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: int = 0,
        f_preproc: str = "",
    ) -> Callable[..., BenchmarkResult]:
        """What measures a function on arguments: the mean of `number` calls, `repeat` times, after one call unmeasured.

        min_repeat_ms: so many calls are made that a repetition takes as long at least. f_preproc is refused.
        """
        if f_preproc:
            refused("runtime.Module.time_evaluator(f_preproc=)", "prepare arguments before each evaluation")()
        function = self.get_function(func_name)

        def seconds(calls: int, args: tuple[Any, ...]) -> float:
            start = time.perf_counter()
            for _ in range(calls):
                function(*args)
            return time.perf_counter() - start

        def evaluate(*args: Any) -> BenchmarkResult:
            function(*args)
            found: list[float] = []
            for _ in range(repeat):
                calls = number
                while (spent := seconds(calls, args)) * 1e3 < min_repeat_ms:
                    calls *= 2
                found.append(spent / calls)
            return BenchmarkResult(tuple(found))

        return evaluate

    def __call__(self, *args: Any) -> None:
        self.entry_func(*args)


load_module = refused("runtime.load_module", "functions are not saved; tilework.load reads saved models")


def enabled(target: str) -> bool:
    """Whether code for a target runs here."""
    return device(target).exist
