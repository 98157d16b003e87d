"""The error function on arrays. Only interpreters compute it, and scipy takes a while to import."""

from __future__ import annotations

from typing import Any


def erf(x: Any) -> Any:
    """Compute the error function of every element of a numpy array or scalar of floats, in its element type."""
    from scipy.special import erf as elementwise

    return elementwise(x).astype(x.dtype)
