"""A model whose code depends on the values of some inputs: compiled at the first call with each."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import IO, TYPE_CHECKING, Any

from tilework.algebra.errors import TileworkError, UsageError
from tilework.module import Module
from tilework.runtime.addresses import Array
from tilework.runtime.arrays import dtype_named, input_array
from tilework.runtime.display import CodeText
from tilework.runtime.given_inputs import form_of, tensors_in
from tilework.runtime.tensor_spec import TensorSpec

if TYPE_CHECKING:  # running a module needs no compiler
    from tilework.frontends.onnx.given import Given

MOST_KEPT = 16
"""So many compiled modules are kept; of more, the one that was used longest ago is given up."""

_LOG = logging.getLogger("tilework")


class SpecializedModule(Module):
    """A module like others, that compiles at the first call with a value of the inputs `names`, and keeps it by value.

    The rank of a result may depend on these values, as on the axes of a reduction, or on how many elements a sequence
    has. A second value of any other input compiles nothing. `takes`: the inputs that the model declares, those that are
    sequences and optionals (`structured`) by what ONNX calls their type. compile_for: the module for what is given; it
    raises TileworkError, of which `inputs_to_know` says which other inputs decide, too.
    """

    def __init__(
        self,
        takes: Sequence[TensorSpec],
        structured: frozenset[str],
        names: frozenset[str],
        compile_for: Callable[[Given], Module],
    ):
        self._takes = {spec.name: spec for spec in takes}
        self._structured = structured
        self._names = names
        self._compile_for = compile_for
        self._kept: OrderedDict[object, Module] = OrderedDict()
        self._lock = RLock()
        self.compilations: list[str] = []
        """What it was compiled for so far, a text each."""

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """What the model takes."""
        return (*self._takes.values(),)

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """What the last call has returned. Raises TileworkError before the first one."""
        return self._last().outputs

    @property
    def decided_by(self) -> frozenset[str]:
        """The inputs for whose values it is compiled, as far as calls have told."""
        return self._names

    def __call__(self, *inputs: object, **named: object) -> Array | tuple[Array, ...]:
        """Run on inputs given in order, the last of them by name; sequences are lists, empty optionals None."""
        if len(inputs) > len(self._takes):
            raise UsageError(f"the module takes {len(self._takes)} inputs; {len(inputs)} given")
        in_order = dict(zip(self._takes, inputs, strict=False))
        if twice := sorted(in_order.keys() & named.keys()):
            raise UsageError(f"input '{twice[0]}' is given twice: in its place and by name")
        outputs = [*self.run({**in_order, **named}).values()]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self, inputs: Mapping[str, object], out: Mapping[str, object] | None = None) -> dict[str, Array]:
        """Run on inputs given by name. Raises as `Module.run` does, and what compiling for these values raises."""
        if inputs.keys() != self._takes.keys():
            known = ", ".join(f"'{name}'" for name in self._takes)
            raise UsageError(f"the module takes {known}; given are {', '.join(map(repr, inputs)) or 'none'}")
        with self._lock:
            module = self._module_for(inputs)
        rest = {name: value for name, value in inputs.items() if name not in self._names or name in self._structured}
        tensors = {
            part: tensor
            for name, value in rest.items()
            for part, tensor in (tensors_in(name, value) if name in self._structured else [(name, value)])
        }
        return module.run(tensors, out)

    def save(self, file: str | PathLike[str] | IO[bytes], compact: bool = False) -> None:
        """Raise TileworkError: there is code for values that calls had, and for no others."""
        raise TileworkError(f"{self._dependence()}; only a model in which they are initializers can be saved")

    def save_library(self, folder: str | Path, name: str | None = None) -> None:
        """Raise TileworkError, as `save` does."""
        self.save(str(folder))

    def link(self) -> None:
        """Do nothing: there is no code yet."""

    def show(self, level: str = "graph", kernel: str | None = None) -> CodeText:
        """What the model of the last call is at a level."""
        return self._last().show(level, kernel)

    def __repr__(self) -> str:
        takes = ", ".join(map(str, self.inputs))
        return f"SpecializedModule({takes}), compiled by value of {', '.join(sorted(self._names))}"

    def __getattr__(self, name: str) -> Any:
        """What else a module has: of that which the last call has run."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._last(), name)

    def _last(self) -> Module:
        if not self._kept:
            raise TileworkError(f"{self._dependence()}; nothing is known of it before the first call")
        return next(reversed(self._kept.values()))

    def _dependence(self) -> str:
        return f"the module is compiled for each value of {', '.join(map(repr, sorted(self._names)))}"

    def _module_for(self, inputs: Mapping[str, object]) -> Module:
        """The module for these values: kept, or compiled."""
        from tilework.frontends.onnx.given import inputs_to_know

        while True:
            given = self._given(inputs)
            values = [(name, value.shape, value.tobytes()) for name, value in given.values.items()]
            key = (*values, *given.forms.items())
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            try:
                module = self._compile_for(given)
            except TileworkError as error:
                more = inputs_to_know(error) - self._names
                if not more:
                    raise
                self._names |= more
                continue
            self._keep(key, module, given)
            return module

    def _given(self, inputs: Mapping[str, object]) -> Given:
        from tilework.frontends.onnx.given import Given

        decisive = {name: inputs[name] for name in self._takes if name in self._names}
        values = {
            name: input_array(value, self._takes[name], dtype_named(self._takes[name].dtype)).copy()
            for name, value in decisive.items()
            if name not in self._structured
        }
        return Given(values, {name: form_of(value) for name, value in decisive.items() if name in self._structured})

    def _keep(self, key: object, module: Module, given: Given) -> None:
        values = [f"{name} = {value.tolist()}" for name, value in given.values.items()]
        text = ", ".join([*values, *(f"{name} of the form {form}" for name, form in given.forms.items())])
        _LOG.info("compiled for %s", text)
        self.compilations.append(text)
        self._kept[key] = module
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
