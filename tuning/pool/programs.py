"""Compiled programs on their way to another machine: modules as artefacts, functions as a line of JSON and code."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from tilework.algebra.errors import TileworkError, UsageError
from tilework.algebra.requirement import Requirement
from tilework.runtime.artifact import read_artifact
from tilework.runtime.function import Function, FunctionInfo
from tilework.runtime.module import Module
from tilework.runtime.tensor_spec import TensorSpec
from tilework.tuning.pool.messages import digest_of

MODULE, FUNCTION = "module", "function"


@dataclass(frozen=True)
class Program:
    """A program as bytes. kind: MODULE or FUNCTION."""

    kind: str
    content: bytes

    @cached_property
    def digest(self) -> str:
        """What stands for it where it is known already."""
        return digest_of(self.kind.encode(), self.content)


def program_of(value: object) -> Program:
    """A module, a function, or the path of an artefact, as bytes. Raises UsageError for anything else."""
    match value:
        case Module():
            with tempfile.TemporaryDirectory() as folder:
                value.save(Path(folder) / "module.tw")
                return Program(MODULE, (Path(folder) / "module.tw").read_bytes())
        case Function():
            head = json.dumps(_to_json(value.info))
            return Program(FUNCTION, head.encode() + b"\n" + value.object_code)
        case str() | Path():
            return Program(MODULE, _content(Path(value)))
        case _:
            what = "a Module, a Function, or the path of what Module.save wrote"
            raise UsageError(f"a program to upload is {what}, not a value of type {type(value).__name__}")


def opened(program: Program) -> Module | Function:
    """The program in memory, not yet linked: it may be for another machine. Raises TileworkError for what is none."""
    if program.kind == FUNCTION:
        head, _, code = program.content.partition(b"\n")
        return Function(_from_json(json.loads(head)), code)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.tw"
        path.write_bytes(program.content)
        return Module.of(read_artifact(path))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TileworkError(f"cannot read {path}: {error.strerror}") from None


def _to_json(info: FunctionInfo) -> dict[str, Any]:
    requirements = [[[*map(str, r.any_of)], r.text] for r in info.requirements]
    return {**asdict(replace(info, requirements=())), "requirements": requirements}


def _from_json(data: Mapping[str, Any]) -> FunctionInfo:
    fields: dict[str, Any] = {
        key: tuple(cast("list[Any]", value)) if isinstance(value, list) else value for key, value in data.items()
    }
    fields["arguments"] = tuple(_spec(spec) for spec in data["arguments"])
    fields["requirements"] = tuple(Requirement.parse(any_of, text) for any_of, text in data["requirements"])
    return FunctionInfo(**fields)


def _spec(data: Mapping[str, Any]) -> TensorSpec:
    return TensorSpec(data["name"], data["dtype"], tuple(data["shape"]), data["needs"], data["device"])
