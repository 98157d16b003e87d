"""What a compiled module takes and returns: the part of it that is text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tilework.backends.tensor_spec import Dim, TensorSpec


@dataclass(frozen=True)
class Manifest:
    """How to call a module's code.

    target: as `parse_target` reads. entry: a C function
    `int32 entry(void** inputs, void** outputs, void** parameters, void* arena, int64_t* symbols, int32 num_threads)`,
    whose result is 0 or the number of a failed check, which `messages` explains. `symbols` orders the int64 array.
    Each symbol is somewhere an input's dimension by itself. Inputs and outputs are aligned to their element, the
    arena and the parameters to 64 bytes. kernels: how many the entry calls. requirements: expressions over symbols that
    must be at least 0, and what to say where one is not.
    """

    target: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    parameters: tuple[TensorSpec, ...] = ()
    symbols: tuple[str, ...] = ()
    arena_bytes: Dim = 0
    kernels: int = 0
    messages: Mapping[int, str] = field(default_factory=dict[int, str])
    entry: str = "tilework_main"
    requirements: Mapping[str, str] = field(default_factory=dict[str, str])

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        return {**asdict(self), "messages": {str(code): text for code, text in self.messages.items()}}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Manifest:
        """Read what `to_json` wrote. Raises KeyError or TypeError for anything else."""
        inputs, outputs, parameters = (
            tuple(_tensor(spec) for spec in data[key]) for key in ("inputs", "outputs", "parameters")
        )
        return Manifest(
            data["target"],
            inputs,
            outputs,
            parameters,
            tuple(data["symbols"]),
            data["arena_bytes"],
            data["kernels"],
            {int(code): text for code, text in data["messages"].items()},
            data["entry"],
            dict(data["requirements"]),
        )


def _tensor(spec: Mapping[str, Any]) -> TensorSpec:
    return TensorSpec(spec["name"], spec["dtype"], tuple(spec["shape"]))
