"""A compiled program in memory: called with arrays, one native call per inference."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tilework.algebra.errors import TileworkError, UsageError
from tilework.runtime.arena import ArenaPool
from tilework.runtime.arrays import (
    Array,
    aligned,
    aligned_empty,
    dtype_named,
    input_array,
    output_array,
    refuse_overlap,
)
from tilework.runtime.artifact import read_artifact, write_artifact
from tilework.runtime.compatibility import check_runs_on
from tilework.runtime.manifest import Manifest
from tilework.runtime.native import NativeLibrary
from tilework.runtime.openmp import OpenMPRuntime, openmp_runtime
from tilework.runtime.shapes import InputShapes, Requirements, SymbolicShape
from tilework.runtime.threads import threads_for_call
from tilework.targets import parse_target
from tilework.targets.host import host_target

if TYPE_CHECKING:
    from tilework.backends.llvm.compile_model import CompileReport

_Entry = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int32,
)


@dataclass(frozen=True)
class _Code:
    """Linked code: the entry is valid as long as the library lives."""

    entry: Callable[..., int]
    library: NativeLibrary
    runtime: OpenMPRuntime


class Module:
    """`m(x)` or `m.run({"x": x})`; several threads may call one module at once, and the GIL is released meanwhile.

    manifest: what it takes and returns. objects: relocatable object files that together define the manifest's entry.
    parameters: name -> array, for each parameter of the manifest; copied only if not aligned to 64 bytes. Code for
    another machine can be held and saved; running it is refused.
    """

    def __init__(self, manifest: Manifest, objects: Sequence[bytes], parameters: Mapping[str, Array]):
        self.manifest = manifest
        self.report: CompileReport | None = None
        """How it was compiled; None for one that was loaded."""
        self.objects = list(objects)
        self.parameters = {spec.name: aligned(parameters[spec.name]) for spec in manifest.parameters}
        self._check_parameters()
        self._input_dtypes = [dtype_named(spec.dtype) for spec in manifest.inputs]
        self._output_dtypes = [dtype_named(spec.dtype) for spec in manifest.outputs]
        self._input_shapes = InputShapes(manifest.inputs, manifest.symbols)
        self._requirements = Requirements(manifest.requirements)
        self._output_shapes = [SymbolicShape(spec.shape) for spec in manifest.outputs]
        self._arena_shape = SymbolicShape((manifest.arena_bytes,))
        self._arenas = ArenaPool()
        self._parameter_addresses = _addresses(list(self.parameters.values()))

    @staticmethod
    def load(path: str | Path) -> Module:
        """Read an artefact that `save` wrote and link its code; nothing is compiled, parameters are mapped.

        Raises TileworkError where the file is no artefact, is damaged or newer, or this processor lacks something.
        """
        module = Module(*read_artifact(Path(path)))
        module.link()
        return module

    def save(self, path: str | Path) -> None:
        """Write an artefact: one file with the code, the parameters and the manifest, complete or not at all."""
        write_artifact(Path(path), self.manifest, self.objects, self.parameters)

    def link(self) -> None:
        """Make the code ready to run; the first call does so too. Raises TileworkError where it cannot run here."""
        _ = self._code

    def __call__(self, *inputs: object) -> Array | tuple[Array, ...]:
        """Run on inputs given in order. Returns the output, or a tuple where there are several, as fresh arrays.

        Raises UsageError for an input of wrong kind, dtype or shape, TileworkError where a check of the program fails.
        """
        if len(inputs) != len(self.manifest.inputs):
            raise UsageError(f"the module takes {self._known_inputs()}; {len(inputs)} given")
        outputs = self._run(inputs, {})
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self, inputs: Mapping[str, object], out: Mapping[str, object] | None = None) -> dict[str, Array]:
        """Run on inputs given by name. Returns the outputs by name.

        out: arrays to write outputs to, by name; the other outputs are fresh. Raises as `__call__` does.
        """
        _require_mapping(inputs, "inputs")
        _require_mapping({} if out is None else out, "out")
        names = [spec.name for spec in self.manifest.inputs]
        missing, unknown = [n for n in names if n not in inputs], [n for n in inputs if n not in names]
        if missing or unknown:
            wrong = [f"'{name}' is missing" for name in missing] + [f"'{name}' is unknown" for name in unknown]
            raise UsageError(f"{', '.join(wrong)}: the module takes {self._known_inputs()}")
        results = [spec.name for spec in self.manifest.outputs]
        for name in out or {}:
            if name not in results:
                raise UsageError(f"out['{name}'] is no output: the module returns {', '.join(results)}")
        outputs = self._run([inputs[name] for name in names], out or {})
        return dict(zip(results, outputs, strict=True))

    def __repr__(self) -> str:
        takes, returns = (", ".join(map(str, specs)) for specs in (self.manifest.inputs, self.manifest.outputs))
        return f"Module({takes}) -> ({returns})"

    def _run(self, given: Sequence[object], out: Mapping[str, object]) -> list[Array]:
        inputs = [
            input_array(value, spec, dtype)
            for value, spec, dtype in zip(given, self.manifest.inputs, self._input_dtypes, strict=True)
        ]
        symbols = self._input_shapes.bind([array.shape for array in inputs])
        self._requirements.check(symbols)
        outputs = self._outputs(symbols, inputs, out)
        status = self._call(inputs, outputs, symbols)
        if status != 0:
            raise TileworkError(self.manifest.messages[status])
        return outputs

    def _call(self, inputs: Sequence[Array], outputs: Sequence[Array], symbols: Mapping[str, int]) -> int:
        """The one native call; the status it returns."""
        code = self._code
        values = (ctypes.c_int64 * len(symbols))(*symbols.values())
        arena = self._arenas.take(self._arena_shape.evaluate(symbols)[0])
        try:
            return code.entry(
                _addresses(inputs),
                _addresses(outputs),
                self._parameter_addresses,
                arena.address,
                values,
                threads_for_call(code.runtime),
            )
        finally:
            self._arenas.give_back(arena)

    def _outputs(self, symbols: Mapping[str, int], inputs: Sequence[Array], out: Mapping[str, object]) -> list[Array]:
        written: dict[str, Array] = {}
        outputs: list[Array] = []
        for spec, shape, dtype in zip(self.manifest.outputs, self._output_shapes, self._output_dtypes, strict=True):
            extents = shape.evaluate(symbols)
            if spec.name in out:
                written[spec.name] = output_array(out[spec.name], spec, dtype, extents)
                outputs.append(written[spec.name])
            else:
                outputs.append(aligned_empty(extents, dtype))
        if written:
            read = {spec.name: array for spec, array in zip(self.manifest.inputs, inputs, strict=True)}
            refuse_overlap(written, read)
        return outputs

    @cached_property
    def _code(self) -> _Code:
        check_runs_on(parse_target(self.manifest.target), host_target())
        runtime = openmp_runtime()
        library = NativeLibrary(self.objects, runtime.symbols)
        return _Code(_Entry(library.get_function(self.manifest.entry)), library, runtime)

    def _check_parameters(self) -> None:
        """The compiler made both the manifest and the parameters: a difference is its defect."""
        for spec in self.manifest.parameters:
            array = self.parameters[spec.name]
            if array.dtype != dtype_named(spec.dtype) or array.shape != spec.shape:
                raise ValueError(f"parameter '{spec.name}' is {array.dtype} {array.shape}, the manifest has {spec}")

    def _known_inputs(self) -> str:
        specs = self.manifest.inputs
        return f"{len(specs)} input{'s' if len(specs) != 1 else ''} ({'; '.join(map(str, specs))})"


def _require_mapping(value: object, what: str) -> None:
    if not isinstance(value, Mapping):
        raise UsageError(f"{what} is a {type(value).__name__}: pass a dictionary of arrays by name")


def _addresses(arrays: Sequence[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
