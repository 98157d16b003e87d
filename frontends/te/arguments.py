"""What arguments of the te language must be: anything else is refused in one line that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.errors import UsageError
from tilework.algebra.given_values import integer_of, takes
from tilework.dialects.schedule import KnobAttr, Number
from tilework.dialects.te.intrinsics import scopes_known, verify_scope


def kind(value: object) -> str:
    """What a value is, for messages."""
    return f"a {type(value).__name__}"


def check_integer(value: object, what: str) -> int:
    """An integer that 64 bits hold."""
    number = integer_of(value)
    if number is None:
        raise UsageError(f"{what} is a whole number, not {kind(value)}")
    if not -(1 << 63) <= number < 1 << 63:
        raise UsageError(f"{what} is {number}, which does not fit 64 bits")
    return number


def check_number(value: object, what: str, least: int = 1) -> Number:
    """A number of a schedule, from the least one on, or a knob of such numbers. `what` begins the message."""
    if isinstance(value, KnobAttr):
        for choice in value.values:
            if choice < least:
                raise UsageError(f"{what} by knob '{value.knob.data}', which may be {choice}: must be at least {least}")
        return value
    number = integer_of(value)
    if number is None:
        raise UsageError(f"{what}: a factor is a whole number, not {kind(value)}")
    if number < least:
        raise UsageError(f"{what} by {number}: must be at least {least}")
    return check_integer(number, what)


def check_text(value: object, what: str) -> str:
    """A text of one line."""
    if not isinstance(value, str):
        raise UsageError(f"{what} is a text, not {kind(value)}")
    if not value.isprintable():
        raise UsageError(f"{what} is a text of one line, not {value!r}")
    return value


def check_flag(value: object, what: str) -> bool:
    """Refuse anything but True or False."""
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"{what} is True or False, not {kind(value)}")
    return bool(cast("object", value))


def check_attributes(value: object, what: str) -> dict[str, Any]:
    """A dictionary by name; None stands for an empty one."""
    if value is not None and not isinstance(value, Mapping):
        raise UsageError(f"{what} is a dictionary, not {kind(value)}")
    return dict(cast("Mapping[str, Any]", value or {}))


def check_word(value: object, known: Sequence[str], what: str) -> str:
    """One of the words that are known. `what` begins the message."""
    if not isinstance(value, str) or value not in known:
        given = repr(value) if isinstance(value, str) else kind(value)
        raise UsageError(f"{what} {given}; known: {', '.join(known)}")
    return value


def check_scope(value: object) -> str:
    """A memory scope, with a tag perhaps."""
    if not isinstance(value, str):
        raise UsageError(f"a scope is a text, not {kind(value)}; known: {', '.join(scopes_known())}")
    check_text(value, "a scope")
    try:
        verify_scope(value)
    except VerifyException as error:
        raise UsageError(str(error)) from error
    return value


def listed(value: object) -> list[object] | None:
    """The elements of a list or tuple; None for anything else."""
    return list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else None


def check_function(value: object, arguments: int, what: str) -> None:
    """Something to be called with so many arguments."""
    if not callable(value):
        raise UsageError(f"{what} is a function, not {kind(value)}")
    if not takes(value, arguments):
        number = f"{arguments} argument{'' if arguments == 1 else 's'}"
        raise UsageError(f"{what} is called with {number}, which it does not take")
