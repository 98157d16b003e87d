"""Operators that change the order of elements in memory and nothing else: pack, unpack, words, bytes.

`graph.unpack(graph.pack(x)) = x`. A pack of a parameter is done once, in @prepare; an unpack costs nothing inside the
kernel that reads its result, where it is arithmetic on indices that a loop over the blocks makes disappear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, TensorType, i8
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import less_than
from tilework.dialects.graph.accumulation import UNSIGNED_BYTE
from tilework.dialects.graph.base import Array, Category, GraphOp
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.support.words import BYTES, WORD
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor


@irdl_op_definition
class PackOp(GraphOp):
    """Cut `axis` into blocks, and put the place inside a block last: as linalg.pack with one inner tile.

    Element [o, i] of the input becomes [o floordiv 16, i, o mod 16]. Zeros fill the last block.

    %p = graph.pack %w {axis = 0 : i64, block = 16 : i64} : (tensor<40x64xf32>) -> tensor<3x64x16xf32>
    """

    name = "graph.pack"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    block = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        dims, block = self.dims(0), self.block.value.data
        axis = _checked(self.axis.value.data, len(dims))
        size = dims[axis].constant
        if block < 1 or size is None:
            raise VerifyException(f"no blocks of {block} along axis {axis} of size {dims[axis]}")
        return [tensor_type([*dims[:axis], const(-(-size // block)), *dims[axis + 1 :], const(block)], self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        axis, block = self.axis.value.data, self.block.value.data
        [type_] = self.infer()
        size = x.dims[axis]

        def element(*i: Expr):
            place = i[axis] * block + i[-1]

            def inside():
                return x[(*i[:axis], place, *i[axis + 1 : -1])]

            if size.offset % block == 0:
                return inside()
            return k.if_then_else([less_than(place, size)], inside, lambda: 0, x.dtype)

        return k.compute("pack", dims_of(type_), element)

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        axis, block = self.axis.value.data, self.block.value.data
        x = np.pad(x, [(0, -size % block if i == axis else 0) for i, size in enumerate(x.shape)])
        blocks = x.reshape(*x.shape[:axis], x.shape[axis] // block, block, *x.shape[axis + 1 :])
        return np.ascontiguousarray(np.moveaxis(blocks, axis + 1, -1))


@irdl_op_definition
class UnpackOp(GraphOp):
    """Undo `graph.pack`: the last axis goes back into `axis`, which is of `size` elements then.

    %w = graph.unpack %p {axis = 0 : i64, size = 40 : i64} : (tensor<3x64x16xf32>) -> tensor<40x64xf32>
    """

    name = "graph.unpack"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    size = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        dims = self.dims(0)
        if not dims or dims[-1].constant is None:
            raise VerifyException(f"the last axis is one of blocks, of constant size; this is {self.operands[0].type}")
        axis, size = _checked(self.axis.value.data, len(dims) - 1), self.size.value.data
        if dims[axis] != const(-(-size // dims[-1].offset)):
            raise VerifyException(f"{dims[axis]} blocks of {dims[-1]} are not those of an axis of size {size}")
        return [tensor_type([*dims[:axis], const(size), *dims[axis + 1 : -1]], self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [p] = inputs
        axis, block = self.axis.value.data, p.dims[-1]
        [type_] = self.infer()
        return k.compute(
            "unpack", dims_of(type_), lambda *i: p[(*i[:axis], i[axis] // block, *i[axis + 1 :], i[axis] % block)]
        )

    def evaluate(self, *inputs: Array) -> Array:
        [p] = inputs
        axis = self.axis.value.data
        blocks = np.moveaxis(p, -1, axis + 1)
        whole = blocks.reshape(*p.shape[:axis], p.shape[axis] * p.shape[-1], *p.shape[axis + 1 : -1])
        return np.ascontiguousarray(whole.take(range(self.size.value.data), axis))


@irdl_op_definition
class WordsOp(GraphOp):
    """Four bytes along `axis` become one word, the first its lowest byte: what `dot4.ui8i8` multiplies.

    Along the last axis that is the same memory.

    %v = graph.words %x {axis = 1 : i64} : (tensor<1x64x28x28xui8>) -> tensor<1x16x28x28xi32>
    """

    name = "graph.words"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        dims = self.dims(0)
        axis = _checked(self.axis.value.data, len(dims))
        if self.dtype() not in (UNSIGNED_BYTE, i8):
            raise VerifyException(f"words are made of bytes, not of {self.dtype()}")
        if dims[axis] % BYTES != const(0):
            raise VerifyException(f"an axis of size {dims[axis]} is no multiple of {BYTES} bytes")
        return [tensor_type([*dims[:axis], dims[axis] // BYTES, *dims[axis + 1 :]], WORD)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        axis = self.axis.value.data

        def element(*i: Expr):
            byte = [x[(*i[:axis], BYTES * i[axis] + n, *i[axis + 1 :])] for n in range(BYTES)]
            first, *others = [k.cast(b, WORD) & 255 for b in byte]
            for n, other in enumerate(others, start=1):
                first = first | other << 8 * n
            return first

        return k.compute("words", dims_of(self.infer()[0]), element)

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        axis = self.axis.value.data
        words = x.reshape(*x.shape[:axis], -1, BYTES, *x.shape[axis + 1 :])
        return np.ascontiguousarray(np.moveaxis(words, axis + 1, -1)).view("<i4")[..., 0].astype(np.int32)


@irdl_op_definition
class BytesOp(GraphOp):
    """The bytes of words, the lowest first, along a new axis in front of the others: of [n, c] words, [4, n, c] bytes.

    `graph.words` along the first axis makes the words of them again, in a tensor with an axis of size 1 in front.

    %b = graph.bytes %x : (tensor<1x64x28x28xi32>) -> tensor<4x1x64x28x28xui8>
    """

    name = "graph.bytes"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if self.dtype() != WORD:
            raise VerifyException(f"words are {WORD}, not {self.dtype()}")
        return [tensor_type([const(BYTES), *self.dims(0)], UNSIGNED_BYTE)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        dims = dims_of(self.infer()[0])

        def shift(number: Expr, *i: Expr) -> Scalar:
            return x[i] >> k.index(UNSIGNED_BYTE.bitwidth * number, WORD)

        shifted = k.compute("shifted", dims, shift)
        return k.compute("bytes", dims, lambda *i: k.cast(shifted[i], UNSIGNED_BYTE))

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        return np.ascontiguousarray(np.moveaxis(x.astype("<i4")[..., None].view(np.uint8), -1, 0))


def _checked(axis: int, rank: int) -> int:
    if not 0 <= axis < rank:
        raise VerifyException(f"the unpacked tensor has axes 0 to {rank - 1}, not {axis}")
    return axis
