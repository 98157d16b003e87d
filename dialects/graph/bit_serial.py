"""Products of numbers of few bits, bit by bit: x = sum over i of x[i] << i, where x[i] is a plane of single bits.

A product of x and w is the sum over i and j of (x[i] & w[j]) << (i + j), and a word has the bits of 32 channels, so
that one AND and one count of bits are 32 products. Bits of a weight may stand for -1 and 1 instead of 0 and 1: then
twice the product is too large by x itself, which is summed up once for all outputs.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, TensorType, UnitAttr, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ceildiv, const
from tilework.algebra.predicate import less_than
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import Array, Category, GraphOp, SizesDiffer
from tilework.dialects.graph.windows import Windows, spatial_axes, with_axes
from tilework.dialects.support.bits import BITS, DOT, WORD
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.te import CallIntrinsicOp
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor

MOST_PLANES = 8
"""A tensor has no more of them: for numbers of more bits, bytes are multiplied faster."""


@irdl_op_definition
class BitsOp(GraphOp):
    """The lowest bits of integers as planes, along a new first axis, and 32 of each plane along `axis` as one word.

    Bit b of word [p, o] is bit p of element 32 * o + b. Zeros fill the last word.

    %b = graph.bits %x {axis = 1 : i64, planes = 2 : i64} : (tensor<1x64x28x28xui8>) -> tensor<2x1x2x28x28xi32>
    """

    name = "graph.bits"
    CATEGORY: ClassVar[Category] = Category.REDUCTION
    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    planes = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        dims, dtype = self.dims(0), self.dtype()
        axis, planes = self.axis.value.data, self.planes.value.data
        if not 0 <= axis < len(dims):
            raise VerifyException(f"a tensor of rank {len(dims)} has axes 0 to {len(dims) - 1}, not {axis}")
        if not isinstance(dtype, IntegerType) or dtype == i1:
            raise VerifyException(f"bits are those of integers, not of {dtype}")
        if not 1 <= planes <= MOST_PLANES:
            raise VerifyException(f"there are 1 to {MOST_PLANES} planes, not {planes}")
        return [tensor_type([const(planes), *dims[:axis], ceildiv(dims[axis], BITS), *dims[axis + 1 :]], WORD)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        """Each number is read once: it is put into a field of a word that has room for all of its planes, and what each
        plane has in the fields is moved together afterwards."""
        [x] = inputs
        axis, planes = self.axis.value.data, self.planes.value.data
        size = x.dims[axis]
        field = 1 << (planes - 1).bit_length()
        count = BITS // field
        dims = dims_of(self.infer()[0])

        def gathered(part: Expr, *i: Expr) -> Reduction:
            def term(number: Expr) -> Scalar:
                place = BITS * i[axis] + count * part + number

                def inside() -> Scalar:
                    lowest = k.cast(x[(*i[:axis], place, *i[axis + 1 :])], WORD) & 2**planes - 1
                    return lowest << k.index(field * number, WORD)

                if size % BITS == const(0):
                    return inside()
                return k.if_then_else([less_than(place, size)], inside, lambda: 0, WORD)

            return k.sum((count,), term)

        fields = k.compute("fields", (const(field), *dims[1:]), gathered)

        def element(plane: Expr, *i: Expr) -> Scalar:
            parts = [fields[(const(part), *i)] >> k.index(plane, WORD) for part in range(field)]
            return _sum([_together(word, field) << count * part for part, word in enumerate(parts)])

        return k.compute("bits", dims, element)

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        axis = self.axis.value.data
        planes = np.stack([x >> plane & 1 for plane in range(self.planes.value.data)])
        missing = -x.shape[axis] % BITS
        planes = np.pad(planes, [(0, missing if at == axis + 1 else 0) for at in range(planes.ndim)])
        bits = np.moveaxis(planes.reshape(*planes.shape[: axis + 1], -1, BITS, *planes.shape[axis + 2 :]), axis + 2, -1)
        return np.packbits(bits.astype(np.uint8), -1, "little").view("<i4")[..., 0].astype(np.int32)


class _BitSerialOp(GraphOp, ABC):
    """A product of planes, as `graph.bits` makes them along the axis that is summed up."""

    CATEGORY: ClassVar[Category] = Category.COMPLEX

    @property
    def is_bipolar(self) -> bool:
        """Whether the bits of the weight stand for -1 and 1."""
        return "bipolar" in self.properties

    def require_planes(self) -> None:
        """Raise VerifyException for operands that are not planes of words."""
        for i, what in enumerate(("input", "weight")):
            if self.dtype(i) != WORD:
                raise VerifyException(
                    f"words of bits are {WORD}, not {self.dtype(i)}: make them of the {what} by graph.bits"
                )
            planes = self.dims(i)[0].constant if self.dims(i) else None
            if planes is None or not 1 <= planes <= MOST_PLANES:
                raise VerifyException(
                    f"the {what} has 1 to {MOST_PLANES} planes along its first axis: {self.operand_type(i)}"
                )

    def products(self, k: KernelBuilder, x: Sequence[Scalar], w: Sequence[Scalar]) -> Scalar:
        """The sum of the products of 32 numbers, whose bits the words are."""
        counts = [
            k.insert(CallIntrinsicOp(DOT, [a.value, b.value], WORD)) << i + j
            for i, a in enumerate(x)
            for j, b in enumerate(w)
        ]
        return _sum(counts)

    def ones(self, k: KernelBuilder, x: Sequence[Scalar]) -> Scalar:
        """The sum of 32 numbers, whose bits the words are."""
        return _sum([k.call("ctpop", word) << i for i, word in enumerate(x)])

    def centred(self, product: Scalar, ones: Scalar, planes: int) -> Scalar:
        """The product with 2 w - (2 ** planes - 1), for that with w and the sum of what w is multiplied with."""
        return (product << 1) - ones * (2**planes - 1)

    def numbers(self, x: Array, w: Array, axis: int) -> tuple[Array, Array]:
        """What the planes stand for, with the bits of words along that axis of the numbers."""
        ones = _numbers(w, axis)
        return _numbers(x, axis), 2 * ones - (2 ** len(w) - 1) if self.is_bipolar else ones


@irdl_op_definition
class BitSerialConvOp(_BitSerialOp):
    """A convolution of one group, as `graph.conv` has it, whose operands are planes of bits along the channels.

    x is [planes, batch, words, spatial...], w is [planes, filters, words, window...]. `bipolar`: the bits of the weight
    stand for -1 and 1.

    %y = graph.bit_serial_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations =
        array<i64: 1, 1>, bipolar} : (tensor<2x1x2x28x28xi32>, tensor<1x64x2x3x3xi32>) -> tensor<1x64x28x28xi32>
    """

    name = "graph.bit_serial_conv"
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    strides = prop_def(DenseArrayBase.constr(i64))
    pads = prop_def(DenseArrayBase.constr(i64))
    dilations = prop_def(DenseArrayBase.constr(i64))
    bipolar = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @property
    def windows(self) -> Windows:
        """The sliding windows. Raises VerifyException where the attributes do not fit the weight."""
        kernel = [d.constant for d in self.dims(1)[3:]]
        if None in kernel:
            raise VerifyException(f"the window of a convolution is of constant size, the weight is {self.weight.type}")
        return Windows.of([n for n in kernel if n is not None], self.strides, self.dilations, self.pads)

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_planes()
        x, w = self.dims(0), self.dims(1)
        if len(x) != len(w) or len(x) < 3:
            raise VerifyException(f"input and weight are of one rank, at least 3, not {len(x)} and {len(w)}")
        if x[2] != w[2]:
            message = f"the input has {x[2]} words of channels, the weight {w[2]}"
            raise SizesDiffer(x[2], w[2], message, (0, 2, w[2]), (1, 2, x[2]))
        return [tensor_type((x[1], w[1], *self.windows.positions(x[3:])), WORD)]

    def requirements(self) -> Iterable[Requirement]:
        yield from self.windows_fit()

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, w = inputs
        windows, rank = self.windows, len(x.dims) - 1
        image, apart = windows.pick(k, windows.pad(k, x, 0.0), x.dims[3:])
        [type_] = self.infer()
        dims, reduced = dims_of(type_), [f"r{axis}" for axis in spatial_axes(rank)[1:]]

        def numbers(n: Expr, position: Sequence[Expr], c: Expr, tap: Sequence[Expr]) -> list[Scalar]:
            at = (n, c, *apart.at(position, tap))
            return [image[(const(plane), *at)] for plane in range(_planes(x))]

        def product(n: Expr, o: Expr, *position: Expr) -> Reduction:
            def term(c: Expr, *tap: Expr) -> Scalar:
                weights = [w[(const(plane), o, c, *tap)] for plane in range(_planes(w))]
                return self.products(k, numbers(n, position, c, tap), weights)

            return k.sum(w.dims[2:], with_axes(reduced, term))

        def once(n: Expr, *position: Expr) -> Reduction:
            def term(c: Expr, *tap: Expr) -> Scalar:
                return self.ones(k, numbers(n, position, c, tap))

            return k.sum(w.dims[2:], with_axes(reduced, term))

        axes = spatial_axes(rank, ("n", "o"))
        conv = k.compute("conv", dims, with_axes(axes, product))
        if not self.is_bipolar:
            return conv
        ones = k.compute("ones", (dims[0], *dims[2:]), with_axes([axes[0], *axes[2:]], once))

        def bipolar(n: Expr, o: Expr, *position: Expr) -> Scalar:
            return self.centred(conv[(n, o, *position)], ones[(n, *position)], _planes(w))

        return k.compute("bipolar", dims, with_axes(axes, bipolar))

    def evaluate(self, *inputs: Array) -> Array:
        x, w = self.numbers(*inputs, axis=1)
        rank = x.ndim - 2
        views = self.windows.views(x, 0)  # n, c, positions..., taps...
        axes = [1, *range(2 + rank, 2 + 2 * rank)]
        sums = np.tensordot(views, w, (axes, list(range(1, 2 + rank))))  # n, positions..., o
        return np.ascontiguousarray(np.moveaxis(sums, -1, 1)).astype(np.int32)


@irdl_op_definition
class BitSerialDenseOp(_BitSerialOp):
    """A product of rows and a matrix, as `graph.dense` has it, whose operands are planes of bits along the rows.

    x is [planes, ..., words], w is [planes, outputs, words]. `bipolar`: the bits of the weight stand for -1 and 1.

    %y = graph.bit_serial_dense %x, %w {bipolar} : (tensor<2x8x4xi32>, tensor<1x32x4xi32>) -> tensor<8x32xi32>
    """

    name = "graph.bit_serial_dense"
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    bipolar = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_planes()
        x, w = self.dims(0), self.dims(1)
        if len(x) < 2 or len(w) != 3:
            raise VerifyException(f"planes of rows and of a matrix are multiplied, not ranks {len(x)} and {len(w)}")
        if x[-1] != w[2]:
            message = f"the input's rows have {x[-1]} words, the weight's {w[2]}"
            raise SizesDiffer(x[-1], w[2], message, (0, len(x) - 1, w[2]), (1, 2, x[-1]))
        return [tensor_type((*x[1:-1], w[1]), WORD)]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, w = inputs
        rows = ["i"] if len(x.dims) == 3 else [f"i{axis}" for axis in range(len(x.dims) - 2)]
        [type_] = self.infer()
        dims = dims_of(type_)

        def numbers(i: Sequence[Expr], k_: Expr) -> list[Scalar]:
            return [x[(const(plane), *i, k_)] for plane in range(_planes(x))]

        def product(*index: Expr) -> Reduction:
            *i, j = index

            def term(k_: Expr) -> Scalar:
                return self.products(k, numbers(i, k_), [w[(const(plane), j, k_)] for plane in range(_planes(w))])

            return k.sum((w.dims[2],), term)

        def once(*i: Expr) -> Reduction:
            def term(k_: Expr) -> Scalar:
                return self.ones(k, numbers(i, k_))

            return k.sum((w.dims[2],), term)

        dense = k.compute("dense", dims, with_axes([*rows, "j"], product))
        if not self.is_bipolar:
            return dense
        ones = k.compute("ones", dims[:-1], with_axes(rows, once))

        def bipolar(*index: Expr) -> Scalar:
            return self.centred(dense[index], ones[index[:-1]], _planes(w))

        return k.compute("bipolar", dims, with_axes([*rows, "j"], bipolar))

    def evaluate(self, *inputs: Array) -> Array:
        x, w = self.numbers(*inputs, axis=-1)
        return np.matmul(x, w.T).astype(np.int32)


def _together(word: Scalar, field: int) -> Scalar:
    """The lowest bit of each field of a word, side by side at its lower end: runs of bits, each time twice as long."""
    word, width = word & _runs(1, field), 1
    while width * field < BITS:
        word = (word | word >> width * (field - 1)) & _runs(2 * width, 2 * width * field)
        width *= 2
    return word


def _runs(width: int, period: int) -> int:
    """A word in which so many bits are set at the beginning of each period."""
    bits = sum(((1 << width) - 1) << at for at in range(0, BITS, period))
    return bits - (1 << BITS) if bits >= 1 << BITS - 1 else bits


def _sum(terms: Sequence[Scalar]) -> Scalar:
    total, *others = terms
    for other in others:
        total = total + other
    return total


def _planes(x: Tensor) -> int:
    count = x.dims[0].constant
    assert count is not None, "planes are counted by the verifier"
    return count


def _numbers(planes: Array, axis: int) -> Array:
    """The numbers, of 64 bits, whose planes these are."""
    bits = np.unpackbits(np.ascontiguousarray(planes.astype("<i4"))[..., None].view(np.uint8), -1, bitorder="little")
    axis %= planes.ndim - 1
    bits = np.moveaxis(bits, -1, axis + 2)
    whole = bits.reshape(*planes.shape[: axis + 1], -1, *planes.shape[axis + 2 :])
    return sum((plane.astype(np.int64) << i for i, plane in enumerate(whole)), np.int64(0))  # pyright: ignore
