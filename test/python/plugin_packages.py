"""Packages with what plugins bring, made for a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tilework.plugins.packages import plugins_until_end


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Plugins that a test loads are there for that test alone."""
    with plugins_until_end():
        yield


def make_plugin(folder: Path, files: dict[str, str], start: str = "") -> Path:
    """A package with these files."""
    for name, text in {"__init__.py": start, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
