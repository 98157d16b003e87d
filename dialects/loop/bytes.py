"""The bytes that integers of four bits lie in."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr, i8
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.dialects.loop.common import memref_of
from tilework.dialects.shapes import is_narrow


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
