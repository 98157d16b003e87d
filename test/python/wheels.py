"""Wheels of Tilework and of packages beside it, built from copies of their sources."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LEFT_OUT = {"test", "docs", "bench", "examples", "build"}
"""Folders at the root that are not installed."""


def source_folders() -> list[Path]:
    """Folders, relative to the root, that hold Python of ours."""
    tops = [top for top in ROOT.iterdir() if top.is_dir() and top.name not in LEFT_OUT and not top.name.startswith(".")]
    files = (file.relative_to(ROOT) for top in tops for file in top.rglob("*.py"))
    return sorted({file.parent for file in files})


def wheel_of_tilework(folder: Path) -> Path:
    """A wheel of Tilework in a folder; what is not installed lies beside the sources, as in a checkout."""
    copy = folder / "sources"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for top in {folder.parts[0] for folder in source_folders()} | LEFT_OUT:
        if (ROOT / top).is_dir() and top != "build":
            ignored = shutil.ignore_patterns("__pycache__", "Output")
            shutil.copytree(ROOT / top, copy / top, symlinks=True, ignore=ignored)
    return _built(copy, folder)


def wheel_of(source: Path, folder: Path) -> Path:
    """A wheel, in a folder, of the package whose pyproject.toml lies in `source`."""
    copy = folder / "sources"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "Output", "build", "*.egg-info"))
    return _built(copy, folder)


def _built(sources: Path, folder: Path) -> Path:
    build = f"from setuptools.build_meta import build_wheel; build_wheel({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", build], cwd=sources, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built
