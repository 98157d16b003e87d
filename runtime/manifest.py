"""What a compiled module takes and returns: the part of it that is text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tilework.algebra.requirement import Requirement
from tilework.runtime.tensor_spec import Dim, TensorSpec


@dataclass(frozen=True)
class Default:
    """An input that has a default: how that looks, and the parameter that it replaces.

    fixed: the code was made for the default, so that nothing else can be given.
    """

    input: TensorSpec
    parameter: str
    fixed: bool


@dataclass(frozen=True)
class DeviceKernel:
    """A kernel of a device: its name, how many buffers and symbols it takes, and what people call it."""

    name: str
    buffers: int
    symbols: int
    label: str = ""


@dataclass(frozen=True)
class DeviceUse:
    """What the entry asks of a device: kernels, launched by their numbers, and memory for temporaries.

    target: as `parse_target` reads. arena_bytes: over the symbols.
    """

    name: str
    target: str
    kernels: tuple[DeviceKernel, ...]
    arena_bytes: Dim


@dataclass(frozen=True)
class Manifest:
    """How to call a module's code.

    target: as `parse_target` reads. entry: a C function
    `int32 entry(void** inputs, void** outputs, void** parameters, void* arena, int64_t* symbols, int32 num_threads,
    struct tilework_device* devices)`, of as many devices as `devices` lists,
    whose result is 0 or the number of a failed check, which `messages` explains. `symbols` orders the int64 array.
    Each symbol is somewhere an input's dimension by itself; behind them the entry writes those of `bound`, which data
    decide, and which are at most what `bound` says: outputs have room for that many elements, and begin with those that
    there are. Where that is None, the entry allocates the outputs, puts them into the table, where null was, and the
    caller frees them, as C does, whether the call fails or not. Inputs and outputs are aligned to their element, the
    arena and the parameters to 64 bytes. kernels: how many the entry calls. requirements: what symbols must be, which
    the entry checks too; a caller who checks it first can name the inputs and their sizes. defaults: further inputs,
    whose defaults are among the parameters or what these are computed from, by @prepare of the module `prepare`.
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
    requirements: tuple[Requirement, ...] = ()
    defaults: tuple[Default, ...] = ()
    prepare: str = ""
    devices: tuple[DeviceUse, ...] = ()
    bound: Mapping[str, Dim | None] = field(default_factory=dict[str, Dim | None])

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        plain = asdict(replace(self, requirements=()))
        requirements = [{"any_of": [*map(str, r.any_of)], "text": r.text} for r in self.requirements]
        messages = {str(code): text for code, text in self.messages.items()}
        return {**plain, "messages": messages, "requirements": requirements}

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
            tuple(Requirement.parse(r["any_of"], r["text"]) for r in data["requirements"]),
            tuple(Default(_tensor(d["input"]), d["parameter"], d["fixed"]) for d in data["defaults"]),
            data["prepare"],
            tuple(_device(device) for device in data["devices"]),
            dict(data["bound"]),
        )


def _tensor(spec: Mapping[str, Any]) -> TensorSpec:
    return TensorSpec(spec["name"], spec["dtype"], tuple(spec["shape"]), spec["needs"], spec["device"])


def _device(use: Mapping[str, Any]) -> DeviceUse:
    kernels = tuple(DeviceKernel(k["name"], k["buffers"], k["symbols"], k["label"]) for k in use["kernels"])
    return DeviceUse(use["name"], use["target"], kernels, use["arena_bytes"])
