"""The forms that values have in C: the kind of an element, and how many of them a vector has.

Kinds are `f32`, `f64`, `i8` to `i64` and, where C has no arithmetic for them, the bits of a number: `u16` for half and
bfloat16. A boolean is a `bool`; of a vector it is an integer, all of whose bits are set where it is true, as
comparisons of vectors make it. An integer of 4 bits is one of 8 with the same value. Compilers know vectors of 2, 4, 8
.. elements only: one of another length is a part of the next longer one, whose other elements may be anything.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IndexType, VectorType
from xdsl.ir import Attribute, Operation

from tilework.backends.element_types import element_of, is_boolean, stored_as, width_of
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import is_narrow

_FLOATS: dict[type[Attribute], str] = {Float32Type: "f32", Float64Type: "f64", Float16Type: "u16", BFloat16Type: "u16"}
_WIDTHS = (8, 16, 32, 64)

INDEX_KIND = "i64"


class Form(NamedTuple):
    """What a value is in C. lanes: a power of two, or None for a scalar."""

    kind: str
    lanes: int | None = None

    @property
    def bits(self) -> int:
        """The width of an element."""
        return 8 if self.kind == "bool" else int(self.kind[1:])

    @property
    def bytes(self) -> int:
        """The size of a whole value."""
        return self.bits // 8 * (self.lanes or 1)

    @property
    def suffix(self) -> str:
        """How names of functions on such values end: `f32`, `f32x8`."""
        return self.kind if self.lanes is None else f"{self.kind}x{self.lanes}"

    @property
    def scalar(self) -> Form:
        """The form of one element."""
        return Form(self.kind)

    @property
    def mask(self) -> Form:
        """The form of a comparison of two such values."""
        return Form("bool") if self.lanes is None else self.of("i")

    def of(self, kind: str) -> Form:
        """The form with elements of another kind; a letter alone stands for as many bits."""
        return Form(f"{kind}{self.bits}" if kind in ("i", "u") else kind, self.lanes)


INDEX = Form(INDEX_KIND)
"""The form of an index, where nothing says that fewer bits are enough."""


def lanes_in_c(lanes: int) -> int:
    """How many elements the C vector has of which so many are used."""
    return 1 << (lanes - 1).bit_length()


def kind_of(element: Attribute, op: Operation | None = None) -> str:
    """The kind of an element in registers; raises CompileError, about `op`, where C has none."""
    if (known := _FLOATS.get(type(element))) is not None:
        return known
    if isinstance(element, IndexType):
        return INDEX_KIND
    if is_boolean(element):
        return "bool"
    if is_narrow(element):
        return "i8"
    if (width := width_of(element)) in _WIDTHS:
        return f"i{width}"
    raise CompileError(f"C has no type for {element}; it knows floats, and integers of 1, 8, 16, 32 and 64 bits", op)


def form_of(type_: Attribute, op: Operation | None = None) -> Form:
    """The form of a scalar or of a vector of one dimension, whose booleans are bytes where nothing else is said."""
    if not isinstance(type_, VectorType):
        return Form(kind_of(type_, op))
    vector = cast("VectorType[Attribute]", type_)
    if vector.get_num_dims() != 1:
        raise CompileError(f"C has no type for {vector}; it knows scalars and vectors of one dimension", op)
    kind = kind_of(element_of(vector), op)
    return Form("i8" if kind == "bool" else kind, lanes_in_c(vector.get_shape()[0]))


def memory_kind(element: Attribute, op: Operation | None = None) -> str:
    """The kind of an element in memory."""
    return kind_of(stored_as(element, op), op)
