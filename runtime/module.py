"""A compiled program in memory: called with arrays, one native call per inference."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from io import BytesIO, TextIOBase
from operator import attrgetter
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import IO, Self, TypeVar, cast

from tilework.algebra.errors import TileworkError, UsageError
from tilework.runtime.addresses import address_table, addresses
from tilework.runtime.arena import ArenaPool
from tilework.runtime.arrays import (
    Array,
    aligned,
    check_arrays,
    dtype_named,
    output_array,
    placed_empty,
    placed_input,
    refuse_overlap,
)
from tilework.runtime.artifact import Artifact, read_artifact, write_artifact
from tilework.runtime.bound_sizes import BoundSizes
from tilework.runtime.c_library import library_name, write_library
from tilework.runtime.call_sizes import REMEMBERED, CallSizes, SizesOfCalls
from tilework.runtime.compile_report import CompileReport
from tilework.runtime.defaults import Defaults
from tilework.runtime.devices.device import Device
from tilework.runtime.devices.llvm.workers import UNLIKE
from tilework.runtime.devices.registry import link, support_code
from tilework.runtime.display import table_html
from tilework.runtime.known_calls import KnownCalls, are_plain, numpy_is_known
from tilework.runtime.manifest import Manifest
from tilework.runtime.program_devices import ProgramDevices
from tilework.runtime.shapes import InputShapes, Shape
from tilework.runtime.source import Source
from tilework.runtime.tensor_spec import TensorSpec
from tilework.runtime.threads import get_num_threads

_ENTRY = (*[ctypes.c_void_p] * 5, ctypes.c_int32, ctypes.c_void_p)
"""What the entry takes."""


class Module:
    """`m(x)` or `m.run({"x": x})`; several threads may call one module at once, and the GIL is released meanwhile.

    manifest: what it takes and returns. objects: pieces of code that together define the manifest's entry.
    parameters: name -> array, for each parameter of the manifest; copied only if not aligned to 64 bytes. support: what
    the code needs besides, as `support_code` in `runtime/devices/registry` gives it; made when needed if not given.
    device_code: for each device of the manifest the code of its kernels, by name. source: what it was compiled from,
    where that is known. Code for another machine can be held and saved; running it is refused.
    """

    def __init__(
        self,
        manifest: Manifest,
        objects: Sequence[bytes],
        parameters: Mapping[str, Array],
        support: bytes | None = None,
        device_code: Mapping[str, Mapping[str, bytes]] = MappingProxyType({}),
        source: Source | None = None,
    ):
        self.manifest = manifest
        self.source = source
        self._support = support
        self.report: CompileReport | None = None
        """How it was compiled; None for one that was loaded."""
        self.objects = list(objects)
        check_arrays(parameters, manifest.parameters)
        self.parameters = {spec.name: aligned(parameters[spec.name]) for spec in manifest.parameters}
        others = {name: array for name, array in parameters.items() if name not in self.parameters}
        self._defaults = Defaults(manifest, self.parameters, others)
        self._input_specs = {spec.name: spec for spec in manifest.inputs}
        self._output_names = [spec.name for spec in manifest.outputs]
        self._input_dtypes = [dtype_named(spec.dtype) for spec in manifest.inputs]
        self._output_dtypes = [dtype_named(spec.dtype) for spec in manifest.outputs]
        self._bound = BoundSizes(manifest.bound, manifest.outputs)
        self._sizes = SizesOfCalls(
            InputShapes(manifest.inputs, manifest.symbols, requirements=manifest.requirements),
            [self._bound.room(spec) for spec in manifest.outputs],
            (manifest.arena_bytes, *(device.arena_bytes for device in manifest.devices)),
        )
        self._devices = ProgramDevices(manifest.devices, device_code)
        self._arenas = ArenaPool()
        self._linked = link(self.objects, manifest.target, manifest.entry, _ENTRY, ctypes.c_int32, support)
        self._known: KnownCalls | None = None
        """How the next call may be made."""
        self._known_of: dict[tuple[Shape, ...], KnownCalls] = {}
        """The known calls by the shapes of their inputs, so that shapes in turns cost nothing again."""
        self._last_shapes: tuple[Shape, ...] | None = None
        """The shapes of the inputs of the last call that was none of those known."""
        self._input_table = address_table(len(manifest.inputs))
        self._output_table = address_table(len(manifest.outputs))

    @classmethod
    def of(cls, artifact: Artifact) -> Self:
        """The module that an artefact holds, not yet linked: it may be for another machine."""
        parameters, source = artifact.parameters, artifact.source
        if artifact.compact and source is not None:
            parameters = source.parameters_from(parameters)
        return cls(
            artifact.manifest, artifact.objects, parameters, artifact.support, artifact.device_code, artifact.source
        )

    @classmethod
    def load(cls, file: str | PathLike[str] | IO[bytes]) -> Self:
        """Read an artefact that `save` wrote and link its code; nothing is compiled, parameters are mapped.

        file: a path, or a binary file that is open for reading. The parameters of a compact artefact are computed.
        Raises TileworkError where the file is no artefact, is damaged or newer, or this processor lacks something.
        """
        module = cls.of(read_artifact(_place(file, "loaded from", "read")))
        module.link()
        return module

    def save(self, file: str | PathLike[str] | IO[bytes], compact: bool = False) -> None:
        """Write an artefact: one file with the code, the parameters and the manifest.

        file: a path, where the file is complete or not at all, or a binary file that is open for writing. compact: keep
        the model's own weights in place of what the code takes, which is computed from them whenever the artefact is
        loaded. Raises TileworkError where the file cannot be written, or a compact one has no weights to keep.
        """
        write_artifact(_place(file, "saved to", "write"), self._artifact(compact))

    def _artifact(self, compact: bool = False) -> Artifact:
        support = support_code(self.manifest.target) if self._support is None else self._support
        parameters = {**self._defaults.others, **self.parameters}
        if compact:
            if self.source is None:
                raise TileworkError("nothing is known of what the module was compiled from: compile the model again")
            parameters = self.source.weights_of(parameters)
        return Artifact(
            self.manifest, self.objects, parameters, support, self._devices.code, self.source, compact=compact
        )

    def __reduce__(self) -> tuple[Callable[[type[Self], bytes], Self], tuple[type[Self], bytes]]:
        """Pickle, and copy, as an artefact."""
        file = BytesIO()
        write_artifact(file, self._artifact())
        return _unpickled, (type(self), file.getvalue())

    def save_library(self, folder: str | Path, name: str | None = None) -> None:
        """Write a folder from which `make` builds a static library that programs in C call; see docs/embedding.md.

        name: what the library's names begin with; by default one like the folder's. Raises UsageError for a name that C
        does not take, or code that no program in C can call, TileworkError where the folder cannot be written.
        """
        if not isinstance(folder, str | PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]  users have no types
            raise UsageError(f"a library is saved in a folder, not in a value of type {type(folder).__name__}")
        path = Path(folder)
        chosen = library_name(path.resolve().name, self.manifest) if name is None else name
        write_library(path, chosen, self.manifest, self.objects, self.parameters)

    def link(self) -> None:
        """Make the code ready to run; the first call does so too. Raises TileworkError where it cannot run here."""
        self._linked.code()

    @property
    def device_code(self) -> Mapping[str, Mapping[str, bytes]]:
        """For each device, the code of its kernels by name, as `devices` are given it."""
        return self._devices.code

    @property
    def devices(self) -> Mapping[str, Device]:
        """The devices that kernels run on, by name, the host not among them.

        Raises TileworkError where one cannot be opened.
        """
        return self._devices.opened

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """What the module takes: first what has to be given, then what has a default."""
        return (*self.manifest.inputs, *(default.input for default in self.manifest.defaults))

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """What the module returns."""
        return self.manifest.outputs

    def __call__(self, *inputs: object, **named: object) -> Array | tuple[Array, ...]:
        """Run on inputs given in order, the last of them by name; those with a default are given by name or not at all.

        Returns the output, or a tuple of several, as fresh arrays. Raises UsageError for an input of wrong kind, dtype
        or shape, TileworkError where a check of the program fails.
        """
        if named:
            outputs = [*self.run(self._all_named(inputs, named)).values()]
        elif len(inputs) != len(self.manifest.inputs):
            raise UsageError(f"the module takes {self._known_inputs()}; {len(inputs)} given")
        else:
            outputs = self._run(inputs, {})
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _all_named(self, inputs: Sequence[object], named: Mapping[str, object]) -> dict[str, object]:
        if len(inputs) > len(self._input_specs):
            raise UsageError(f"the module takes {self._known_inputs()}; {len(inputs)} given without a name")
        given = dict(zip(self._input_specs, inputs, strict=False))
        if twice := sorted(given.keys() & named.keys()):
            raise UsageError(f"input '{twice[0]}' is given twice: in its place and by name")
        return {**given, **named}

    def run(self, inputs: Mapping[str, object], out: Mapping[str, object] | None = None) -> dict[str, Array]:
        """Run on inputs given by name; those that have a default may be left out. Returns the outputs by name.

        out: arrays to write outputs to, by name; the other outputs are fresh. Raises as `__call__` does.
        """
        _require_mapping(inputs, "inputs")
        replaced: dict[str, object] = {}
        if inputs.keys() != self._input_specs.keys():
            replaced = {name: inputs[name] for name in self._defaults.names if name in inputs}
            if inputs.keys() - replaced.keys() != self._input_specs.keys():
                raise self._wrong_names(inputs)
        if out is not None:
            self._check_output_names(out)
        given = tuple(map(inputs.__getitem__, self._input_specs))
        outputs = self._run_with(given, out or {}, replaced) if replaced else self._run(given, out or {})
        return dict(zip(self._output_names, outputs, strict=True))

    def __repr__(self) -> str:
        takes, returns = (", ".join(map(str, specs)) for specs in (self.inputs, self.outputs))
        return f"Module({takes}) -> ({returns})"

    def _repr_html_(self) -> str:
        """A table of inputs and outputs for notebooks."""
        defaults = {default.input.name for default in self.manifest.defaults}
        rows = [("input with a default" if s.name in defaults else "input", s) for s in self.inputs]
        rows += [("output", s) for s in self.outputs]
        table = table_html(("", "name", "type", "shape"), [(k, s.name, s.dtype, s.shape_text) for k, s in rows])
        size = sum(array.nbytes for array in self.parameters.values())
        caption = f"{self.manifest.kernels} kernels, {size / 1e6:.1f} MB of parameters, for {self.manifest.target}"
        return f"{table}<p>{escape(caption)}</p>"

    def _run_with(
        self, given: Sequence[object], out: Mapping[str, object], replaced: Mapping[str, object]
    ) -> list[Array]:
        """With other values of inputs that have a default."""
        parameters = self._defaults.parameters_with(replaced)
        inputs = [
            placed_input(value, spec, dtype)[0]
            for value, spec, dtype in zip(given, self.manifest.inputs, self._input_dtypes, strict=True)
        ]
        sizes = self._sizes.of(tuple(map(_shape_of, inputs)))
        outputs = self._given_outputs(out, sizes, inputs)
        table, _uploaded = self._table_of(parameters)
        status, left = self._call(addresses(inputs), addresses(outputs), sizes, table)
        return self._taken(status, outputs, sizes, left)

    @cached_property
    def _parameter_table(self) -> bytes:
        table, self._uploaded = self._table_of([self.parameters[spec.name] for spec in self.manifest.parameters])
        return table

    def _table_of(self, parameters: Sequence[Array]) -> tuple[bytes, list[object]]:
        """Where the parameters are, those of devices in their memory, for as long as the objects are kept."""
        places, kept = addresses(parameters), list[object]()
        for i, spec in enumerate(self.manifest.parameters):
            if spec.device:
                places[i], memory = self._devices.upload(spec.device, parameters[i])
                kept.append(memory)
        return address_table(len(places))(*places), kept

    def _run(self, given: Sequence[object], out: Mapping[str, object]) -> list[Array]:
        known = self._known
        if known is not None and not out:
            arena = self._arenas.take(known.scratch_bytes)
            try:
                status, outputs, written = known.call(given, arena.address, get_num_threads())
            finally:
                self._arenas.give_back(arena)
            if status != UNLIKE:
                self._check(status)
                return self._bound.taken(outputs, (), known.symbols, written) if self._bound else outputs
        # After a call, the caches hold what it has read, and little of Python: each step here is fetched from far.
        inputs: list[Array] = []
        outputs: list[Array] = []
        sources: list[int] = []
        places: list[int] = []
        for value, spec, dtype in zip(given, self.manifest.inputs, self._input_dtypes, strict=True):
            array, place = placed_input(value, spec, dtype)
            inputs.append(array)
            sources.append(place)
        shapes = tuple(map(_shape_of, inputs))
        sizes = self._sizes.of(shapes)
        if out:
            outputs = self._given_outputs(out, sizes, inputs)
            places = addresses(outputs)
        else:
            for shape, dtype in zip(sizes.outputs, self._output_dtypes, strict=True):
                array, place = placed_empty(shape, dtype)
                outputs.append(array)
                places.append(place)
        status, left = self._call(sources, places, sizes, self._parameter_table)
        if not out:
            self._know(given, shapes)
        return self._taken(status, outputs, sizes, left)

    def _taken(self, status: int, outputs: list[Array], sizes: CallSizes, left: _Left | None) -> list[Array]:
        """The outputs of a call, of the sizes that data decided. Raises TileworkError for one that has failed."""
        if left is None or status != 0:
            if left is not None:
                self._bound.give_back([*left.outputs])
            self._check(status)
            return outputs
        return self._bound.taken(outputs, [*left.outputs], sizes.symbols, left.symbols[len(sizes.symbols) :])

    def _call(
        self, inputs: Sequence[int], outputs: Sequence[int], sizes: CallSizes, parameters: bytes
    ) -> tuple[int, _Left | None]:
        """The one native call, of arrays at these addresses; the status it returns, and what it leaves."""
        entry = self._linked.code().entry
        arena = self._arenas.take(sizes.scratch[0])
        left = _Left.of(outputs, sizes, self._bound) if self._bound else None
        try:
            with self._devices.table(sizes.scratch[1:]) as devices:
                status = entry(
                    self._input_table(*inputs),
                    self._output_table(*outputs) if left is None else left.outputs,
                    parameters,
                    arena.address,
                    sizes.symbol_table if left is None else left.symbols,
                    get_num_threads(),
                    devices,
                )
                return status, left
        finally:
            self._arenas.give_back(arena)

    def _know(self, given: Sequence[object], shapes: tuple[Shape, ...]) -> None:
        """Where two calls in a row have inputs of the same shapes, expect others."""
        self._known = None
        if self._devices or self._bound.grown or not self._linked.code().address:
            return
        if shapes == self._last_shapes and are_plain(given, self._input_dtypes) and numpy_is_known():
            if shapes not in self._known_of:
                if len(self._known_of) == REMEMBERED:
                    self._known_of = {}
                self._known_of[shapes] = self._known_calls(shapes)
            self._known = self._known_of[shapes]
        self._last_shapes = shapes

    def _known_calls(self, shapes: tuple[Shape, ...]) -> KnownCalls:
        inputs = list(zip(shapes, self._input_dtypes, strict=True))
        sizes = self._sizes.of(shapes)
        outputs = list(zip(sizes.outputs, self._output_dtypes, strict=True))
        written = len(self._bound.names)
        return KnownCalls(self._linked.code(), inputs, outputs, self._parameter_table, sizes, written)

    def _check(self, status: int) -> None:
        if status != 0:
            cause = self._devices.failure() if self._devices else None
            raise TileworkError(self.manifest.messages[status] + (f": {cause}" if cause else "")) from cause

    def _given_outputs(self, out: Mapping[str, object], sizes: CallSizes, inputs: Sequence[Array]) -> list[Array]:
        """The user's arrays for the outputs that `out` names, fresh ones for the others."""
        if open_ := [name for i, name in enumerate(self._output_names) if name in out and self._bound.depends(i)]:
            raise UsageError(f"out['{open_[0]}'] cannot be written to: data decide how large the output is")
        expected = zip(self.manifest.outputs, self._output_dtypes, sizes.outputs, strict=True)
        outputs = [
            output_array(out[spec.name], spec, dtype, shape) if spec.name in out else placed_empty(shape, dtype)[0]
            for spec, dtype, shape in expected
        ]
        written = {name: array for name, array in zip(self._output_names, outputs, strict=True) if name in out}
        refuse_overlap(written, dict(zip(self._input_specs, inputs, strict=True)))
        return outputs

    def _wrong_names(self, inputs: Mapping[str, object]) -> UsageError:
        missing = [f"'{spec.name}' is missing" for spec in self.manifest.inputs if spec.name not in inputs]
        known = (*self._input_specs, *self._defaults.names)
        unknown = [f"'{name}' is unknown" for name in inputs if name not in known]
        return UsageError(f"{', '.join(missing + unknown)}: the module takes {self._known_inputs()}")

    def _check_output_names(self, out: Mapping[str, object]) -> None:
        _require_mapping(out, "out")
        for name in out:
            if name not in self._output_names:
                raise UsageError(f"out['{name}'] is no output: the module returns {', '.join(self._output_names)}")

    def _known_inputs(self) -> str:
        specs, defaults = self.manifest.inputs, [default.input for default in self.manifest.defaults]
        known = [*map(str, specs), *(f"{spec} with a default" for spec in defaults)]
        return f"{len(known)} input{'s' if len(known) != 1 else ''} ({'; '.join(known)})"


@dataclass(frozen=True)
class _Left:
    """The tables of a call that writes to them: where outputs are, and the values of symbols."""

    outputs: ctypes.Array[ctypes.c_void_p]
    symbols: ctypes.Array[ctypes.c_int64]

    @classmethod
    def of(cls, outputs: Sequence[int], sizes: CallSizes, bound: BoundSizes) -> _Left:
        """The tables before the call, where null stands for outputs that the entry allocates."""
        places = [None if i in bound.grown else place for i, place in enumerate(outputs)]
        symbols = [*sizes.symbols.values(), *(0 for _ in bound.names)]
        return cls((ctypes.c_void_p * len(places))(*places), (ctypes.c_int64 * len(symbols))(*symbols))


_shape_of = attrgetter("shape")

Loaded = TypeVar("Loaded", bound=Module)


def _unpickled(kind: type[Loaded], content: bytes) -> Loaded:
    return kind.of(read_artifact(BytesIO(content)))


def _place(file: object, purpose: str, method: str) -> Path | IO[bytes]:
    """A path, or a binary file that has the method; raises UsageError for anything else."""
    if isinstance(file, str | PathLike):
        return Path(cast("str | PathLike[str]", file))
    if not hasattr(file, method):
        kind = type(file).__name__
        raise UsageError(f"an artefact is {purpose} a path or an open file, not a value of type {kind}")
    if isinstance(file, TextIOBase):
        raise UsageError(f"an artefact is bytes, and the file is open for text: open it with '{method[0]}b'")
    return cast("IO[bytes]", file)


def _require_mapping(value: object, what: str) -> None:
    if not isinstance(value, (dict, Mapping)):  # a dict is told apart sooner
        raise UsageError(f"{what} is a {type(value).__name__}: pass a dictionary of arrays by name")
