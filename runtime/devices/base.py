"""What a device makes of code: something that is linked when it is first called, and then a Python function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self


class Code(Protocol):
    """Code that has been loaded."""

    @property
    def entry(self) -> Callable[..., Any]:
        """The function to call."""
        ...

    @property
    def address(self) -> int:
        """Where native code finds the function; 0 for one that is not native."""
        ...


class Linked(Protocol):
    """Code that may have to be loaded still: it may be for another machine, and is held and saved all the same."""

    def code(self) -> Code:
        """Load it, at the first call. Raises TileworkError where it cannot run here."""
        ...


@dataclass(frozen=True)
class Loaded:
    """Code that is there already."""

    entry: Callable[..., Any]
    address: int = 0

    def code(self) -> Self:
        """Return at once: nothing is left to be done."""
        return self
