"""Inputs that are sequences or optionals: what they consist of, and the tensors in them, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from tilework.runtime.addresses import Array


@dataclass(frozen=True)
class TensorForm:
    """A tensor in a sequence or an optional: the name of its dtype, and how many axes it has."""

    dtype: str
    rank: int


Form: TypeAlias = "TensorForm | tuple[Form, ...] | None"
"""What an input consists of: one tensor, the elements of a sequence, or nothing, as an optional may."""


def form_of(value: Any) -> Form:
    """The form of a value: a list or tuple is a sequence, None an empty optional, all else a tensor."""
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return tuple(form_of(element) for element in cast("list[Any]", value))
    array = np.asarray(value)
    return TensorForm(array.dtype.name, array.ndim)


def tensors_in(name: str, value: Any) -> Iterator[tuple[str, Array]]:
    """The tensors of a value, by name: the elements of a sequence `x` are `x_0`, `x_1` and so on."""
    if isinstance(value, list | tuple):
        for i, element in enumerate(cast("list[Any]", value)):
            yield from tensors_in(f"{name}_{i}", element)
    elif value is not None:
        yield name, np.asarray(value)
