"""Which operators of a quantized network run on a VDLA: products of bytes, with what makes bytes of the sums again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, IntegerType, TensorType, f32, i8, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from tilework.algebra.index_expr import const
from tilework.analysis.layout_classes import CHANNELS
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.broadcast import AddOp, MaxOp, MinOp, MulOp, SubOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp, MatmulOp
from tilework.dialects.graph.layout import UnpackOp, WordsOp
from tilework.dialects.graph.movement import PadOp, SliceOp, TransposeOp
from tilework.dialects.graph.reduction import ReduceSumOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type
from tilework.targets.vdla.target import VdlaTarget
from tilework.transforms.graph.erasing import erase_unused
from tilework.transforms.graph.numbers import as_scalar, by_output, constant
from tilework.transforms.graph.packed_groups import pack_of
from tilework.transforms.graph.placements import Placement
from tilework.transforms.graph.writer import Writer
from tilework.transforms.vdla.bytes_product import SIGN, BytesProduct
from tilework.transforms.vdla.product_group import group_body
from tilework.transforms.vdla.requantization import Requantization

LARGEST_BIAS = 1 << 30
"""With a bias of this size, a sum is larger than any byte, whatever else is summed."""


@dataclass(frozen=True)
class PlaceProduct(Placement):
    """quantize(x * w + b) is one group on the device, where scales are powers of two; else x * w is, whose words come
    byte by byte.

    Images are in blocks of channels there, so that a block of a point is a row of a tile. The zero point of x becomes a
    part of the bias: (x - z) * w = x * w - z * sum(w). Products with fewer channels than a tile has stay on the host.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp | DenseOp | MatmulOp, rewriter: PatternRewriter) -> None:
        target = VdlaTarget.of(self.target)
        product = BytesProduct.of(op, self.known)
        if product is None or target.batch != 1 or product.channels < target.block_in:
            return
        ending = Requantization.of(product, self.known)
        last = op if ending is None else ending.last
        placed = _Placed(product, ending, target, Writer(rewriter, last))
        if not placed.has_zeros_of_loads:
            return
        types = placed.types
        body = group_body(types, placed.windows(), ending, target.block_out)
        made = self.group("conv" if product.is_image else "dense", Block(arg_types=types).args, body)
        if not self.runs(made, parameters={*range(1, len(types))}):
            return
        made.operands = placed.operands()
        copy_location(made, op)
        placed.insert(made)
        read, [result] = list(last.operands), made.outputs
        rewriter.replace(last, [], [placed.floats(result) if ending is None else placed.bytes(result)])
        for value in read:
            erase_unused(value, rewriter)


class _Placed:
    """Writes what makes the operands of a group, and what takes its results."""

    def __init__(self, product: BytesProduct, ending: Requantization | None, target: VdlaTarget, write: Writer):
        self._product, self._ending, self._target, self._write = product, ending, target, write
        self._more_channels = -product.channels % target.block_in
        self._more_outputs = -product.outputs % target.block_out

    @property
    def has_zeros_of_loads(self) -> bool:
        """Whether loads make the zeros around an image: some place in each row of it is read."""
        op = self._product.op
        if not isinstance(op, ConvOp) or self._pads_itself:
            return True
        windows, sizes = op.windows, (d.offset for d in op.dims(0)[2:])
        axes = zip(windows.before, windows.after, windows.strides, sizes, strict=True)
        return all(size >= stride for before, after, stride, size in axes if before or after)

    @property
    def types(self) -> Sequence[TensorType[Attribute]]:
        """The types of the operands."""
        op = self._product.op
        rows, _, *size = op.dims(0)
        channels, outputs = self._product.channels + self._more_channels, self._product.outputs + self._more_outputs
        data, window = [rows, const(channels)], [*op.dims(1)[2:]]
        if isinstance(op, ConvOp):
            if self._pads_itself:
                size = op.windows.padded(size)
            block = self._target.block_in
            data = [rows, const(channels // block), *size, const(block)]
        weight = [const(outputs), const(channels), *window]
        types = [tensor_type(data, i8), tensor_type(weight, i8)]
        if self._has_bias:
            types.append(tensor_type([const(outputs), *[const(1)] * len(window)], i32))
        return types

    def insert(self, op: Operation) -> SSAValue:
        """Insert an operation in front of what is replaced; its first result."""
        return self._write.insert(op)

    def operands(self) -> Sequence[SSAValue]:
        """The data, the weight, and the bias if there is one; sizes are multiples of a tile's."""
        weight = self._weight()
        return [self._data(), weight, *([self._bias(weight)] if self._has_bias else [])]

    def windows(self) -> Mapping[str, Attribute] | None:
        """How windows slide over the data; None for a dense layer."""
        op = self._product.op
        if not isinstance(op, ConvOp):
            return None
        return {**op.properties, "pads": ints([0] * len(op.pads))} if self._pads_itself else op.properties

    def bytes(self, made: SSAValue, axis: int = CHANNELS) -> SSAValue:
        """A result of the group without blocks, and without the outputs that fill the last one."""
        outputs = self._product.outputs
        if self._product.is_image:
            return self.insert(UnpackOp.of(made, axis=IntegerAttr(axis, i64), size=IntegerAttr(outputs, i64)))
        if not self._more_outputs:
            return made
        return self.insert(
            SliceOp.of(made, axes=ints([axis]), starts=ints([0]), stops=ints([outputs]), steps=ints([1]))
        )

    def floats(self, made: SSAValue) -> SSAValue:
        """The product: words, whose bytes the group has made, times the scales."""
        words = self.insert(WordsOp.of(self.bytes(made, CHANNELS + 1), axis=IntegerAttr(0, i64)))
        total = self._write.reshape(words, dims_of(words.type)[1:])
        image_rank = len(self._product.op.dims(1)) - 2
        data_scale = self.insert(as_scalar(self._product.data_scale))
        scale = MulOp.of(data_scale, self.insert(by_output(self._product.weight_scale, image_rank)))
        return self.insert(MulOp.of(self.insert(CastOp.of(total, to=f32)), self.insert(scale)))

    def _data(self) -> SSAValue:
        """Bytes with a sign, those around an image being the zero point; of an image in blocks."""
        data, zero = _with_sign(self._product.data, self._write), self._product.signed_zero
        op = self._product.op
        if not isinstance(op, ConvOp):
            return self._filled(data, [0, self._more_channels])
        if self._pads_itself:
            data = self.insert(_padded(data, [0, 0, *op.windows.before], [0, 0, *op.windows.after], zero))
        return self._in_blocks(data)

    def _in_blocks(self, data: SSAValue) -> SSAValue:
        """An image in blocks of channels: what another group has made, if it is in these blocks."""
        made, block = data.owner, self._target.block_in
        if isinstance(made, UnpackOp) and made.axis.value.data == CHANNELS:
            blocks, *_, of = made.dims(0)[CHANNELS:]
            if of == const(block) and blocks * block == dims_of(data.type)[CHANNELS]:
                return made.input
        return self.insert(pack_of(data, CHANNELS, block))

    @property
    def _pads_itself(self) -> bool:
        """Whether what is around an image is no zero, as the device's padding is."""
        op = self._product.op
        return isinstance(op, ConvOp) and any(op.pads.get_values()) and self._product.signed_zero != 0

    def _weight(self) -> SSAValue:
        """Bytes with a sign, a row or filter for each output."""
        weight = _with_sign(self._product.weight, self._write)
        if isinstance(self._product.op, MatmulOp):
            weight = self.insert(TransposeOp.of(weight, permutation=ints([1, 0])))
        more = [self._more_outputs, self._more_channels, *[0] * (len(dims_of(weight.type)) - 2)]
        return self._filled(weight, more)

    def _filled(self, value: SSAValue, more: Sequence[int]) -> SSAValue:
        """The tensor with so many zeros behind each axis."""
        return self.insert(_padded(value, [0] * len(more), more, 0)) if any(more) else value

    @property
    def _has_bias(self) -> bool:
        """Whether more than what rounds is added to sums."""
        return bool(self._product.signed_zero) or (self._ending is not None and self._ending.bias is not None)

    def _bias(self, weight: SSAValue) -> SSAValue:
        """What is added to the sums of each output: the bias, the zero point of the data times the weights, and half of
        what the sum is divided by."""
        bias, zero = None if self._ending is None else self._ending.bias, self._product.signed_zero
        if bias is not None:
            bias = self._filled(bias, [self._more_outputs])
        if zero:
            axes = ints(range(1, len(dims_of(weight.type))))
            wide = self.insert(CastOp.of(weight, to=i32))
            sums = self.insert(ReduceSumOp.of(wide, axes=axes, keep_dims=BoolAttr.from_bool(False)))
            of_zero = self.insert(MulOp.of(sums, self.insert(constant(-zero, i32))))
            bias = of_zero if bias is None else self.insert(AddOp.of(bias, of_zero))
        assert bias is not None
        for bound, kind in ((-LARGEST_BIAS, MaxOp), (LARGEST_BIAS, MinOp)):
            bias = self.insert(kind.of(bias, self.insert(constant(bound, i32))))
        if self._ending is not None and self._ending.half:
            bias = self.insert(AddOp.of(bias, self.insert(constant(self._ending.half, i32))))
        return self.insert(by_output(bias, len(dims_of(weight.type)) - 2))


def _with_sign(value: SSAValue, write: Writer) -> SSAValue:
    """Bytes with a sign: those without one are 128 less each."""
    if element_type(value.type) == i8:
        return value
    wide, less = write.insert(CastOp.of(value, to=i32)), write.insert(constant(SIGN, i32))
    return write.insert(CastOp.of(write.insert(SubOp.of(wide, less)), to=i8))


def _padded(value: SSAValue, before: Sequence[int], after: Sequence[int], number: int) -> PadOp:
    dtype: IntegerType = i32 if element_type(value.type) == i32 else i8
    return PadOp.of(value, pads=ints([*before, *after]), value=IntegerAttr(number, dtype))
