"""Programs that run on another machine and are called as if they were here."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tilework.algebra.errors import UsageError
from tilework.algebra.given_values import integer_of
from tilework.runtime.arrays import Array, dtype_named, input_array
from tilework.runtime.function import Function
from tilework.runtime.module import Module
from tilework.runtime.tensor_spec import TensorSpec
from tilework.tuning.pool.execution import Answer, LoadedProgram, Request


@dataclass(frozen=True)
class Times:
    """The seconds of a call, as often as it was timed."""

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of all."""
        return statistics.fmean(self.results)

    @property
    def median(self) -> float:
        """The median of all."""
        return statistics.median(self.results)

    @property
    def min(self) -> float:
        """The least."""
        return min(self.results)


class _RemoteProgram:
    """What remote modules and functions have in common."""

    def __init__(self, program: Any, loaded: LoadedProgram, place: str, seconds: float):
        self._program, self._loaded, self._where, self._seconds = program, loaded, place, seconds

    def __repr__(self) -> str:
        return f"{self._program!r} on {self._where}"

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """What it takes."""
        return self._program.inputs

    def run(self, inputs: Mapping[str, object]) -> dict[str, Array]:
        """Run on inputs given by name; returns the outputs by name, as fresh arrays. Raises as a call here does."""
        return dict(self._answer(inputs).outputs)

    def _answer(self, inputs: Mapping[str, object], number: int = 0, repeat: int = 0) -> Answer:
        specs = {spec.name: spec for spec in self.inputs}
        arrays = {name: _sent(value, specs.get(name)) for name, value in inputs.items()}
        return self._loaded.run(Request(arrays, self._seconds, number, repeat))


class RemoteModule(_RemoteProgram):
    """A module on another machine: called as a `Module` is."""

    _program: Module

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """What it returns."""
        return self._program.outputs

    def __call__(self, *inputs: object) -> Array | tuple[Array, ...]:
        """Run on inputs given in order, with all defaults. Returns the output, or a tuple of several."""
        outputs = tuple(self._answer(self._named(inputs)).outputs.values())
        return outputs[0] if len(outputs) == 1 else outputs

    def time_evaluator(self, number: int = 10, repeat: int = 1) -> Callable[..., Times]:
        """A function of the module's inputs that times it: `repeat` times, each the mean of `number` calls."""
        _check_counts(number, repeat)
        return lambda *inputs: Times(self._answer(self._named(inputs), number, repeat).times)

    def _named(self, inputs: Sequence[object]) -> dict[str, object]:
        specs = self._program.manifest.inputs
        if len(inputs) != len(specs):
            known = "; ".join(map(str, specs))
            raise UsageError(f"the module takes {len(specs)} inputs ({known}); {len(inputs)} given")
        return {spec.name: value for spec, value in zip(specs, inputs, strict=True)}


class RemoteFunction(_RemoteProgram):
    """A function on another machine: called as a `Function` is, with the arrays for its results among the others."""

    _program: Function

    def __call__(self, *args: object) -> None:
        """Run, and write results to the arrays that are given for them."""
        outputs = self._answer(self._named(args)).outputs
        info = self._program.info
        for i in info.outputs:
            _write(args[i], outputs[info.arguments[i].name], info.arguments[i])

    def time_evaluator(self, number: int = 10, repeat: int = 1) -> Callable[..., Times]:
        """A function of all arrays that times it: `repeat` times, each the mean of `number` calls; no results come."""
        _check_counts(number, repeat)
        return lambda *args: Times(self._answer(self._named(args), number, repeat).times)

    def _named(self, args: Sequence[object]) -> dict[str, object]:
        info = self._program.info
        if len(args) != len(info.arguments):
            known = "; ".join(map(str, info.arguments))
            raise UsageError(f"{info.name} takes {len(info.arguments)} arrays ({known}); {len(args)} given")
        for i in info.outputs:
            if not isinstance(args[i], np.ndarray):
                name = info.arguments[i].name
                raise UsageError(f"'{name}' is a {type(args[i]).__name__}: pass a numpy array for the result")
        return {info.arguments[i].name: args[i] for i in info.inputs}


def _sent(value: object, spec: TensorSpec | None) -> Array:
    """An array of what is given for an input; what the program does not know it refuses itself."""
    return np.asarray(value) if spec is None else input_array(value, spec, dtype_named(spec.dtype), "the program")


def _write(given: object, result: Array, spec: TensorSpec) -> None:
    array = cast("Array", given)
    if array.dtype != result.dtype or array.shape != result.shape or not array.flags.writeable:
        kind = "" if array.flags.writeable else ", and cannot be written"
        raise UsageError(
            f"'{spec.name}' is {array.dtype} {array.shape}{kind}; the result is {result.dtype} {result.shape}"
        )
    array[...] = result


def _check_counts(number: object, repeat: object) -> None:
    for name, value in (("number", number), ("repeat", repeat)):
        if (integer_of(value) or 0) < 1:
            raise UsageError(f"{name}={value!r}: how often a program is timed is a positive integer")
