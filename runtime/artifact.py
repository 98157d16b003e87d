"""A compiled module as one file: a zip archive, not compressed, that is loaded without compiling.

manifest.json says what the module takes and returns; objects/*.o are relocatable object files; devices/*/* is the code
of kernels that other devices run; parameters.safetensors
lies at an offset such that its bytes can be used where they are in a map of the file: loading reads none of them.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from mmap import ACCESS_READ, mmap
from pathlib import Path
from threading import get_ident
from typing import IO, cast

from tilework.algebra.errors import TileworkError
from tilework.runtime.arrays import Array, check_arrays
from tilework.runtime.manifest import Manifest
from tilework.runtime.safetensors_file import map_tensors, tensors_size, write_tensors

FORMAT = 5
"""Raised with every change that an older Tilework could not read, and where what is compiled and what calls it changes:
format 1 called OpenMP, the workers of format 2 lack `calls.ll`, and those of the first artefact in a process serve all
others; requirements of format 3 are expressions that must be positive; entries of format 4 take no devices."""

_MANIFEST, _PARAMETERS, _SUPPORT = "manifest.json", "parameters.safetensors", "support"
_LOCAL_HEADER_BYTES = 30


def write_artifact(
    path: Path,
    manifest: Manifest,
    objects: Sequence[bytes],
    parameters: Mapping[str, Array],
    support: bytes,
    device_code: Mapping[str, Mapping[str, bytes]],
) -> None:
    """Write the file whole or not at all. Raises TileworkError where the folder cannot be written."""
    if not path.name:
        raise TileworkError(f"cannot write {path}: it is a folder")
    aside = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}")
    try:
        with open(aside, "wb") as file:
            _write(file, manifest, objects, parameters, support, device_code)
        os.replace(aside, path)
    except BaseException as error:
        with suppress(OSError):
            aside.unlink()
        if isinstance(error, OSError):
            raise TileworkError(f"cannot write {path}: {error.strerror}") from None
        raise


def _write(
    file: IO[bytes],
    manifest: Manifest,
    objects: Sequence[bytes],
    parameters: Mapping[str, Array],
    support: bytes,
    device_code: Mapping[str, Mapping[str, bytes]],
) -> None:
    head = {"format": FORMAT, "tilework": version("tilework"), "objects": len(objects), "module": manifest.to_json()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_MANIFEST), json.dumps(head, indent=1))
        for index, image in enumerate(objects):
            archive.writestr(zipfile.ZipInfo(_object_name(index)), image)
        for use in manifest.devices:
            for kernel in use.kernels:
                archive.writestr(zipfile.ZipInfo(_code_name(use.name, kernel.name)), device_code[use.name][kernel.name])
        archive.writestr(zipfile.ZipInfo(_SUPPORT), support)
        member = zipfile.ZipInfo(_PARAMETERS)
        member.file_size = tensors_size(parameters)  # beyond 4 GB another header is needed, and decided on now
        with archive.open(member, "w") as stream:
            write_tensors(stream, file.tell(), parameters)


Artifact = tuple[Manifest, list[bytes], dict[str, Array], bytes, dict[str, dict[str, bytes]]]
"""The manifest, the object files, the parameters as views of the mapped file, what the code needs besides, and for
each device the code of its kernels."""


def read_artifact(path: Path) -> Artifact:
    """What `write_artifact` wrote.

    Raises TileworkError where there is no such file, or it is no artefact, damaged or newer.
    """
    try:
        with open(path, "rb") as file:
            return _read(path, file)
    except OSError as error:
        raise TileworkError(f"cannot read {path}: {error.strerror}") from None


def _read(path: Path, file: IO[bytes]) -> Artifact:
    begins_as_zip = file.read(4) == b"PK\x03\x04"
    try:
        with zipfile.ZipFile(file) as archive:
            if _MANIFEST not in archive.namelist():
                raise TileworkError(f"{path} is not a Tilework artefact: it has no {_MANIFEST}")
            head = json.loads(archive.read(_MANIFEST))
            _check_format(path, head)
            objects = [archive.read(_object_name(index)) for index in range(head["objects"])]
            manifest = Manifest.from_json(head["module"])
            parameters = _parameters(file, archive.getinfo(_PARAMETERS))
            check_arrays(parameters, manifest.parameters)
            device_code = {
                use.name: {k.name: archive.read(_code_name(use.name, k.name)) for k in use.kernels}
                for use in manifest.devices
            }
            return manifest, objects, parameters, archive.read(_SUPPORT), device_code
    except (zipfile.BadZipFile, zlib.error, LookupError, ValueError, TypeError, EOFError, RuntimeError) as error:
        if not begins_as_zip:
            raise TileworkError(f"{path} is not a Tilework artefact: write one with Module.save") from None
        raise TileworkError(f"{path} is damaged or truncated ({error}): save the module again") from None


def _check_format(path: Path, head: object) -> None:
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


def _parameters(file: IO[bytes], member: zipfile.ZipInfo) -> dict[str, Array]:
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER_BYTES)
    name_length, extra_length = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    position = member.header_offset + _LOCAL_HEADER_BYTES + name_length + extra_length
    return map_tensors(mmap(file.fileno(), 0, access=ACCESS_READ), position, member.file_size)


def _code_name(device: str, kernel: str) -> str:
    return f"devices/{device}/{kernel}"


def _object_name(index: int) -> str:
    return f"objects/{index}.o"
