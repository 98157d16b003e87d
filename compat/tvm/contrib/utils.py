"""`tvm.contrib.utils`: folders for the time that a program runs."""

from __future__ import annotations

import tempfile
from pathlib import Path


class TempDirectory:
    """A folder that is removed with the object."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.path = self._folder.name

    def relpath(self, name: str) -> str:
        """The path of a file in the folder."""
        return str(Path(self.path) / name)

    def listdir(self) -> list[str]:
        """The names of the files in the folder."""
        return sorted(file.name for file in Path(self.path).iterdir())

    def remove(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()


def tempdir() -> TempDirectory:
    """A new folder."""
    return TempDirectory()
