"""The bytes that integers of four bits lie in, and the words that bytes are."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, FixedBitwidthType, MemRefType, NoneAttr, StridedLayoutAttr, i8
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.loop.common import memref_of
from tilework.dialects.support.shapes import is_narrow
from tilework.dialects.support.words import BYTES, WORD


@irdl_op_definition
class BytesOp(IRDLOperation):
    """The bytes of a buffer of 4-bit integers: element 2 * k is the low half of byte k, element 2 * k + 1 the high one.

    `%b = loop.bytes %x : memref<9xi4> to memref<5xi8>`
    """

    name = "loop.bytes"
    source = operand_def(MemRefType)
    result = result_def(MemRefType)
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue):
        """`source` has one dimension."""
        super().__init__(operands=[source], result_types=[_bytes_type(source)])

    def verify_(self) -> None:
        type_ = memref_of(self.source)
        if type_.get_num_dims() != 1 or not is_narrow(type_) or not isinstance(type_.layout, NoneAttr):
            raise VerifyException(f"expected 4-bit integers one after another, got {type_}")
        if self.result.type != _bytes_type(self.source):
            raise VerifyException(f"the bytes of {type_} are {_bytes_type(self.source)}, not {self.result.type}")


def _bytes_type(source: SSAValue) -> MemRefType[Attribute]:
    type_ = memref_of(source)
    [extent] = type_.get_shape()
    return MemRefType(i8, [extent if extent == DYNAMIC_INDEX else -(-extent // 2)], memory_space=type_.memory_space)


@irdl_op_definition
class WordsOp(IRDLOperation):
    """The words of a buffer of bytes, whose last dimension holds four times as many, one after another.

    `%v = loop.words %x : memref<28x16xui8> to memref<28x4xi32>`
    """

    name = "loop.words"
    source = operand_def(MemRefType)
    result = result_def(MemRefType)
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue):
        super().__init__(operands=[source], result_types=[words_type(memref_of(source))])

    def verify_(self) -> None:
        expected = words_type(memref_of(self.source))
        if self.result.type != expected:
            raise VerifyException(f"the words of {self.source.type} are {expected}, not {self.result.type}")


def words_type(type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """The type of the words of a buffer. Raises VerifyException where bytes are no whole words one after another."""
    element, shape, layout = type_.element_type, type_.get_shape(), type_.layout
    if not isinstance(element, FixedBitwidthType) or element.bitwidth != i8.bitwidth:
        raise VerifyException(f"words are made of bytes, not of {type_}")
    if not shape or shape[-1] == DYNAMIC_INDEX or shape[-1] % BYTES:
        raise VerifyException(f"the last dimension of {type_} is no multiple of {BYTES} bytes")
    if isinstance(layout, StridedLayoutAttr):
        *strides, last = layout.get_strides()
        places = [layout.get_offset(), *strides]
        if last != 1 or any(n is None or n % BYTES for n in places):
            raise VerifyException(f"the rows of {type_} do not begin with whole words")
        layout = StridedLayoutAttr([*(n // BYTES for n in strides if n is not None), 1], (places[0] or 0) // BYTES)
    elif not isinstance(layout, NoneAttr):
        raise VerifyException(f"the rows of {type_} do not begin with whole words")
    return MemRefType(WORD, [*shape[:-1], shape[-1] // BYTES], layout, type_.memory_space)
