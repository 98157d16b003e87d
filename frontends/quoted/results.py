"""What a quoted function returns: values of its program, and what they are to who has called it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from tilework.dialects.bag import ColumnOp, bag_of
from tilework.frontends.quoted.values import Bag, Constant, Matrix, NotKnown, Number, Value


def values_of(result: Value, insert: Callable[[Operation], object]) -> Iterator[SSAValue]:
    """The values that a result consists of, in order; a table is its columns. Raises NotKnown for what is no result."""
    match result:
        case tuple():
            for item in result:
                if not isinstance(item, Constant):
                    yield from values_of(item, insert)
        case Number(value=value, rows=SSAValue() as rows):
            yield from (value, rows)
        case Number(value=value) | Matrix(value=value):
            yield value
        case Bag(value=value):
            for name in bag_of(value).columns:
                column = ColumnOp.of(value, column=StringAttr(name))
                insert(column)
                yield column.result
        case _:
            raise NotKnown("what it returns is no number, matrix or table that is computed of a table")


def given(result: Value, arrays: Iterator[Any]) -> Any:
    """A result as Python has it, of the arrays that its values have become.

    A table is a dict of its columns; numbers of groups are a dict that leaves out groups without rows.
    """
    match result:
        case tuple():
            return tuple(given(item, arrays) for item in result)
        case Number():
            found = np.asarray(next(arrays)).astype(np.int64 if result.is_count else np.float64)
            if result.labels is None:
                return found.item()
            groups = zip(result.labels, found.tolist(), np.asarray(next(arrays)).tolist(), strict=True)
            return {label: number for label, number, rows in groups if rows}
        case Constant(value=value):
            return value
        case Matrix():
            return np.asarray(next(arrays))
        case Bag():
            return {name: _column(result, name, np.asarray(next(arrays))) for name in bag_of(result.value).columns}
        case _:
            raise AssertionError("what is no result has been refused")


def _column(bag: Bag, name: str, found: Any) -> Any:
    """A column of numbers as it is, or the words that its codes stand for."""
    if name not in bag.dictionaries:
        return found
    return np.array([*bag.dictionaries[name], None], object)[found]  # a code of -1 is the last
