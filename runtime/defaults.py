"""Inputs that have a default: parameters of the compiled code that a call may replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np

from tilework.algebra.errors import UsageError
from tilework.runtime.arrays import Array, aligned, are_equal, dtype_named, input_array
from tilework.runtime.manifest import Manifest
from tilework.runtime.source import parsed_prepare


class Defaults:
    """What a module's parameters are where the caller gives inputs that have a default.

    parameters: those of the code, by name. others: what else `manifest.prepare` computes parameters from. Those of the
    last call are kept, as the next one mostly gives the same.
    """

    def __init__(self, manifest: Manifest, parameters: Mapping[str, Array], others: Mapping[str, Array]):
        self._manifest = manifest
        self._parameters = parameters
        self.others = others
        self._by_name = {default.input.name: default for default in manifest.defaults}
        self._last: tuple[Mapping[str, Array], list[Array]] | None = None
        self._lock = Lock()

    @property
    def names(self) -> Sequence[str]:
        """The inputs that have one."""
        return list(self._by_name)

    def parameters_with(self, given: Mapping[str, object]) -> list[Array]:
        """The parameters of the code, in order, for values of some of these inputs. Raises UsageError."""
        arrays = {name: self._checked(name, value) for name, value in given.items()}
        with self._lock:
            if self._last is None or not are_equal(self._last[0], arrays):
                copies = {name: aligned(np.array(array)) for name, array in arrays.items()}
                self._last = copies, self._computed(copies)
            return self._last[1]

    def _checked(self, name: str, value: object) -> Array:
        default = self._by_name[name]
        spec = default.input
        array = input_array(value, spec, dtype_named(spec.dtype))
        if array.shape != spec.shape:
            raise UsageError(f"input '{name}' has shape {array.shape}: it must be {spec.shape_text}, as its default is")
        if default.fixed and not are_equal({name: array}, {name: self.others[default.parameter]}):
            raise UsageError(f"input '{name}' must be as its default, for which the module is compiled")
        return array

    def _computed(self, given: Mapping[str, Array]) -> list[Array]:
        changed = {self._by_name[name].parameter: array for name, array in given.items()}
        known = {**self.others, **self._parameters, **changed}
        made = {**self._parameters, **{name: array for name, array in changed.items() if name in self._parameters}}
        if self._manifest.prepare:
            made |= _prepared(self._manifest.prepare, known, changed)
        return [aligned(made[spec.name]) for spec in self._manifest.parameters]


def _prepared(text: str, known: Mapping[str, Array], changed: Mapping[str, Array]) -> Mapping[str, Array]:
    """What a module's @prepare makes of parameters that have changed."""
    from tilework.interpreters.graph import prepare_anew

    return prepare_anew(parsed_prepare(text), known, changed.keys())
