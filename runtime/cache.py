"""Compiled kernels on disk: object code and metadata under a key, shared by any number of processes; and, without code,
what kernels are expected to cost.

A cache may only ever save time: a damaged entry is a miss, and a folder that cannot be written costs one warning.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.plugins.packages import Plugin, plugins

_MAGIC = b"tilework-kernel 1\n"
_DIGEST_BYTES = 32
_LENGTH_BYTES = 8
_ASIDE = ".new-"
_ABANDONED_SECONDS = 600
DEFAULT_LIMIT_BYTES = 1 << 30

_log = logging.getLogger("tilework")


class KernelCache:
    """A folder of kernels and prices. The least recently used go once all of them together exceed `limit_bytes`."""

    def __init__(self, folder: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES):
        self.folder = folder
        self.limit_bytes = limit_bytes
        self._warned = False
        self._known_bytes: int | None = None

    def get(self, key: str) -> tuple[bytes, dict[str, Any]] | None:
        """The object code and metadata stored under `key`, or None."""
        path = self._path(key)
        try:
            entry = path.read_bytes()
        except OSError:
            return None
        content = _decode(key, entry)
        if content is not None:
            self._mark_used(path)
        return content

    def put(self, key: str, object_code: bytes, metadata: dict[str, Any]) -> None:
        """Store an entry whole or not at all. `metadata` must be JSON. Never fails: see the warning."""
        entry = _encode(key, object_code, metadata)
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_atomically(path, entry)
            self._keep_within_limit(len(entry))
        except OSError as error:
            self._warn(error)

    def _path(self, key: str) -> Path:
        # A key may be any text; its digest is a file name on every system.
        name = hashlib.sha256(key.encode()).hexdigest()
        return self.folder / name[:2] / name

    def _mark_used(self, path: Path) -> None:
        try:
            os.utime(path)
        except OSError:
            pass  # a folder that is read-only, or an entry another process has just removed

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            _log.warning(
                "tilework: the kernel cache %s cannot be written (%s): going on without", self.folder, error.strerror
            )
        self._warned = True

    def _keep_within_limit(self, added_bytes: int) -> None:
        """Remove the entries used longest ago; down to nine tenths, so that it is not done at every `put`."""
        if self._known_bytes is not None:
            self._known_bytes += added_bytes
            if self._known_bytes <= self.limit_bytes:
                return
        entries = sorted(_stats(self.folder), key=lambda entry: entry[1].st_mtime)
        total = sum(stat.st_size for _, stat in entries)
        if total > self.limit_bytes:
            for path, stat in entries:
                if total <= self.limit_bytes * 9 // 10:
                    break
                path.unlink(missing_ok=True)
                total -= stat.st_size
        self._known_bytes = total


def default_cache() -> KernelCache:
    """The cache in TILEWORK_CACHE, else in the folder for caches of this system (`~/.cache/tilework` on Linux)."""
    folder = os.environ.get("TILEWORK_CACHE")
    return KernelCache(Path(folder) if folder else _platform_folder() / "tilework")


def cache_for(given: object) -> KernelCache:
    """The cache that a caller gives, the default one for None. Raises UsageError for anything else."""
    if given is None:
        return default_cache()
    if not isinstance(given, KernelCache):
        raise UsageError(f"cache= takes a KernelCache of a folder, not a {type(given).__name__}")
    return given


def _platform_folder() -> Path:
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache")


def _home() -> Path:
    """The user's folder; one in which nothing can be written for a user without any."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull)


def source_hash() -> str:
    """A digest of Tilework's own sources, of those of plugins, and of the versions of what it compiles with.

    It belongs in every key: an edit of the compiler must not meet the code that the compiler made before.
    """
    return _hash_with(plugins())


@cache
def _hash_with(plugins: tuple[Plugin, ...]) -> str:
    digest = hashlib.sha256()
    for package in ("xdsl", "llvmlite"):
        digest.update(f"{package} {version(package)}\n".encode())
    root = Path(__file__).parents[1]
    _add_files(digest, root, _sources(root))
    for plugin in plugins:
        digest.update(f"plugin {plugin.name}\n".encode())
        _add_files(digest, plugin.root, _files_of(plugin))
    return digest.hexdigest()


def _files_of(plugin: Plugin) -> Iterator[Path]:
    """All that a plugin consists of: a back end may bring text in files of its own."""
    return (path for path in plugin.root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _add_files(digest: hashlib._Hash, root: Path, files: Iterable[Path]) -> None:  # pyright: ignore[reportPrivateUsage]
    """Names and contents of files, whatever order they come in."""
    for path in sorted(files):
        digest.update(f"{path.relative_to(root)}\n".encode())
        digest.update(path.read_bytes())


def _sources(root: Path) -> Iterator[Path]:
    """The modules of all packages under `root`, and the texts in them: a folder with an `__init__.py` is a package."""
    for package in root.glob("*/__init__.py"):
        yield from (path for path in package.parent.rglob("*") if path.suffix in (".py", ".mlir", ".ll"))


def _encode(key: str, object_code: bytes, metadata: dict[str, Any]) -> bytes:
    """Magic, digest of the key and the rest, length of the metadata, metadata, object code."""
    text = json.dumps(metadata, sort_keys=True).encode()
    body = len(text).to_bytes(_LENGTH_BYTES, "little") + text + object_code
    return _MAGIC + _digest(key, body) + body


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + body).digest()


def _decode(key: str, entry: bytes) -> tuple[bytes, dict[str, Any]] | None:
    """The content of an entry, or None where it is truncated, damaged, of another key or of another format."""
    start = len(_MAGIC) + _DIGEST_BYTES
    body = entry[start:]
    if not entry.startswith(_MAGIC) or _digest(key, body) != entry[len(_MAGIC) : start]:
        return None
    end = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
    return body[end:], json.loads(body[_LENGTH_BYTES:end])


def _write_atomically(path: Path, content: bytes) -> None:
    """A reader sees the old file or the new one, never a part: written aside, then renamed."""
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=_ASIDE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(aside, path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def _stats(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Every entry, and files set aside so long ago that their process must have been killed."""
    for path in folder.glob("??/*"):
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue  # removed by another process meanwhile
        if not path.name.startswith(_ASIDE) or stat.st_mtime < time.time() - _ABANDONED_SECONDS:
            yield path, stat
