"""What a pool's machines tell each other: bytes, numbers, texts, lists and dictionaries of them, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tilework.algebra.errors import TileworkError
from tilework.runtime.arrays import Array, aligned_empty, dtype_named
from tilework.runtime.tensor_spec import TensorSpec
from tilework.tuning.measuring.base import Workload
from tilework.tuning.measuring.outcome import Code, Failure, Outcome

Message = dict[str, Any]


@dataclass(frozen=True)
class SentWorkload:
    """A workload that came from another machine."""

    arguments: Sequence[TensorSpec]
    inputs: int
    allowed: float
    seed: int


def message_of_workload(workload: Workload) -> Message:
    """What `workload_in` reads."""
    return {
        "arguments": [[spec.dtype, list(spec.shape)] for spec in workload.arguments],
        "inputs": workload.inputs,
        "allowed": workload.allowed,
        "seed": workload.seed,
    }


def workload_in(message: Message) -> SentWorkload:
    """The workload of a message."""
    specs = [TensorSpec(f"arg{i}", dtype, tuple(shape)) for i, (dtype, shape) in enumerate(message["arguments"])]
    return SentWorkload(specs, message["inputs"], message["allowed"], message["seed"])


def message_of_code(code: Code) -> Message:
    """What `code_in` reads."""
    return {
        "target": code.target,
        "entry": code.entry,
        "scratch": list(code.scratch),
        "object": code.object_code,
        "digest": digest_of(code.object_code),
    }


def code_in(message: Message) -> Code:
    """The code of a message. Raises TileworkError where it is not what was sent."""
    check_digest(digest_of(message["object"]), message["digest"])
    return Code(message["target"], message["entry"], message["object"], tuple(message["scratch"]))


def message_of_outcome(outcome: Outcome) -> Message:
    """What `outcome_in` reads."""
    failure = None if outcome.failure is None else outcome.failure.value
    return {"seconds": outcome.seconds, "failure": failure, "message": outcome.message}


def outcome_in(message: Message) -> Outcome:
    """The outcome of a message."""
    failure = message["failure"]
    return Outcome(message["seconds"], None if failure is None else Failure(failure), message["message"])


def message_of_arrays(arrays: Mapping[str, Array]) -> Message:
    """What `named_arrays_in` reads."""
    specs = [[name, array.dtype.name, list(array.shape)] for name, array in arrays.items()]
    return {"arrays": specs, "data": bytes_of(arrays.values())}


def named_arrays_in(message: Message) -> dict[str, Array]:
    """The arrays of a message, by name."""
    names = [name for name, _, _ in message["arrays"]]
    specs = [(dtype, shape) for _, dtype, shape in message["arrays"]]
    return dict(zip(names, arrays_in(specs, message["data"]), strict=True))


def bytes_of(arrays: Any) -> bytes:
    """The bytes of arrays, one after the other."""
    return b"".join(array.tobytes() for array in arrays)


def arrays_in(specs: Sequence[tuple[str, Sequence[Any]]], content: bytes) -> list[Array]:
    """Arrays of these types and shapes, from bytes that are there one after the other."""
    found: list[Array] = []
    at = 0
    for name, shape in specs:
        dtype = dtype_named(name)
        array = aligned_empty(tuple(shape), dtype)
        size = dtype.itemsize * prod(shape)
        array.reshape(-1).view(np.uint8)[...] = np.frombuffer(content[at : at + size], np.uint8)
        at += size
        found.append(array)
    return found


def digest_of(*parts: bytes) -> str:
    """What stands for content that is sent once and named often."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def check_digest(found: str, sent: str) -> None:
    """Raise TileworkError where content has another digest than it was sent with."""
    if found != sent:
        raise TileworkError("the code that arrived is not the code that was sent: send it again")
