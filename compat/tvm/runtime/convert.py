"""`tvm.runtime.convert`: Python's numbers as those of te."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tilework import te


def convert(value: Any) -> Any:
    """An integer as an extent with a `value`, a float as a constant, in lists and dictionaries too; else what it is."""
    if isinstance(value, bool):
        return te.const(value, "bool")
    if isinstance(value, int):
        return te.IntImm(value)
    if isinstance(value, float):
        return te.const(value, "float32")
    if isinstance(value, list | tuple):
        return [convert(one) for one in cast("Sequence[object]", value)]
    if isinstance(value, Mapping):
        return {key: convert(one) for key, one in cast("Mapping[Any, object]", value).items()}
    return value
