"""Python's collector of cycles, paused while operations are made."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_cyclic_gc() -> Generator[None]:
    """xDSL's operations form cycles; collecting them over and over while building takes half the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
