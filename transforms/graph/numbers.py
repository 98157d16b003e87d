"""Numbers as tensors that broadcast, and the scales of quantized tensors among them."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, Float32Type, IntegerType, TensorType
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import const
from tilework.dialects import arith
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of


def constant(number: int, dtype: IntegerType | Float32Type) -> arith.ConstantOp:
    """A number as a tensor without axes; in no graph yet, as all that is made here."""
    if isinstance(dtype, Float32Type):
        return arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(dtype, []), [float(number)]))
    return arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(dtype, []), [number]))


def as_scalar(value: SSAValue) -> GraphOp:
    """The one element of a tensor as a tensor without axes."""
    return ReshapeOp.of(value, shape=DimsAttr(()))


def by_output(value: SSAValue, image_rank: int) -> GraphOp:
    """One number for each output, or for all, to be broadcast to results with so many axes behind the outputs'."""
    count = const(prod(d.offset for d in dims_of(value.type)))
    return ReshapeOp.of(value, shape=DimsAttr((count, *[const(1)] * image_rank)))
