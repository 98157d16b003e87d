"""te.call_packed: a te.extern whose tensors a function of Python fills, which is registered by a name."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.algebra.errors import UsageError
from tilework.frontends.te.arguments import check_text, kind
from tilework.frontends.te.buffers import Buffer
from tilework.frontends.te.index import IndexValue, is_index


@dataclass(frozen=True, eq=False)
class PackedCall:
    """A call of a registered function: with the arrays of buffers, with indices, numbers and texts."""

    name: str
    args: tuple[Buffer | IndexValue | int | float | str, ...]


def call_packed(func_name: str, *args: object) -> PackedCall:
    """What the function of a te.extern returns to have its tensors filled by a registered function of Python.

    args: buffers of the extern, which the function gets as arrays, indices made of te.var, numbers, texts. The function
    is looked up by its name when the program runs. Raises UsageError for other arguments.
    """
    check_text(func_name, "the name of a function")
    for arg in args:
        if not isinstance(arg, Buffer | str | float | bool) and not is_index(arg):
            raise UsageError(f"call_packed of '{func_name}' takes buffers, numbers and texts, not {kind(arg)}")
    return PackedCall(func_name, args)  # pyright: ignore[reportArgumentType]
