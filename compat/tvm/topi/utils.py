"""Helpers of operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tilework import te
from tilework.algebra.errors import UsageError


def get_const_int(expr: Any) -> int:
    """A number that is known. Raises TVMError for a symbol."""
    if isinstance(expr, te.Constant):
        return int(expr.number)
    try:
        return int(expr)
    except (TypeError, ValueError):
        raise UsageError(f"a number that is known is expected, not {expr}") from None


def get_const_float(expr: Any) -> float:
    """A number that is known."""
    return float(expr.number) if isinstance(expr, te.Constant) else float(expr)


def get_const_tuple(in_tuple: Sequence[Any]) -> tuple[Any, ...]:
    """The numbers that are known of a shape as Python's; symbols as they are."""
    return tuple(e if isinstance(e, te.IndexValue) else int(e) for e in in_tuple)


def simplify(expr: Any) -> Any:
    """The expression itself, which is in its simplest form."""
    return expr


def axes_in_order(axis: Any) -> list[int]:
    """One axis or several by number, in the order that they are given in."""
    given = list(cast("Sequence[Any]", axis)) if isinstance(axis, list | tuple) else [axis]
    return [get_const_int(a) for a in given]


def axes_of(axis: Any, rank: int) -> list[int]:
    """Axes by number, counted from the end below 0, in order; all where none are named. Raises TVMError for others."""
    numbers = list(range(rank)) if axis is None else axes_in_order(axis)
    for number in numbers:
        if not -rank <= number < rank:
            raise UsageError(f"axis {number} of a tensor of {rank} dimensions")
    return sorted({number % rank for number in numbers})


def pair(value: Any) -> tuple[int, int]:
    """Two numbers, of which one stands for both."""
    first, second = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value, value)
    return get_const_int(first), get_const_int(second)


def window_padding(
    padding: Any, kernel: tuple[int, int], dilation: tuple[int, int] = (1, 1)
) -> tuple[int, int, int, int]:
    """Padding at the top, left, bottom and right. padding: one to four numbers, "SAME" or "VALID"."""
    if isinstance(padding, str):
        if padding not in ("SAME", "VALID"):
            raise UsageError(f'padding is "SAME", "VALID" or numbers, not "{padding}"')
        both = [(k - 1) * d if padding == "SAME" else 0 for k, d in zip(kernel, dilation, strict=True)]
        top, left = ((both[0] + 1) // 2, (both[1] + 1) // 2)
        return top, left, both[0] - top, both[1] - left
    if isinstance(padding, list | tuple):
        numbers = [get_const_int(p) for p in cast("Sequence[Any]", padding)]
        if len(numbers) == 4:
            return numbers[0], numbers[1], numbers[2], numbers[3]
        if len(numbers) == 2:
            return numbers[0], numbers[1], numbers[0], numbers[1]
        if len(numbers) == 1:
            return numbers[0], numbers[0], numbers[0], numbers[0]
        raise UsageError(f"padding has one, two or four numbers, not {len(numbers)}")
    number = get_const_int(padding)
    return number, number, number, number
