"""Elements by their bits: read as those of another type, and those of narrow types put into bytes and taken out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import Float8E8M0FNUType, StringAttr, TensorType, UnitAttr, f32, i1
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.dialects import arith
from tilework.dialects.graph.base import Array, Category, GraphOp, numpy_dtype
from tilework.dialects.graph.narrow import (
    BYTE,
    FORMATS,
    in_bytes,
    integers_of_bytes,
    is_narrow,
    is_narrow_integer,
    is_unsigned,
    narrowed,
    of_bytes,
)
from tilework.dialects.graph.narrow_scalars import decoded, decoded_integer, decoded_power, encoded, encoded_power, i32
from tilework.dialects.graph.windows import with_axes
from tilework.dialects.support.shapes import scalar_type, tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor


@irdl_op_definition
class BitcastOp(GraphOp):
    """The elements whose bits are those of the input's, which has as many, read as elements of type `to`.

    A truth value and a number of less than a byte are the lowest bits of a byte, an ui8, whose others are 0.

    %y = graph.bitcast %x {to = i32} : (tensor<8xf32>) -> tensor<8xi32>
    """

    name = "graph.bitcast"
    CATEGORY: ClassVar[Category] = Category.ELEMENTWISE
    input = operand_def(TensorType)
    to = prop_def(TypeAttribute)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        given, made = numpy_dtype(self.dtype()), numpy_dtype(self.to)
        if given.itemsize != made.itemsize:
            sizes = f"{self.dtype()} is {given.itemsize} bytes, {self.to} is {made.itemsize}"
            raise VerifyException(f"{self.name} takes and makes elements of as many bytes, but {sizes}")
        return [tensor_type(self.dims(0), self.to)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x], to = inputs, self.to

        def element(*index: Expr) -> Scalar:
            value, scalar = x[index], scalar_type(to)
            if i1 in (x.dtype, to):
                return k.cast(value, to)
            bits = value if value.dtype == scalar else k.insert(arith.BitcastOp(value.value, scalar))
            return Scalar(bits.value, k, is_unsigned(to))

        return k.compute("bitcast", x.dims, with_axes([f"i{axis}" for axis in range(len(x.dims))], element))

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        return of_bytes(x.view(np.uint8), self.to) if is_narrow(self.to) else x.view(numpy_dtype(self.to))


@irdl_op_definition
class DecodeOp(GraphOp):
    """The numbers of the narrow type `element` that bytes have the bits of: as f32, integers as i32.

    %y = graph.decode %x {element = f8E4M3FN} : (tensor<8xui8>) -> tensor<8xf32>
    """

    name = "graph.decode"
    CATEGORY: ClassVar[Category] = Category.ELEMENTWISE
    input = operand_def(TensorType)
    element = prop_def(TypeAttribute)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if self.dtype() != BYTE or not is_narrow(self.element):
            raise VerifyException(f"{self.name} takes ui8 for a narrow type, not {self.dtype()} for {self.element}")
        return [tensor_type(self.dims(0), _computed_in(self.element))]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x], of = inputs, self.element
        if is_narrow_integer(of):
            return k.compute("decode", x.dims, lambda *i: decoded_integer(k, x[i], of))
        if isinstance(of, Float8E8M0FNUType):
            return k.compute("decode", x.dims, lambda *i: decoded_power(k, x[i]))
        return k.compute("decode", x.dims, lambda *i: decoded(k, x[i], FORMATS[type(of)]))

    def evaluate(self, *inputs: Array) -> Array:
        of = self.element
        numbers = integers_of_bytes(inputs[0], of) if is_narrow_integer(of) else of_bytes(inputs[0], of)
        return numbers.astype(numpy_dtype(_computed_in(of)))


@irdl_op_definition
class EncodeOp(GraphOp):
    """Bytes with the bits of numbers in the narrow type `element`; of f32, where that is an integer type of i32.

    Floating-point numbers are rounded to the nearest, those of equal distance to the even one, and powers of 2,
    f8E8M0FNU, as `rounding` says ("up", "down" or "nearest"). What is too large is the largest number with `saturate`,
    else infinity, or NaN where there is none. NaN of a type without NaN is 0. Integers keep their lowest bits.

    %y = graph.encode %x {element = f8E4M3FN, saturate} : (tensor<8xf32>) -> tensor<8xui8>
    """

    name = "graph.encode"
    CATEGORY: ClassVar[Category] = Category.ELEMENTWISE
    input = operand_def(TensorType)
    element = prop_def(TypeAttribute)
    saturate = opt_prop_def(UnitAttr)
    rounding = opt_prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if not is_narrow(self.element) or self.dtype() != _computed_in(self.element):
            raise VerifyException(f"{self.name} takes f32 or i32 for {self.element}, not {self.dtype()}")
        return [tensor_type(self.dims(0), BYTE)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x], of, saturate = inputs, self.element, self.saturate is not None
        if is_narrow_integer(of):
            return k.compute("encode", x.dims, lambda *i: k.cast(x[i] & ((1 << of.width.data) - 1), BYTE))
        if isinstance(of, Float8E8M0FNUType):
            rounding = rounding_of(self.rounding)
            return k.compute("encode", x.dims, lambda *i: encoded_power(k, x[i], saturate, rounding))
        return k.compute("encode", x.dims, lambda *i: encoded(k, x[i], FORMATS[type(of)], saturate))

    def evaluate(self, *inputs: Array) -> Array:
        return in_bytes(narrowed(inputs[0], self.element, self.saturate is not None, rounding_of(self.rounding)))


def rounding_of(attribute: StringAttr | None) -> str:
    """How powers of 2 are rounded: to the nearest, where nothing is said."""
    return "nearest" if attribute is None else attribute.data


def _computed_in(type_: Attribute) -> Attribute:
    return i32 if is_narrow_integer(type_) else f32
