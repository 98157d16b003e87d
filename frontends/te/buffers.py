"""te.decl_buffer: where tensors live that statements, functions and instructions read and write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import MemRefType, NoneAttr, StridedLayoutAttr, StringAttr
from xdsl.ir import Attribute

from tilework.algebra.errors import UsageError
from tilework.algebra.given_values import integer_of
from tilework.algebra.index_expr import Expr, const, product
from tilework.frontends.te.arguments import check_integer, check_text, kind, listed
from tilework.frontends.te.calls import Pointer
from tilework.frontends.te.dtypes import check_dtype, element_type_of
from tilework.frontends.te.index import Index, IntImm, Var, index_of, shape_of
from tilework.frontends.te.scalar import Constant, Scalar, as_scalar, cast_to
from tilework.frontends.te.tensor import Element, PlaceholderOp, Tensor


class Buffer(Tensor):
    """Memory: where a tensor lives that te.extern or an instruction reads or makes, or what statements allocate.

    wanted: the distance of elements along each dimension that an instruction asks for, None for any; None for the usual
    ones. scope: the memory that it asks for, "" for any. multiple: of what number the element is a multiple at which it
    is to begin.
    """

    def __init__(
        self,
        name: str,
        dims: tuple[Expr, ...],
        dtype: str,
        wanted: tuple[int | None, ...] | None = None,
        scope: str = "",
        multiple: int = 1,
    ):
        super().__init__(PlaceholderOp(name, "", None), dims, dtype)
        self.wanted = wanted
        self.scope = scope
        self.multiple = multiple

    @property
    def data(self) -> Any:
        """The buffer itself: as an argument of a call it stands for its memory."""
        return self

    @property
    def strides(self) -> Sequence[IntImm | Index | str]:
        """How many elements apart those are that follow each other along each dimension: rows lie one after another."""
        found = [const(1)]
        for dim in reversed(self.dims[1:]):
            found.append(product([found[-1], dim]))
        return [index_of(e) for e in reversed(found[: self.ndim])]

    def access_ptr(self, access_mask: str) -> Buffer | str:
        """What stands for the memory as an argument of a call, whether for reading ("r") or writing ("w")."""
        check_text(access_mask, "what access_ptr is for")
        return self

    def vload(self, begin: object, dtype: object = None) -> Scalar:
        """The element at an index for each dimension, converted to a type if one is given."""
        value = self(*_indices(begin))
        return value if dtype is None else value.astype(dtype)

    def vstore(self, begin: object, value: object) -> Store:
        """The statement that a value becomes the element at an index for each dimension: te.extern takes it."""
        return store_of(self, _indices(begin), value)


@dataclass(frozen=True, eq=False)
class Store:
    """A value becomes an element of a buffer."""

    element: Element
    value: Scalar


def store_of(buffer: Buffer, indices: tuple[object, ...], value: object) -> Store:
    """The statement that a value becomes an element. Raises UsageError for a value of another type."""
    element = buffer(*indices)
    assert isinstance(element, Element)
    scalar = as_scalar(value)
    if isinstance(scalar, Constant) and scalar.literal:
        scalar = cast_to(scalar, buffer.dtype)
    if scalar.dtype != buffer.dtype:
        raise UsageError(
            f"buffer '{buffer.name}' has elements of {buffer.dtype}, not {scalar.dtype}: convert with astype"
        )
    return Store(element, scalar)


class InstructionBuffer(Buffer):
    """The buffer of one of an instruction's tensors, in the snippets that say how it is written."""

    @property
    def strides(self) -> list[str]:
        """The distances of elements along the dimensions, as snippets write them."""
        return [f"${self.name}_stride{axis}" for axis in range(self.ndim)]

    def access_ptr(self, access_mask: str) -> str:
        """The pointer to the first element, as snippets write it, whether for reading ("r") or writing ("w")."""
        check_text(access_mask, "what access_ptr is for")
        return Pointer(f"${self.name}", self.dtype)

    @property
    def data(self) -> Any:
        """Give what `access_ptr` gives."""
        return self.access_ptr("rw")

    @property
    def type(self) -> MemRefType[Attribute]:
        """What is wanted, as a memref type says it."""
        usual = (*(None for _ in self.dims[1:]), *(1 for _ in self.dims[:1]))
        layout = StridedLayoutAttr(list(usual if self.wanted is None else self.wanted))
        space = StringAttr(self.scope) if self.scope else NoneAttr()
        shape = [dim.offset for dim in self.dims]
        return MemRefType(element_type_of(self.dtype), shape, layout if shape else NoneAttr(), space)


def decl_buffer(
    shape: object,
    dtype: str = "float32",
    name: str = "buffer",
    data: None = None,
    strides: Sequence[int | Var] | None = None,
    elem_offset: None = None,
    scope: str = "",
    data_alignment: int = -1,
    offset_factor: int = 0,
) -> Buffer:
    """What an intrinsic wants of a buffer: its strides, a `te.var` for any distance, and its scope.

    Without strides, elements of a row follow each other, and rows are any distance apart. offset_factor: of what number
    the element is a multiple at which a part begins; another part is refused by `lower`. Nobody knows at which address
    memory begins, so that data_alignment above 1 is refused. A buffer may also stand for a tensor of te.extern
    (`in_buffers`, `out_buffers`), where rows follow each other.
    """
    check_text(name, "the name of a buffer")
    dims = shape_of(shape)
    if data is not None or elem_offset is not None:
        raise UsageError("data and elem_offset of decl_buffer are chosen where the intrinsic is used: leave them out")
    if check_integer(data_alignment, "data_alignment of decl_buffer") > 1:
        raise UsageError(
            f"data_alignment of decl_buffer is {data_alignment}: arrays may begin at any element's address"
        )
    multiple = max(check_integer(offset_factor, "offset_factor of decl_buffer"), 1)
    given = None if strides is None else listed(strides)
    if strides is not None and (given is None or len(given) != len(dims)):
        raise UsageError(f"strides of buffer '{name}' are a list of {len(dims)} numbers or te.vars")
    wanted = None if given is None else tuple(None if isinstance(s, Var) else integer_of(s) for s in given)
    return Buffer(name, dims, check_dtype(dtype), wanted, scope, multiple)


def check_buffer(value: object, tensor: Tensor) -> Buffer:
    """A buffer that a tensor is bound to. Raises UsageError for what is none, and for one of another shape or type."""
    if not isinstance(value, Buffer):
        raise UsageError(f"tensors are bound to buffers, which te.decl_buffer makes, not to {kind(value)}")
    if (value.dims, value.dtype) != (tensor.dims, tensor.dtype):
        shapes = [f"[{', '.join(map(str, t.dims))}]" for t in (value, tensor)]
        what = f"buffer '{value.name}' is of shape {shapes[0]} and {value.dtype}"
        raise UsageError(f"{what}, and tensor '{tensor.name}' of shape {shapes[1]} and {tensor.dtype}")
    return value


def _indices(begin: object) -> tuple[object, ...]:
    given = listed(begin)
    return (begin,) if given is None else tuple(given)
