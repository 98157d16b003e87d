"""What callers of compiled code know of a tensor."""

from __future__ import annotations

from dataclasses import dataclass

Dim = int | str
"""An extent: a number, or an index expression over symbols such as "N" or "2 * N + 1"."""


@dataclass(frozen=True)
class TensorSpec:
    """Name, numpy dtype name and shape of an input, output or parameter.

    `needs` says which operators need that an input's sizes are those of others, or numbers, though it declares symbols.
    `device` is the device in whose memory a parameter is; it is empty for the host.
    """

    name: str
    dtype: str
    shape: tuple[Dim, ...]
    needs: str = ""
    device: str = ""

    @property
    def reason(self) -> str:
        """What is to be added to a message about a size that does not fit."""
        return f"; {self.needs}" if self.needs else ""

    @property
    def shape_text(self) -> str:
        """The shape as numpy writes shapes: "(N, 64)", "(N,)"."""
        comma = "," if len(self.shape) == 1 else ""
        return f"({', '.join(map(str, self.shape))}{comma})"

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype} {self.shape_text}"
