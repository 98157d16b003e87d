"""What functions on tables are run on: the tensors that a table lies in, as a program has them once it is lowered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute

from tilework.dialects.bag import BagType, Table, layout_of, table_of, tensors_of
from tilework.dialects.graph.base import Array


def codes_in(type_: Attribute) -> list[int | None]:
    """for each of its tensors, below which number the codes in it are, if that is what is in it."""
    if not isinstance(type_, BagType):
        return [None] * len(tensors_of(type_))
    smallest = min(type_.dictionaries.values(), default=0)
    return [smallest if part.type.element_type == i32 else None for part in layout_of(type_)]


def as_arguments(types: Iterable[Attribute], arrays: Sequence[Array]) -> list[Array | Table]:
    """The arguments of these types that lie in the arrays."""
    left = iter(arrays)
    return [_argument(type_, left) for type_ in types]


def _argument(type_: Attribute, left: Iterator[Array]) -> Array | Table:
    return table_of(type_, left) if isinstance(type_, BagType) else next(left)
