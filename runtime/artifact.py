"""A compiled module as one file: a zip archive, not compressed, that is loaded without compiling.

manifest.json says what the module takes and returns; objects/*.o are relocatable object files; devices/*/* is the code
of kernels that other devices run; program.mlir is what was compiled, and prepare.mlir computes its parameters from the
model's weights; parameters.safetensors holds the parameters, or in a compact artefact the weights. It lies at an offset
such that its bytes can be used where they are in a map of the file: loading reads none of them.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from threading import get_ident
from typing import IO, Any, cast

from tilework.algebra.errors import TileworkError
from tilework.runtime.arrays import Array, check_arrays
from tilework.runtime.manifest import Manifest
from tilework.runtime.safetensors_file import map_tensors, tensors_size, write_tensors
from tilework.runtime.source import Source

FORMAT = 7
"""Raised with every change that an older Tilework could not read, and where what is compiled and what calls it changes:
format 1 called OpenMP, the workers of format 2 lack `calls.ll`, and those of the first artefact in a process serve all
others; requirements of format 3 are expressions that must be positive; entries of format 4 take no devices;
format 5 has no program and no compact artefacts."""

_MANIFEST, _PARAMETERS, _SUPPORT = "manifest.json", "parameters.safetensors", "support"
_PROGRAM, _PREPARE = "program.mlir", "prepare.mlir"
_LOCAL_HEADER_BYTES = 30


@dataclass(frozen=True)
class Artifact:
    """What a file holds: the code of the host and of devices, and the parameters by name.

    parameters: views of the mapped file where one is read; where `compact`, the weights that they are computed from.
    support: what the code needs besides. device_code: of the kernels of each device, by name.
    """

    manifest: Manifest
    objects: Sequence[bytes]
    parameters: Mapping[str, Array]
    support: bytes
    device_code: Mapping[str, Mapping[str, bytes]]
    source: Source | None = None
    compact: bool = False


def write_artifact(destination: Path | IO[bytes], artifact: Artifact) -> None:
    """Write to a path, whole or not at all, or to a binary file. Raises TileworkError where that is not possible."""
    if isinstance(destination, Path):
        _write_whole(destination, artifact)
    else:
        _write(destination, artifact)


def _write_whole(path: Path, artifact: Artifact) -> None:
    if not path.name:
        raise TileworkError(f"cannot write {path}: it is a folder")
    aside = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}")
    try:
        with open(aside, "wb") as file:
            _write(file, artifact)
        os.replace(aside, path)
    except BaseException as error:
        with suppress(OSError):
            aside.unlink()
        if isinstance(error, OSError):
            raise TileworkError(f"cannot write {path}: {error.strerror}") from None
        raise


def _write(file: IO[bytes], artifact: Artifact) -> None:
    manifest, source = artifact.manifest, artifact.source
    head: dict[str, object] = {
        "format": FORMAT,
        "tilework": version("tilework"),
        "objects": len(artifact.objects),
        "compact": artifact.compact,
        "module": manifest.to_json(),
    }
    if source is not None:
        head["source"] = {"precision": source.precision, "schedules": dict(source.schedules)}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_MANIFEST), json.dumps(head, indent=1))
        for index, image in enumerate(artifact.objects):
            archive.writestr(zipfile.ZipInfo(_object_name(index)), image)
        for use in manifest.devices:
            for kernel in use.kernels:
                code = artifact.device_code[use.name][kernel.name]
                archive.writestr(zipfile.ZipInfo(_code_name(use.name, kernel.name)), code)
        archive.writestr(zipfile.ZipInfo(_SUPPORT), artifact.support)
        if source is not None:
            for name, text in ((_PROGRAM, source.program), (_PREPARE, source.prepare)):
                archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
        member = zipfile.ZipInfo(_PARAMETERS)
        member.file_size = tensors_size(artifact.parameters)  # beyond 4 GB another header is needed, and decided on now
        with archive.open(member, "w") as stream:
            write_tensors(stream, file.tell(), artifact.parameters)


def read_artifact(origin: Path | IO[bytes]) -> Artifact:
    """What `write_artifact` wrote to a path, of which the parameters are mapped, or to a binary file, which is read.

    Raises TileworkError where there is no such file, or it is no artefact, damaged or newer.
    """
    if not isinstance(origin, Path):
        content = origin.read()
        return _read("the file", BytesIO(content), lambda: content)
    try:
        with open(origin, "rb") as file:
            return _read(str(origin), file, lambda: mmap(file.fileno(), 0, access=ACCESS_READ))
    except OSError as error:
        raise TileworkError(f"cannot read {origin}: {error.strerror}") from None


def _read(name: str, file: IO[bytes], memory: Callable[[], mmap | bytes]) -> Artifact:
    begins_as_zip = file.read(4) == b"PK\x03\x04"
    try:
        with zipfile.ZipFile(file) as archive:
            if _MANIFEST not in archive.namelist():
                raise TileworkError(f"{name} is not a Tilework artefact: it has no {_MANIFEST}")
            head = json.loads(archive.read(_MANIFEST))
            _check_format(name, head)
            objects = [archive.read(_object_name(index)) for index in range(head["objects"])]
            manifest = Manifest.from_json(head["module"])
            parameters = _parameters(file, archive.getinfo(_PARAMETERS), memory())
            if not head["compact"]:
                check_arrays(parameters, manifest.parameters)
            device_code = {
                use.name: {k.name: archive.read(_code_name(use.name, k.name)) for k in use.kernels}
                for use in manifest.devices
            }
            source = _source(archive, head, parameters) if "source" in head else None
            support = archive.read(_SUPPORT)
            return Artifact(manifest, objects, parameters, support, device_code, source, head["compact"])
    except (zipfile.BadZipFile, zlib.error, LookupError, ValueError, TypeError, EOFError, RuntimeError) as error:
        if not begins_as_zip:
            raise TileworkError(f"{name} is not a Tilework artefact: write one with Module.save") from None
        raise TileworkError(f"{name} is damaged or truncated ({error}): save the module again") from None


def _source(archive: zipfile.ZipFile, head: Mapping[str, Any], parameters: Mapping[str, Array]) -> Source:
    program, prepare = (archive.read(name).decode() for name in (_PROGRAM, _PREPARE))
    given = head["source"]
    weights = (lambda: parameters) if head["compact"] else None
    return Source(program, given["precision"], given["schedules"], prepare, weights)


def _check_format(path: str, head: object) -> None:
    fields = cast("dict[str, object]", head) if isinstance(head, dict) else {}
    found = fields.get("format")
    if not isinstance(found, int):
        raise TileworkError(f"{path} is not a Tilework artefact: its {_MANIFEST} names no format")
    if found != FORMAT:
        what_to_do = "upgrade it" if found > FORMAT else "save the module again"
        raise TileworkError(
            f"{path} was saved by Tilework {fields.get('tilework')} in format {found}; this is Tilework "
            f"{version('tilework')}, which reads format {FORMAT}: {what_to_do}"
        )


def _parameters(file: IO[bytes], member: zipfile.ZipInfo, memory: mmap | bytes) -> dict[str, Array]:
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER_BYTES)
    name_length, extra_length = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    position = member.header_offset + _LOCAL_HEADER_BYTES + name_length + extra_length
    return map_tensors(memory, position, member.file_size)


def _code_name(device: str, kernel: str) -> str:
    return f"devices/{device}/{kernel}"


def _object_name(index: int) -> str:
    return f"objects/{index}.o"
