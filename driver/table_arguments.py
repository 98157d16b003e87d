"""What functions on tables are run on: the tensors that a table lies in, as a program has them once it is lowered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from tilework.dialects.bag import BagType, Table, layout_of, table_of
from tilework.dialects.graph.base import Array
from tilework.dialects.matrix import MatrixType


def tensors_of(type_: Attribute) -> list[TensorType[Attribute]]:
    """The types of the tensors in which an argument of this type lies; none for what is no table."""
    match type_:
        case BagType():
            return [part.type for part in layout_of(type_)]
        case MatrixType():
            return [type_.tensor]
        case _:
            return [type_] if isa(type_, TensorType[Attribute]) else []


def codes_in(type_: Attribute) -> list[int | None]:
    """For each of these tensors, below which number the codes in it are, if that is what is in it."""
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
