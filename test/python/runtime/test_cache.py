"""The kernel cache: what is stored comes back, and nothing that goes wrong with a folder stops a compilation."""

import errno
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tilework.runtime import cache
from tilework.runtime.cache import KernelCache, default_cache, source_hash

METADATA = {"symbol": "k0", "scratch": [1, 2]}


def entry_file(kernels: KernelCache) -> Path:
    (path,) = kernels.folder.glob("??/*")
    return path


def test_what_is_stored_comes_back(tmp_path: Path):
    kernels = KernelCache(tmp_path / "new" / "folder")
    assert kernels.get("key") is None
    kernels.put("key", b"\x7fELF", METADATA)
    assert kernels.get("key") == (b"\x7fELF", METADATA)
    assert KernelCache(kernels.folder).get("key") == (b"\x7fELF", METADATA)
    assert kernels.get("other key") is None


def test_the_last_one_stored_counts(tmp_path: Path):
    kernels = KernelCache(tmp_path)
    kernels.put("key", b"old", {})
    kernels.put("key", b"new", METADATA)
    assert kernels.get("key") == (b"new", METADATA)


@pytest.mark.parametrize("size", [0, 5, 17, 30, 57, 60, -1])
def test_a_truncated_entry_is_a_miss(tmp_path: Path, size: int):
    kernels = KernelCache(tmp_path)
    kernels.put("key", b"code", METADATA)
    path = entry_file(kernels)
    path.write_bytes(path.read_bytes()[:size])
    assert kernels.get("key") is None
    kernels.put("key", b"code", METADATA)
    assert kernels.get("key") == (b"code", METADATA)


def test_an_entry_in_another_ones_place_is_a_miss(tmp_path: Path):
    kernels, others = KernelCache(tmp_path / "a"), KernelCache(tmp_path / "b")
    kernels.put("key", b"code", METADATA)
    others.put("other key", b"other code", METADATA)
    entry_file(kernels).write_bytes(entry_file(others).read_bytes())
    assert kernels.get("key") is None


@pytest.mark.parametrize("position", [0, 20, 52, 60, -1])
def test_a_changed_byte_is_a_miss(tmp_path: Path, position: int):
    kernels = KernelCache(tmp_path)
    kernels.put("key", b"code", METADATA)
    content = bytearray(entry_file(kernels).read_bytes())
    content[position] ^= 1
    entry_file(kernels).write_bytes(content)
    assert kernels.get("key") is None


def test_an_unusable_folder_warns_once_and_is_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "file").write_text("in the way")
    kernels = KernelCache(tmp_path / "file")
    with caplog.at_level(logging.WARNING, "tilework"):
        kernels.put("a", b"code", {})
        kernels.put("b", b"code", {})
    assert kernels.get("a") is None
    assert [record.getMessage() for record in caplog.records] == [
        f"tilework: the kernel cache {tmp_path / 'file'} cannot be written (Not a directory): going on without"
    ]


def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def full(source: str, target: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    kernels = KernelCache(tmp_path)
    monkeypatch.setattr(os, "replace", full)
    kernels.put("key", b"code", {})
    assert "cannot be written (No space left on device)" in caplog.text
    assert list(tmp_path.glob("??/*")) == []


def test_the_least_recently_used_go_first(tmp_path: Path):
    kernels = KernelCache(tmp_path, limit_bytes=4500)
    for age, key in enumerate(("a", "b", "c", "d")):
        kernels.put(key, bytes(1000), {})
        os.utime(kernels._path(key), (age, age))
    assert kernels.get("a") is not None  # used just now: b is the oldest
    kernels.put("e", bytes(1000), {})
    assert [key for key in "abcde" if kernels.get(key)] == ["a", "d", "e"]


def test_what_a_killed_process_left_goes_but_not_what_another_is_writing(tmp_path: Path):
    kernels = KernelCache(tmp_path, limit_bytes=100)
    (tmp_path / "ab").mkdir()
    for name, age in ((".new-killed", 3600), (".new-writing", 1)):
        (tmp_path / "ab" / name).write_bytes(bytes(1000))
        os.utime(tmp_path / "ab" / name, (time.time() - age,) * 2)
    kernels.put("key", b"code", {})
    assert [path.name for path in tmp_path.glob("ab/*")] == [".new-writing"]


def test_two_processes_share_a_folder(tmp_path: Path):
    program = (
        "import sys; from pathlib import Path; from tilework.runtime.cache import KernelCache\n"
        "kernels = KernelCache(Path(sys.argv[1]), limit_bytes=40_000)\n"
        "for i in range(200):\n"
        "    kernels.put(f'{i % 20}', bytes([i % 20]) * 4000, {'i': i % 20})\n"
        "    found = kernels.get(f'{(i * 7) % 20}')\n"
        "    assert found is None or found == (bytes([found[1]['i']]) * 4000, {'i': (i * 7) % 20})\n"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stderr=subprocess.PIPE) for _ in range(2)
    ]
    assert [(worker.communicate(timeout=60)[1], worker.returncode) for worker in workers] == [(b"", 0), (b"", 0)]
    assert not list(tmp_path.glob("??/.new-*"))


def test_the_folder_is_the_users_choice_or_the_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("TILEWORK_CACHE", str(tmp_path))
    assert default_cache().folder == tmp_path
    monkeypatch.delenv("TILEWORK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert default_cache().folder == tmp_path / "tilework"


def test_a_user_without_a_folder_goes_on_without(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    for name in ("TILEWORK_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 987_654_321)  # whom nobody knows
    kernels = default_cache()
    kernels.put("key", b"code", {})
    assert kernels.get("key") is None and caplog.text.count("cannot be written") == 1


def test_the_hash_covers_every_source_and_changes_with_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    covered = {path.name for path in cache._sources(Path(cache.__file__).parents[1])}
    assert {"cache.py", "index_expr.py", "base.py"} <= covered and "test_cache.py" not in covered

    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "package" / "cache.py"))
    hashes = set()
    for text in ("x = 1", "x = 2"):
        (tmp_path / "package" / "cache.py").write_text(text)
        cache._hash_with.cache_clear()
        hashes.add(source_hash())
    cache._hash_with.cache_clear()
    assert len(hashes) == 2
